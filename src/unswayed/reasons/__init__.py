"""Why this decision: sufficient reasons, flips, what each finding adds, and how wrong the network may be.

Read `case.py` first: it defines the same-decision probability of a subset of the findings. `tables.py` knows
it for all subsets at once, `search.py` finds the cheapest reasons without one, `closest.py` what comes
closest where there is none, `flips.py` what would turn the decision, `contributions.py` what drove it,
`sensitivity.py` how far each parameter may move. May import engines and below.
"""
