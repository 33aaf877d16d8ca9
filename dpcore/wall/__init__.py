"""The trusted room: raw rows, the bounded sum, the noise, and the doors for results."""
