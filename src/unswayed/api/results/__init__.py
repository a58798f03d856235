"""What the verbs return: frozen, with names instead of positions; each shows itself through `api/shown.py`.

Read `choices.py` first. Imports the layers below `api`, and of `api` no verb that returns what is here.
"""
