"""Plans: how one budget is best split among releases to come, before any ledger is started."""
