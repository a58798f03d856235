"""The one room that knows libsdd: it runs in a worker process, and no caller ever holds one of its nodes.

Read `program.py` first (Boolean operations as one checked array), then `builder.py`, which writes programs.
`client.py` starts workers and ends those that are late; `worker.py` is the process itself. Imports: vtrees,
`sdd`, `io`, and the core.
"""
