"""The corpora: generated files and sites, judged sets, and large collections made of them."""
