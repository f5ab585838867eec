"""Old office formats, which LibreOffice converts."""
