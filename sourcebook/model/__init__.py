"""Plain types that several packages share; they import nothing but each other, the settings and the errors."""
