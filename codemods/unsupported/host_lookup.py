"""CF708: a look-up on the host in compiled code.

## What it does
Finds questions for files (`os.path.exists`), modules (`importlib.import_module`), the allocator
(`torch.cuda.memory_allocated`), the time of day, fresh identifiers, and the like, in compiled code.

## Why is this bad
Dynamo cannot trace them: the graph breaks (GB0007, GB0156, GB0208). The answer is the same in each call, or is of no
use inside the model.

## Example
```python
def forward(self, x):
    backend = importlib.import_module("package.fast")
    return backend.attention(x)
```

## Use instead
```python
from package import fast

def forward(self, x):
    return fast.attention(x)
```

## Fix safety
This rule has no fix: at the top of the module the question is asked once, when it is imported, and the answer may
change later. What torch 2.13 answers while it traces is not reported: versions (`torch.__version__`,
`packaging.version`, `importlib.metadata.version`), the environment (`os.environ`, `os.getenv`),
`importlib.util.find_spec`, `platform.system`, `torch.cuda.is_available`.

Graph breaks: GB0007, GB0156, GB0208. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Rule, Scope

_FILES = ("exists", "isfile", "isdir", "getsize", "getmtime")
_LOOK_UPS = {
    **{f"os.path.{name}": "GB0007" for name in _FILES},
    "importlib.import_module": "GB0007",
    "gc.collect": "GB0007",
    "uuid.uuid4": "GB0007",
    "datetime.datetime.now": "GB0156",
    "datetime.datetime.utcnow": "GB0156",
    "torch.cuda.memory_allocated": "GB0208",
    "torch.cuda.max_memory_allocated": "GB0208",
    "torch.cuda.memory_reserved": "GB0208",
    "torch.cuda.max_memory_reserved": "GB0208",
}
_ONCE = "ask once, at the top of the module or in `__init__`, and keep the answer"
_OUTSIDE = "do it where the compiled code is called"


class HostLookup(Rule):
    """Look-up on the host in compiled code."""

    code = "CF708"
    name = "host-lookup"
    summary = "a look-up on the host in compiled code"
    gb = ("GB0007", "GB0156", "GB0208")
    hints = ("os.path", "import_module", "gc.", "uuid", "datetime", "memory_", "exists", "isfile")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls that ask the host for something."""
        for node in scope.of(ast.Call):
            name = scope.callee(node) or ""
            if name not in _LOOK_UPS:
                continue
            advice = _ONCE if name.startswith(("os.path.", "importlib.")) else _OUTSIDE
            yield self.declined(
                scope, node, f"`{ast.unparse(node.func)}` breaks the graph", advice, gb=(_LOOK_UPS[name],)
            )
