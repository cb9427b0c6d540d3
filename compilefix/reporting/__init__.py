"""Shows results: as text for people and as documents for machines."""
