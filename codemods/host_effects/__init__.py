"""Effects on the host that end the graph: prints, log lines, warnings."""
