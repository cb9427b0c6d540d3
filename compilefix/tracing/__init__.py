"""Reads what torch.compile wrote to TORCH_TRACE in a real run: graph breaks, recompiles, and what they cost."""
