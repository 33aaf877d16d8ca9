"""What may be released: one file a kind, with its set, its projection and its sensitivity."""
