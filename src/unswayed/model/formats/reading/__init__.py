"""What readers and writers of all formats share: text with its place, tokens, rows, the draft of a network.

Read `draft.py` first: a reader fills it, and it makes the network after checking what the file says. Imports
the model's variables, tables and networks, and nothing of a single format.
"""
