"""Learning contexts and columns from rows of data [shen2020, section 4].

`cpts.py` has the verbs: a FoCS or tree CPT of a variable from its family's rows, and whole networks of them.
`contexts.py` is the learner; read it first. Its parts are named by what they learn: `inputs.py` which inputs
matter, `step_networks.py` and `tables.py` contexts over them, `scorers.py` scores of any inputs,
`thresholds.py` where to cut scores. `estimator.py` is the same for scikit-learn, with any classifier as the
scorer. Imports what lies below `focs`.
"""
