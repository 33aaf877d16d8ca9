"""Sums, nearest centres, minimisers, blocks and threads: speed, and no meaning."""
