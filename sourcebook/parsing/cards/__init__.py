"""Calendars and contacts: files of lines with a name, parameters and a value."""
