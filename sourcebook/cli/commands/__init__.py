"""The commands, one per module; each adds itself to the app with `register`."""
