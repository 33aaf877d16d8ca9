"""Noise laws, one file each: what the noise looks like and which event it amounts to."""
