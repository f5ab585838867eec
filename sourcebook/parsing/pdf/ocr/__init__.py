"""Text recognition (OCR) in scans and pictures: pixels in, lines of text out, by RapidOCR."""
