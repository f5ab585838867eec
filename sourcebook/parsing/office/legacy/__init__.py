"""Old office formats: .xls by xlrd, .doc and .ppt by anydoc."""
