"""CF7xx: what Dynamo does not trace at all, where there is an equivalent that it traces."""
