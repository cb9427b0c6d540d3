"""CF7xx: what Dynamo does not trace at all, and has an equivalent that it does."""
