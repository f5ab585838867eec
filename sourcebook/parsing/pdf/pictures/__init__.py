"""Pictures as documents."""
