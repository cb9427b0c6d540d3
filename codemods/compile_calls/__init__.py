"""CF8xx: how torch.compile is called, and what is done with its result."""
