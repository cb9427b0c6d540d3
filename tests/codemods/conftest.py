"""What the tests of rules have in common."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def _flags_as_they_were() -> Iterator[None]:
    """Fixtures may switch on Dynamo's flags, which count for the whole process."""
    if importlib.util.find_spec("torch") is None:
        yield
        return
    from torch._dynamo import config

    with config.patch(
        capture_scalar_outputs=config.capture_scalar_outputs,
        capture_dynamic_output_shape_ops=config.capture_dynamic_output_shape_ops,
        allow_unspec_int_on_nn_module=config.allow_unspec_int_on_nn_module,
    ):
        yield


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Gives for a program's text the module, the rewritten module, and `boundary` of the helper module."""
    pytest.importorskip("torch")
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    monkeypatch.syspath_prepend(str(tmp_path))
    import boundary_programs

    yield from boundary_programs.projects(tmp_path)
