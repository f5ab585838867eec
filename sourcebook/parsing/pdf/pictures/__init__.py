"""Pictures as documents, read by OCR."""
