"""The panels of a case, a file for each; `catalogue.py` lists them.

A panel is a function from the cache and the setting to the values that its template `panels/NAME.html` shows.
"""
