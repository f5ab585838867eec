"""Random faults in the tables of an index, and the comparison with what they were before."""
