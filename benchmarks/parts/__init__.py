"""What `python -m benchmarks NAME` runs: one module a part, each with `run(bench)`, which returns its rows."""
