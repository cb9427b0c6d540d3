"""Counts the CF1xx and CF2xx sites of installed packages: as they are, after the safe fixes, and after all fixes.

    python benchmarks/branch_sites.py --package kornia torchmetrics transformers.models --markdown docs/branch_sites.md

A site is a finding of these rules. "After" is what a new check finds in the rewritten sources, so that what a fix
brings to light counts as well. Nothing is run and nothing on disk changes but the Markdown file.
"""

from __future__ import annotations

import argparse
import importlib.util
import re
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from pathlib import Path

from compilefix.codemods import registry
from compilefix.codemods.finding import Finding
from compilefix.fixing import engine
from compilefix.source.config import Config
from compilefix.source.files import SourceFile, read

FAMILIES = ("CF1", "CF2")
REASONS = 12


@dataclass(frozen=True)
class Counted:
    """The sites of a package: before, after the safe fixes, after all fixes, and those that are left."""

    package: str
    files: int
    before: tuple[Finding, ...]
    safe: int
    left: tuple[Finding, ...]


def main() -> None:
    """Count the sites of each package and print or write the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--package", nargs="+", default=["kornia", "torchmetrics", "transformers.models"])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    counted = [count(package, options.jobs) for package in options.package]
    text = tables(counted, " ".join(["python benchmarks/branch_sites.py --package", *options.package]))
    if options.markdown is None:
        print(text)
    else:
        options.markdown.write_text(text, encoding="utf-8")


def count(package: str, jobs: int) -> Counted:
    """The sites of one package.

    Raises:
        SystemExit: the package is not installed.
    """
    found = importlib.util.find_spec(package)
    if found is None or found.submodule_search_locations is None:
        sys.exit(f"{package} is not installed")
    folder = Path(next(iter(found.submodule_search_locations)))
    sources = [read(path) for path in sorted(folder.rglob("*.py"))]
    files = [source for source in sources if isinstance(source, SourceFile)]
    before = _sites(files, jobs)
    safe = len(_sites(_fixed(files, frozenset(), jobs), jobs))
    return Counted(package, len(files), before, safe, _sites(_fixed(files, None, jobs), jobs))


def _rules() -> list[type]:
    return [rule for code, rule in registry.load().items() if code.startswith(FAMILIES)]


def _sites(files: Sequence[SourceFile], jobs: int) -> tuple[Finding, ...]:
    config = Config(root=Path.cwd())
    return engine.run(files, config, rules=_rules(), rewrite=False, jobs=jobs).findings


def _fixed(files: Sequence[SourceFile], allowed: frozenset[str] | None, jobs: int) -> list[SourceFile]:
    """The files with the fixes that rest on nothing but the allowed assumptions; None allows all."""
    outcome = engine.run(files, Config(root=Path.cwd()), rules=_rules(), allowed=allowed, jobs=jobs)
    texts = {change.path: change.after for change in outcome.patchset}
    return [replace(f, text=texts[f.path]) if f.path in texts else f for f in files]


def tables(counted: Sequence[Counted], command: str) -> str:
    """The Markdown page."""
    rows = ["| package | files | sites | after safe fixes | after all fixes |", "|---|---|---|---|---|"]
    for c in counted:
        name = f"{c.package} {_version(c.package.partition('.')[0])}"
        rows.append(f"| {name} | {c.files} | {len(c.before)} | {c.safe} | {len(c.left)} |")
    by_rule = ["| rule | sites | safe fix | fix with assumptions | no fix |", "|---|---|---|---|---|"]
    everything = [f for c in counted for f in c.before]
    for code in sorted({f.code for f in everything}):
        own = [f for f in everything if f.code == code]
        safe = sum(f.fix is not None and f.fix.safe for f in own)
        fixable = sum(f.fix is not None for f in own)
        by_rule.append(f"| {code} {own[0].name} | {len(own)} | {safe} | {fixable - safe} | {len(own) - fixable} |")
    reasons = Counter((f.code, _general(f.declined)) for c in counted for f in c.left if f.declined is not None)
    left = ["| sites | rule | reason |", "|---|---|---|"]
    left += [f"| {number} | {code} | {reason} |" for (code, reason), number in reasons.most_common(REASONS)]
    return "\n".join(
        [
            "# Branches on tensors and host reads in packages",
            "",
            "How many places the rules CF1xx and CF2xx find in the sources of public packages, and how many of them a",
            "new check still finds when the fixes have been made. Counted from the sources alone: `verify` says of a",
            "model whether its fixes hold. In a library every `forward` and function on tensors counts as compiled,",
            "also what nobody compiles, such as generation loops and image processors.",
            "",
            "```sh",
            command,
            "```",
            "",
            *rows,
            "",
            "By rule, in the files as they are:",
            "",
            *by_rule,
            "",
            "What is left after all fixes, the most frequent reasons:",
            "",
            *left,
            "",
        ]
    )


def _version(package: str) -> str:
    """The version of the distribution that a package comes from, which may have another name (`open_clip_torch`)."""
    return metadata.version(metadata.packages_distributions().get(package, [package])[0])


def _general(reason: str) -> str:
    """A reason without the code and the line that it names."""
    text = re.sub(r"`[^`]*`", "`..`", re.sub(r"line \d+", "a line", reason))
    return re.sub(r"; (pass the number in from outside|with the flag).*", "", text)


if __name__ == "__main__":
    main()
