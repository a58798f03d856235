"""The command line: words become objects, answers become text or JSON, errors become exit codes.

`main.py` lists the commands, one file holds each group of them. A command is a plain function whose
annotations are its options; what several commands share is in `options.py` and `evidence.py`, what all
commands about decisions share in `case.py`.
`outcome.py` turns every error into a message and an exit code, `output.py` prints. Heavy modules are
imported inside the commands, so that `unswayed --help` answers at once.
"""
