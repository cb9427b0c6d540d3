"""Code round the model: it feeds it, drives it, exports it, tests it or shows what it gave.

In a library every function on tensors counts as compiled, since its users may compile it. Data sets, training loops,
exporters and plots take tensors too, and nobody compiles these. What compiled code calls runs compiled all the same.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compilefix.source.index import Class, Function, Module, Project
from compilefix.source.tree import children

_DATA_BASES = ("torch.utils.data.", "unittest.", "argparse.", "logging.", "threading.", "torchvision.datasets.")
"""What begins the names of classes whose objects hand out data, test, log or run beside the model."""
_DATA_NAMES = frozenset({"LightningDataModule", "Callback", "TrainerCallback", "TestCase", "JitTestCase"})
_SHOWS_OR_KEEPS = (
    "plot",
    "visuali",
    "imshow",
    "collate",
    "save_",
    "export_",
    "print_",
    "log_image",
    "upgrade_state_dict",
)
"""What begins the names of functions that show or keep something; `draw` and `load` mean other things as well."""
_BESIDE = frozenset({"tests", "datasets"})
"""Folders of a package that hold no model."""
_FEEDS = re.compile(r"loader$|dataset$|^(trainer|writer|summary_writer)$")
"""What the parameters are called that hand out the data of a whole run, or take its results."""
_OUTSIDE_PACKAGES = frozenset(
    {"matplotlib", "seaborn", "plotly", "bokeh", "imgui", "glfw", "pygame", "tkinter", "gradio", "streamlit", "visdom"}
    | {"wandb", "tensorboard", "tensorboardX", "mlflow", "comet_ml", "clearml", "neptune", "swanlab", "aim"}
    | {"onnx", "onnxruntime", "onnxsim", "onnx_graphsurgeon", "tensorrt", "coremltools", "openvino", "caffe2"}
    | {"tensorflow", "tensorflow_hub", "tf2onnx", "paddle"}
    | {"argparse", "subprocess", "shutil", "tempfile", "glob", "zipfile", "tarfile", "multiprocessing", "unittest"}
    | {"requests", "urllib", "socket", "http", "flask", "fastapi", "uvicorn", "huggingface_hub", "boto3", "click"}
    | {"h5py", "lmdb", "imageio", "moviepy", "soundfile", "sacrebleu", "submitit", "hydra", "omegaconf"}
)
"""Packages that show things, keep them, get them from somewhere or start programs: no tensor comes out of them."""
_HANDLES = frozenset(
    {"torch.save", "torch.load", "torch.jit.save", "torch.jit.load", "torch.jit.trace", "torch.jit.script"}
    | {"torch.distributed.init_process_group", "os.makedirs", "os.mkdir", "os.listdir"}
    | {"os.remove", "os.unlink", "os.rename", "os.system", "torch.utils.tensorboard.SummaryWriter"}
)
_HANDLES_BELOW = ("torch.onnx.", "torch.hub.", "torch.multiprocessing.")
_HANDLING_METHODS = frozenset({"eval", "state_dict", "read_text", "mkdir"})
"""Methods that are called without an argument by code outside a model, on the model or on files."""
_DRIVES = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})
_COMPILE = ("torch.compile", "torch.compiler.compile")
_CLOSED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def is_host_code(function: Function, project: Project) -> bool:
    """Whether nobody compiles a function by itself, whatever it does with tensors.

    It drives compiled code from outside (it compiles, steps an optimiser, saves what it gets), belongs to a data set,
    to a test or to an object that keeps or shows results, or is a generator or coroutine, whose frames Dynamo leaves
    to Python.
    """
    return _is_so_itself(function, project) or _serves(function, project)


def _is_so_itself(function: Function, project: Project) -> bool:
    return (
        function.node.name.lstrip("_").startswith(_SHOWS_OR_KEEPS)
        or any(map(_feeds, function.parameters))
        or _is_beside_the_model(function.module)
        or drives(function)
        or _handles_models(function)
        or _reaches_outside(function, project)
        or _suspends(function, project)
        or (function.cls is not None and _is_host_class(function.cls, project))
    )


def _feeds(parameter: ast.arg) -> bool:
    """Whether a parameter, by its name, hands out the data of a whole run, or takes its results."""
    says = parameter.annotation is not None and "Tensor" in ast.unparse(parameter.annotation)
    return not says and _FEEDS.search(parameter.arg) is not None


def _serves(function: Function, project: Project) -> bool:
    """Whether a function of its file alone, as its name says, is used there by code round the model only."""
    name = function.node.name
    if not name.startswith("_") or function.cls is not None or function.parent is not None:
        return False
    others = (other for other in function.module.all_functions if other is not function)
    callers = [other for other in others if any(read.id == name for read in other.of(ast.Name))]
    return bool(callers) and all(_is_so_itself(caller, project) for caller in callers)


def _is_beside_the_model(module: Module) -> bool:
    """Whether a file holds tests, or stands in a folder of tests or data sets."""
    *packages, last = module.name.split(".")
    beside = not _BESIDE.isdisjoint(packages)
    return beside or last.startswith("test_") or last.endswith("_test") or last == "conftest"


def _is_host_class(cls: Class, project: Project) -> bool:
    """Whether objects of a class hand out data, test, or show or keep results."""
    if feeds_or_tests(cls, project):
        return True
    # A module may have a method that exports it, and an optimiser one that loads it.
    bases = (base for base in project.ancestors(cls) if isinstance(base, str))
    if project.is_module_class(cls) or any(base.startswith("torch.") for base in bases):
        return False
    return any(_reaches_outside(method, project) for method in cls.methods.values())


def feeds_or_tests(cls: Class, project: Project) -> bool:
    """Whether objects of a class hand out data, test, log, or run beside the model, by what the class inherits."""
    bases = (base for base in project.ancestors(cls) if isinstance(base, str))
    return any(base.startswith(_DATA_BASES) or base.rpartition(".")[2] in _DATA_NAMES for base in bases)


def _suspends(function: Function, project: Project) -> bool:
    """Whether a call makes a generator or coroutine. Those of a module may be run by its `forward`: `__iter__`."""
    if isinstance(function.node, ast.AsyncFunctionDef):
        return True
    if function.cls is not None and project.is_module_class(function.cls):
        return False
    if not function.of(ast.Yield) and not function.of(ast.YieldFrom):
        return False
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in _own(function))


def _own(function: Function) -> Iterator[ast.AST]:
    """The nodes of a function, without those of functions and classes nested in it."""
    pending: list[ast.AST] = list(function.node.body)
    while pending:
        node = pending.pop()
        if not isinstance(node, _CLOSED):
            yield node
            pending.extend(children(node))


def drives(function: Function) -> bool:
    """Whether the function compiles or trains a model, or runs one over a data set."""
    module = function.module
    for node in function.of(ast.Attribute):
        if node.attr == "compile" and module.qualified(node) in _COMPILE:
            return True
        # A model of its own may have a method `backward`, as that of a hidden Markov model.
        if node.attr in ("_dynamo", "backward", "zero_grad") and not _is_instance(node.value, function):
            return True
    names = (_called(node, module) for node in function.of(ast.Call))
    return any(name in _DRIVES or name.startswith("torch.optim.") for name in names)


def _is_instance(node: ast.expr, function: Function) -> bool:
    """Whether an expression is the object that a method belongs to."""
    own = function.parameters[0].arg if function.cls is not None and function.parameters else None
    return isinstance(node, ast.Name) and node.id == own


def _handles_models(function: Function) -> bool:
    """Whether the function loads, saves or exports a model, or switches one to evaluation."""
    for node in function.of(ast.Call):
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in _HANDLING_METHODS and not node.args:
            # A model may switch itself to evaluation: `self.eval()` stands in `generate` methods.
            if not _is_instance(func.value, function):
                return True
        else:
            name = _called(node, function.module)
            if name in _HANDLES or name.startswith(_HANDLES_BELOW):
                return True
    return False


def _called(node: ast.Call, module: Module) -> str:
    """The dotted name of what is called, empty where it has none."""
    func = node.func
    return (module.imports.get(func.id) if isinstance(func, ast.Name) else module.qualified(func)) or ""


def opens_files(function: Function) -> bool:
    """Whether the function opens files. A file by itself may still hold just what somebody compiles."""
    opens = any(isinstance(node.func, ast.Name) and node.func.id == "open" for node in function.of(ast.Call))
    return opens and "." in function.module.name


def _reaches_outside(function: Function, project: Project) -> bool:
    """Whether the function opens files, or calls a package that shows or keeps things."""
    if opens_files(function):
        return True
    module = function.module
    outside = {name for name in _OUTSIDE_PACKAGES & module.packages if name not in project.modules}
    return bool(outside) and any(
        (module.qualified(node.func) or "").partition(".")[0] in outside for node in function.of(ast.Call)
    )
