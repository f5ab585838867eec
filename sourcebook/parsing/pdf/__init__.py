"""PDF files and pictures: words, layout and OCR."""
