"""The commands, one a module; each adds itself to the app with `register`."""
