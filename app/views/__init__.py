"""One thin file per page: scenario, compute, picture, words."""
