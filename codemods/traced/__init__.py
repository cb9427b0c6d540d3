"""CF0xx: what only a real run shows."""
