"""The commands of the library, and what these and the commands of the pipeline print and read with."""
