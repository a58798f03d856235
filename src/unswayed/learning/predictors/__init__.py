"""Fitted models of other libraries read into nodes: what they compute, without the library.

`fitted.py` says what a reader finds; `sklearn_models.py`, `sklearn_steps.py` (pipelines), `xgboost.py` and
`lightgbm.py` are the readers; `read.py` picks one, and takes what none can read as a function.
"""
