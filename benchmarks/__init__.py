"""The figures of docs/figures.md, measured: `make bench`, or `python -m benchmarks NAME…`."""
