"""CF5xx: shapes that depend on values."""
