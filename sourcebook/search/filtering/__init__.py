"""What the filters of a search are made of: checked values, periods of time, conditions on metadata."""
