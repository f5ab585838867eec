"""Parts of the filters of a search: checked values, periods of time, conditions on documents and metadata."""
