"""The pipeline in a code location of others, under names of its own."""
