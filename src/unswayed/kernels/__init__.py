"""Loops over flat arrays, apart from the types of the project."""
