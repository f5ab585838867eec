-- Runs once, when the data folder is new. Sourcebook's own database is the one that POSTGRES_DB names.
CREATE DATABASE dagster;
