"""How much the tests would notice: planted bugs, and random mutants of the trusted rooms."""
