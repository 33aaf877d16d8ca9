"""Models: one file each, pure numpy: start, E step, total M step, density, sampling."""
