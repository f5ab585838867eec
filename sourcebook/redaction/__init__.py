"""Redaction: finds of personal data and secrets in a text, and placeholders in their place."""
