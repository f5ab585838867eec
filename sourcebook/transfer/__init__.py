"""Export and import of collections, and backups of the whole database."""
