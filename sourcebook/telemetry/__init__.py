"""Counters, spans and log context of this process; nothing here reaches the database or the network."""
