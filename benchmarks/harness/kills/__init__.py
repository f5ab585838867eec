"""Kills at random moments: a home with two collections, its processes as victims, and an oracle for its index."""
