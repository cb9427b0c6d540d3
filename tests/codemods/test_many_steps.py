"""What is made of masked elements in many steps is judged in little time."""

from __future__ import annotations

from pathlib import Path

from compilefix.codemods import registry
from compilefix.fixing import engine
from compilefix.source.config import Config
from compilefix.source.files import SourceFile, read


def test_what_is_made_in_many_steps_takes_no_longer(tmp_path: Path) -> None:
    """Each step uses the one before twice: written out, the last would have a billion parts."""
    steps = "    v = v * v\n" * 30
    path = tmp_path / "program.py"
    path.write_text(f"import torch\n\n\ndef f(x: torch.Tensor):\n    m = x > 0\n    v = x[m]\n{steps}    x[m] = v\n")
    source = read(path)
    assert isinstance(source, SourceFile)
    rules = list(registry.load().values())
    findings = engine.run([source], Config(root=tmp_path), rules=rules, allowed=frozenset()).findings
    assert any("too many steps" in (f.declined or "") for f in findings)
