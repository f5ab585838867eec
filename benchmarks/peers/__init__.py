"""The peers of Sourcebook: other rankings, other designs, and the libraries alone."""
