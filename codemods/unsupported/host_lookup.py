"""CF708: a look-up on the host in compiled code.

## What it does
Finds questions for files (`os.path.exists`), modules (`importlib.import_module`), the allocator
(`torch.cuda.memory_allocated`), the number of threads (`torch.get_num_threads`), the time of day, fresh identifiers,
and what else Python does on the host (`pickle`, `torch.save`, `torch.jit.script`, `pack_padded_sequence`), in compiled
code. The question for the default device is asked of a tensor instead, which Dynamo can trace. The same for filters of
warnings.

## Why is this bad
Dynamo cannot trace them: the graph breaks (GB0007, GB0156, GB0208). The answer is the same in each call, or is of no
use inside the model.

## Example
```python
def forward(self, x):
    backend = importlib.import_module("package.fast")
    noise = torch.randn(x.shape, device=torch.get_default_device())
    return backend.attention(x + noise)
```

## Use instead
```python
from package import fast

def forward(self, x):
    noise = torch.randn(x.shape, device=torch.empty(0).device)
    return fast.attention(x + noise)
```

## Fix safety
Only the default device has a fix. `torch.empty(0).device` is the same device; where the default was set as `cpu:0`, it
says `cpu`, which is seen only where the device is kept, compared or shown (`plain-default-device`). The other questions
have none: at the top of the module the question is asked once, when it is imported, and the answer may change later.
What torch 2.13 answers while it traces is not reported: versions (`torch.__version__`,
`packaging.version`, `importlib.metadata.version`), the environment (`os.environ`, `os.getenv`),
`importlib.util.find_spec`, `platform.system`, `torch.cuda.is_available`.

Graph breaks: GB0007, GB0156, GB0208. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope

_FILES = ("exists", "isfile", "isdir", "getsize", "getmtime")
_LOOK_UPS = {
    **{f"os.path.{name}": "GB0007" for name in _FILES},
    "importlib.import_module": "GB0007",
    "gc.collect": "GB0007",
    "uuid.uuid4": "GB0007",
    "datetime.datetime.now": "GB0156",
    "datetime.datetime.utcnow": "GB0156",
    "torch.get_num_threads": "GB0208",
    "torch.get_num_interop_threads": "GB0208",
    "torch.cuda.memory_allocated": "GB0208",
    "torch.cuda.max_memory_allocated": "GB0208",
    "torch.cuda.memory_reserved": "GB0208",
    "torch.cuda.max_memory_reserved": "GB0208",
    "torch.initial_seed": "GB0208",
    "json.dumps": "GB0156",
    "pickle.dumps": "GB0007",
    "pickle.loads": "GB0007",
    "threading.get_ident": "GB0007",
    "__import__": "GB0007",
    "inspect.currentframe": "GB0007",
    "inspect.stack": "GB0007",
    "hashlib.md5": "GB0007",
    "hashlib.sha256": "GB0007",
    "glob.glob": "GB0007",
    "os.makedirs": "GB0007",
    "torch.save": "GB0007",
    "torch.load": "GB0007",
    "torch.jit.script": "GB0007",
    "torch.jit.trace": "GB0007",
    "torch.nn.utils.rnn.pack_padded_sequence": "GB0007",
    "traceback.print_stack": "GB0007",
    "traceback.print_exc": "GB0007",
    "warnings.catch_warnings": "GB0007",
    "warnings.simplefilter": "GB0007",
    "warnings.filterwarnings": "GB0007",
    "warnings.warn_explicit": "GB0007",
}
_DEFAULT_DEVICE = "torch.get_default_device"
_ONCE = "ask once, at the top of the module or in `__init__`, and keep the answer"
_OUTSIDE = "do it where the compiled code is called"
_ADVICE = {
    "torch.jit.script": "compile the function itself: what is scripted is not traced",
    "torch.jit.trace": "compile the function itself: what is traced by `torch.jit` is not traced again",
    "torch.nn.utils.rnn.pack_padded_sequence": "keep the padding and mask what stands in it, or run the RNN outside",
}


class HostLookup(Rule):
    """Look-up on the host in compiled code."""

    code = "CF708"
    name = "host-lookup"
    summary = "a look-up on the host in compiled code"
    gb = ("GB0007", "GB0156", "GB0208")
    hints = (
        *("os.path", "import_module", "gc.", "uuid", "datetime", "memory_", "exists", "isfile", "get_default_device"),
        *("initial_seed", "dumps", "print_stack", "print_exc", "warnings", "filter", "pickle", "get_ident"),
        *(
            "__import__",
            "currentframe",
            "stack",
            "hashlib",
            "md5",
            "sha256",
            "glob",
            "makedirs",
            "save",
            "load",
        ),
        *("jit.", "script", "pack_padded", "get_num_"),
    )
    assumptions = ("plain-default-device",)

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls that ask the host for something."""
        for node in scope.of(ast.Call):
            name = scope.callee(node) or ""
            if name == _DEFAULT_DEVICE and isinstance(node.func, ast.Attribute):
                yield self._default_device(node, node.func, scope)
            if name not in _LOOK_UPS:
                continue
            once = name.startswith(("os.path.", "importlib.", "__import__"))
            advice = _ADVICE.get(name, _ONCE if once else _OUTSIDE)
            yield self.declined(
                scope, node, f"`{ast.unparse(node.func)}` breaks the graph", advice, gb=(_LOOK_UPS[name],)
            )

    def _default_device(self, node: ast.Call, function: ast.Attribute, scope: Scope) -> Finding:
        message = f"`{ast.unparse(node)}` is not traced and breaks the graph"
        edit = scope.edit(node, "{torch}.empty(0).device", torch=function.value)
        if _only_a_place(node, scope):
            return self.fixed(scope, node, message, Fix((edit,)), gb=("GB0208",))
        reason = "the device is not only one that something is made on"
        return self.fixed(scope, node, message, Fix((edit,), (), ("plain-default-device",), (reason,)), gb=("GB0208",))


def _only_a_place(node: ast.Call, scope: Scope) -> bool:
    """Whether a device is only given to what torch makes on it or moves there."""
    parent = scope.parents.get(node)
    if isinstance(parent, ast.keyword):
        call = scope.parents.get(parent)
        return parent.arg == "device" and isinstance(call, ast.Call) and (scope.callee(call) or "").startswith("torch.")
    return isinstance(parent, ast.Call) and parent.args == [node] and scope.callee(parent) == "Tensor.to"
