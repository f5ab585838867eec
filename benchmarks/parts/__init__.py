"""The parts of `python -m benchmarks NAME`: one module each, whose `run(bench)` returns its rows."""
