"""Structured features: rankings, paths and games as values of attributes, and the classifiers over them."""
