"""CF6xx: code that is compiled again and again."""
