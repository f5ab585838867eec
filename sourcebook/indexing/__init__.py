"""Generations of a collection, and the indexes of their partitions."""
