"""Learning contexts and columns from rows of data [shen2020, section 4].

`cpts.py` has the verbs: a FoCS or tree CPT of a variable from its family's rows. Behind it, `inputs.py` finds
the inputs that matter, `steps.py` learns a step network on them, and `thresholds.py` cuts scores into
contexts. `estimator.py` is the same for scikit-learn, with any classifier as the scorer. Read `thresholds.py`
first. Imports the rest of `focs` but `diagrams/` and `mpe/`, and what lies below.
"""
