"""Stages of the pipeline: one module or small package for each asset, with its name."""
