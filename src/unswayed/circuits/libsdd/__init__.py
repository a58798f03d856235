"""The one room that knows libsdd: it runs in a worker process, and no caller ever holds one of its nodes.

Read `program.py` first (Boolean operations as one checked array, and how to run them here), then
`builder.py`, which writes programs. `client.py` starts a worker for a long one and ends it when it is late;
`worker.py` is that process. Imports: vtrees, `sdd`, `io`, and the core.
"""
