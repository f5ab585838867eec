"""Child processes: their imports, their memory and their crashes stay apart from the process that starts them."""
