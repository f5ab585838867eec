"""What notices change by itself: one sensor a file."""
