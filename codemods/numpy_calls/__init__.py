"""CF4xx: NumPy and random numbers of the host."""
