"""What is measured on: generated files and sites, judged sets, and large collections made of them."""
