"""Releases: what leaves for good, what it spent, and the record from which anybody can check it."""
