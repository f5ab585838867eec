"""Old office formats: LibreOffice converts all but .xls."""
