"""CF2xx: reading a tensor's value on the host."""
