"""Compiled loops over circuits: SDDs, PSDDs and the trellises of functions; each has a plain twin.

Read `circuit_passes.py` first. Imports numpy and `kernels/jit.py` alone.
"""
