"""Documents of LibreOffice and other programs that write OpenDocument."""
