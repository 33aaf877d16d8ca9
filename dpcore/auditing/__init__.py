"""Audits: attacks that measure how much a fit really gives away. They can refute, never prove."""
