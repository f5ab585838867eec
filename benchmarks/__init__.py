"""What the README claims, runnable: `make bench`, or `python -m benchmarks NAME…`."""
