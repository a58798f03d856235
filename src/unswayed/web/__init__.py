"""The companion: a local page that asks the next question and says how safe the decision is.

Read `case.py` first (a case is an address, every click another one), then `app.py` (which address leads
where) and `panels/` (a file for each panel). The room shows: answers come from `unswayed.api`, pictures and
sentences from `unswayed.view`.
"""
