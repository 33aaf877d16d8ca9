"""How good a fit is: metrics, references to hold it against, sweeps over budgets and draws."""
