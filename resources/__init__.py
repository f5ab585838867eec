"""Dagster resources, one per file: the assets reach the database, the models and the log through them."""
