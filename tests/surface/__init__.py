"""What users meet, written down: commands, routes, tools, signatures, refusals, tables and answers.

`python -m tests.surface FOLDER` writes all of it, so that two checkouts can be compared with `diff -r`.
`python -m tests.surface --snapshots` rewrites the short forms in `tests/surface/snapshots/`, which a test compares with
the code: a change of what users meet is a change of these files, and is reviewed as one.
"""
