"""Structured naive Bayes [choi2016]: classes told apart by objects, labels and numbers; odd objects found.

Read `model.py` first: the classifier as counts and distributions. `attributes.py` has the distributions,
`columns.py` reads rows, `estimator.py` and `anomaly.py` are the scikit-learn estimators, `files.py` saves
models, `inputs.py` reads files of observations. Imports: spaces and below.
"""
