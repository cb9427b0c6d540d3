"""Which lines of a few files are reported as breaks, and which end in `# BREAK`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

from compilefix.codemods import registry
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

HEAD = "import torch\nfrom torch import Tensor, nn\n"

Lines = set[tuple[str, int]]


def reported(bodies: Mapping[str, str]) -> tuple[Lines, Lines]:
    """The lines with a reported break, and those that are to have one, as `(path, line)`."""
    files = []
    expected = set()
    for path, body in bodies.items():
        text = HEAD + dedent(body)
        module = path.removeprefix("site-packages/").removesuffix(".py").replace("/", ".")
        files.append(SourceFile(Path("/") / path, module, text))
        lines = enumerate(text.splitlines(), 1)
        expected |= {(path, number) for number, line in lines if line.endswith("# BREAK")}
    outcome = run(files, Config(Path("/")), rules=list(registry.load().values()), rewrite=False)
    return {(f.path.lstrip("/"), f.span.line) for f in outcome.findings if f.effect == "break"}, expected
