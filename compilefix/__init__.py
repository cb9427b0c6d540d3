"""Finds what makes `torch.compile` break a graph or recompile, rewrites the source, and proves the rewrite."""

from __future__ import annotations

__version__ = "0.1.0"
