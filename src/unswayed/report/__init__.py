"""Answers as people read them: short texts for the terminal; no mathematics.

Every function returns lines of `rich.text.Text`, whose `plain` is what a file or a pipe receives. Read
`probabilities.py` (numbers and bars), then `posteriors.py`, `networks.py` and `decisions.py`.
"""
