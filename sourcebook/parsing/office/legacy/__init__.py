"""Old office formats: .xls by xlrd, .doc and .ppt by LibreOffice, or by anydoc where that is not installed."""
