"""CF708: a look-up on the host in compiled code.

## What it does
Finds questions for files (`os.path.exists`), modules (`importlib.import_module`), the allocator
(`torch.cuda.memory_allocated`), the number of threads (`torch.get_num_threads`), the time of day, fresh identifiers,
and what else Python does on the host (`pickle`, `heapq`, `dataclasses.asdict`, `copy.copy` of a list, `torch.save`,
`torch.jit.script`, `pack_padded_sequence`), in compiled code. The question for the default device is asked of a tensor
instead, which Dynamo can trace; those for what the machine has (`torch.backends.mps.is_available()`,
`torch.cuda.device_count()`, `os.cpu_count()`, `shutil.which("name")`) go to the top of the module. A function of the
file that compiled code scripts is taken as it is where it is compiled. The same for filters
of warnings and for contexts as `torch.random.fork_rng()` and `torch.autograd.set_detect_anomaly(True)`, in which
nothing of the function is compiled.

## Why is this bad
Dynamo cannot trace them: the graph breaks (GB0007, GB0208 and others). The answer is the same in each call, or is of no
use inside the model.

## Example
```python
def forward(self, x):
    backend = importlib.import_module("package.fast")
    noise = torch.randn(x.shape, device=torch.get_default_device())
    if torch.backends.mps.is_available():
        noise = noise.contiguous()
    return backend.attention(x + noise)
```

## Use instead
```python
from package import fast

MPS_IS_AVAILABLE = torch.backends.mps.is_available()

def forward(self, x):
    noise = torch.randn(x.shape, device=torch.empty(0).device)
    if MPS_IS_AVAILABLE:
        noise = noise.contiguous()
    return fast.attention(x + noise)
```

## Fix safety
Only the default device, what the machine has, and scripting have a fix. `torch.empty(0).device` is the same device,
unless the default was set as `cpu:0` (it says `cpu`, and `x.to(...)` is then `x` itself), or by
`torch.set_default_tensor_type`, of which `torch.get_default_device()` knows nothing (`plain-default-device`). What
the machine has is asked once, when the module is imported, and an answer that changes later is not heard
(`asked-once`): it becomes a constant behind the imports that the module begins with, under a name that the module
does not use. The answers to the other questions change more often, and they have no fix.
`torch.jit.script(f)` becomes `f if torch.compiler.is_compiling() else torch.jit.script(f)`, so that nothing changes
without compiling. In compiled code Python's rules hold for `f` then, where TorchScript has its own for integers that
overflow, for wrong types and for errors, and takes values from outside as they were when it was scripted
(`python-for-script`). There is no fix where `f` raises, asserts, prints, takes powers of numbers, makes tensors without
a dtype (TorchScript does not heed the default) or asks for TorchScript, which differ in plain sight, where it may need
the values of tensors (the graph would break there), where the file does not define it, and where what is scripted is
kept.
`with warnings.catch_warnings():` itself is traced: what breaks the graph is the filter that is set in it.
What torch 2.13 answers while it traces is not reported: versions (`torch.__version__`,
`packaging.version`, `importlib.metadata.version`), the environment (`os.environ`, `os.getenv`),
`importlib.util.find_spec`, `platform.system`, `torch.cuda.is_available`.

Graph breaks: GB0007, GB0008, GB0045, GB0046, GB0107, GB0126, GB0127, GB0147, GB0156, GB0208, GB4198. torch: all
supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.torch_name import imports, torch_name
from compilefix.codemods.unsupported.asked_once import asked_once, question
from compilefix.codemods.unsupported.scripted_function import why_scripted

_NOT_TRACED: dict[str, tuple[str, ...]] = {
    "GB0007": (
        *(f"os.path.{name}" for name in ("exists", "isfile", "isdir", "getsize", "getmtime", "abspath")),
        *(f"os.{name}" for name in ("getpid", "getcwd", "listdir", "cpu_count", "urandom", "makedirs")),
        *(f"time.{name}" for name in ("strftime", "ctime")),
        *(f"heapq.{name}" for name in ("heappush", "heappop", "heapify")),
        *(f"bisect.{name}" for name in ("bisect", "bisect_left", "bisect_right", "insort")),
        *(f"inspect.{name}" for name in ("currentframe", "stack", "getsource")),
        *(f"traceback.{name}" for name in ("print_stack", "print_exc", "format_stack")),
        *(f"warnings.{name}" for name in ("simplefilter", "filterwarnings", "warn_explicit")),
        *(f"threading.{name}" for name in ("get_ident", "current_thread", "Lock")),
        *(f"hashlib.{name}" for name in ("md5", "sha256")),
        *(f"torch.{name}" for name in ("save", "load", "jit.script", "jit.trace", "set_num_threads")),
        *("pickle.dumps", "pickle.loads", "importlib.import_module", "__import__", "gc.collect", "uuid.uuid4"),
        *("glob.glob", "shutil.which", "socket.gethostname", "base64.b64encode", "zlib.crc32", "copy.copy"),
        *("sys._getframe", "sys.getsizeof", "sys.getrefcount", "tempfile.TemporaryDirectory"),
        *("torch.nn.utils.rnn.pack_padded_sequence", "torch.utils.data.get_worker_info", "torch.lobpcg"),
        "torch.backends.mkldnn.is_available",
    ),
    "GB0008": (
        *(f"torch.autograd.{name}" for name in ("set_detect_anomaly", "detect_anomaly", "set_multithreading_enabled")),
        *("torch.autograd.graph.save_on_cpu", "torch.utils.flop_counter.FlopCounterMode", "secrets.token_hex"),
    ),
    "GB0045": ("Tensor.is_inference",),
    "GB0046": ("torch.is_inference_mode_enabled",),
    "GB0107": ("Tensor.random_",),
    "GB0126": ("Tensor.resize_",),
    "GB0127": ("Tensor.resize_as_",),
    "GB0147": ("types.SimpleNamespace", "array.array"),
    "GB0156": ("datetime.datetime.now", "datetime.datetime.utcnow", "json.dumps", "io.StringIO", "io.BytesIO"),
    "GB0208": (
        *("torch.get_num_threads", "torch.get_num_interop_threads", "torch.initial_seed", "torch.random.fork_rng"),
        *(f"torch.cuda.{name}" for name in ("memory_allocated", "max_memory_allocated", "memory_reserved")),
        *("torch.cuda.max_memory_reserved", "torch.cuda.device_count", "torch.result_type", "torch.can_cast"),
        *("torch.get_float32_matmul_precision", "torch.is_deterministic_algorithms_warn_only_enabled"),
        *(f"torch.backends.{name}.is_available" for name in ("cudnn", "mps", "mkl", "openmp")),
        *("torch.backends.mps.is_built", "torch.backends.cuda.is_built", "torch.backends.cudnn.flags"),
        *("torch.backends.cuda.sdp_kernel", "Tensor.storage_offset", "Tensor.is_shared", "Tensor.is_pinned"),
        *(f"torch.{name}" for name in ("is_inference", "is_conj", "is_neg", "is_signed", "is_same_size", "get_device")),
        *(f"torch.{name}" for name in ("is_anomaly_enabled", "is_warn_always_enabled", "is_vulkan_available")),
        *("torch.get_deterministic_debug_mode", "torch.is_distributed", "Tensor.is_distributed", "Tensor.is_set_to"),
        *(f"Tensor.{name}" for name in ("is_conj", "is_neg", "is_signed", "is_same_size")),
    ),
    "GB4198": ("dataclasses.asdict", "dataclasses.astuple"),
}
_LOOK_UPS = {name: gb for gb, names in _NOT_TRACED.items() for name in names}
_DEFAULT_DEVICE = "torch.get_default_device"
_ONCE = "ask once, at the top of the module or in `__init__`, and keep the answer"
_OUTSIDE = "do it where the compiled code is called"
_FIXED = (
    *(
        "os.path.",
        "importlib.",
        "__import__",
        "os.getcwd",
        "os.cpu_count",
        "socket.",
        "shutil.which",
        "inspect.getsource",
    ),
    *("torch.backends.", "torch.cuda.device_count", "torch.get_float32_matmul_precision"),
)
"""Questions whose answer stays as it is, by the beginnings of their names."""
_OF_THE_MACHINE = frozenset(
    {
        *(f"torch.backends.{name}.is_available" for name in ("cudnn", "mps", "mkl", "mkldnn", "openmp")),
        *("torch.backends.mps.is_built", "torch.backends.cuda.is_built", "torch.cuda.device_count"),
        *("os.cpu_count", "socket.gethostname", "shutil.which"),
    }
)
"""Questions for what the machine and the installation have, which seldom changes while a process runs."""
_ADVICE = {
    "torch.jit.trace": "compile the function itself: what is traced by `torch.jit` is not traced again",
    "torch.nn.utils.rnn.pack_padded_sequence": "keep the padding and mask what stands in it, or run the RNN outside",
    "torch.backends.cudnn.flags": _OUTSIDE,
    "torch.backends.cuda.sdp_kernel": "use `torch.nn.attention.sdpa_kernel`, which is traced",
    "torch.result_type": "use `torch.promote_types` of the dtypes, which is traced",
    **dict.fromkeys(("torch.is_signed", "Tensor.is_signed"), "ask the dtype, `x.dtype.is_signed`, which is traced"),
    **dict.fromkeys(("torch.is_same_size", "Tensor.is_same_size"), "compare the shapes, which is traced"),
    "torch.get_device": "use the method `get_device`, which is traced",
    "copy.copy": "use the method `copy` of a list or a dictionary, which is traced",
    "dataclasses.asdict": "name the fields: `asdict` copies tensors too",
    "dataclasses.astuple": "name the fields: `astuple` copies tensors too",
    "types.SimpleNamespace": "use a class or a dictionary",
    "Tensor.random_": "use `torch.randint`, which is traced (another stream)",
    "Tensor.resize_": "make a tensor of the new size",
    "Tensor.resize_as_": "make a tensor of the new size",
}


class HostLookup(Rule):
    """Look-up on the host in compiled code."""

    code = "CF708"
    name = "host-lookup"
    summary = "a look-up on the host in compiled code"
    gb = tuple(_NOT_TRACED)
    hints = tuple({name.rpartition(".")[2]: None for name in (*_LOOK_UPS, _DEFAULT_DEVICE)})
    assumptions = ("plain-default-device", "asked-once", "python-for-script")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Calls that ask the host for something."""
        for node in scope.of(ast.Call):
            name = scope.callee(node) or ""
            if name == _DEFAULT_DEVICE and isinstance(node.func, ast.Attribute):
                yield self._default_device(node, node.func, scope)
            if name not in _LOOK_UPS or (name == "copy.copy" and not _holds_tensors(node, scope)):
                continue
            if name in _OF_THE_MACHINE and question(node, scope) is not None:
                yield self._asked_once(node, _LOOK_UPS[name], scope)
                continue
            if name == "torch.jit.script":
                yield self._scripted(node, scope)
                continue
            advice = _ADVICE.get(name, _ONCE if name.startswith(_FIXED) else _OUTSIDE)
            yield self.declined(
                scope, node, f"`{ast.unparse(node.func)}` breaks the graph", advice, gb=(_LOOK_UPS[name],)
            )

    def _asked_once(self, node: ast.Call, gb: str, scope: Scope) -> Finding:
        message = f"`{ast.unparse(node.func)}` breaks the graph"
        reason = f"`{ast.unparse(node)}` is asked when the module is imported, and a later answer is not heard"
        fix = Fix(tuple(asked_once(node, scope)), (), ("asked-once",), (reason,))
        return self.fixed(scope, node, message, fix, gb=(gb,))

    def _scripted(self, node: ast.Call, scope: Scope) -> Finding:
        message = f"`{ast.unparse(node.func)}` breaks the graph"
        gb = (_LOOK_UPS["torch.jit.script"],)
        if (obstacle := why_scripted(node, scope)) is not None:
            return self.declined(scope, node, message, obstacle, gb=gb)
        code = f"{{function}} if {torch_name(scope)}.compiler.is_compiling() else {{script}}"
        if isinstance(scope.parents.get(node), ast.Call):
            code = f"({code})"
        edit = scope.edit(node, code, function=node.args[0], script=node)
        reason = f"`{ast.unparse(node.args[0])}` runs as Python code where it is compiled, and not as TorchScript"
        fix = Fix((edit,), imports(scope), ("python-for-script",), (reason,))
        return self.fixed(scope, node, message, fix, gb=gb)

    def _default_device(self, node: ast.Call, function: ast.Attribute, scope: Scope) -> Finding:
        message = f"`{ast.unparse(node)}` is not traced and breaks the graph"
        edit = scope.edit(node, "{torch}.empty(0).device", torch=function.value)
        reason = "a default tensor type may be set that has another device, and `cpu:0` has no number on a tensor"
        return self.fixed(scope, node, message, Fix((edit,), (), ("plain-default-device",), (reason,)), gb=("GB0208",))


def _holds_tensors(node: ast.Call, scope: Scope) -> bool:
    """Whether a container is copied, or what may be one. Constants are copied in tracing, tensors are CF701's."""
    value = scope.value(node.args[0]) if node.args else None
    return value is not None and value.is_(Kind.CONTAINER, Kind.TENSOR) and not (value.is_tensor and value.certain)
