"""Loops over flat arrays, compiled on first use; they know none of the project's types.

Read `jit.py` first: a `Kernel` is a plain loop with the functions it calls, compiled when it is first
called. Every other file holds the loops of one question, as plain Python that can be read, tested and run
without a compiler. Imports: numpy alone.
"""
