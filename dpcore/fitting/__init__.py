"""Drivers: what is measured, how often, with which share of the budget."""
