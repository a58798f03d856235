"""The commands, a file for each group of them; `cli/main.py` says which command is where.

Read `decisions.py` first. A command is a plain function whose annotations are its options. Heavy modules are
imported inside the functions.
"""
