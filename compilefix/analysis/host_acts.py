"""What one function does of the work round a model: it drives, sets up, saves, opens files, draws or tokenizes.

Only the function itself is asked here, not who uses it, nor what its class or file is (`host_code`).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator

from compilefix.source.definitions import Function
from compilefix.source.project import Project
from compilefix.source.tree import children

_GIVES_NO_TENSOR = re.compile(
    r"(Optional\[)?((list|List|Sequence|tuple|Tuple|Iterable)\[)?"
    r"(str|bytes|(pathlib\.)?Path|(\w+\.)?(DataFrame|ndarray))\b(, \.\.\.)?\]*( \| None)?$"
    r"|[Tt]uple\[(float|int)(, (float|int))*\]$"
)
"""Annotations of results that are texts, tables, arrays or several numbers."""

_DATA = re.compile(r"dataset|dataloader|loader$|(^|_)data(_iter|_iterator)?$|batches$", re.I)
"""How attributes are called that hand out batches."""

_TOKENIZES = frozenset({"batch_decode", "apply_chat_template", "convert_tokens_to_ids", "convert_ids_to_tokens"})
"""Methods of what makes numbers of text, or text of numbers."""

_OF_TOKENIZERS = frozenset({"return_tensors", "skip_special_tokens", "add_special_tokens"})

_IMAGES = ("cv2.", "PIL.")

_OF_ARRAYS = frozenset({"astype", "tobytes"})

_OF_NUMPY = ("numpy.", "scipy.", "networkx.", "sklearn.", "pandas.")

_OUTSIDE_PACKAGES = frozenset(
    {"matplotlib", "seaborn", "plotly", "bokeh", "imgui", "glfw", "pygame", "tkinter", "gradio", "streamlit", "visdom"}
    | {"wandb", "tensorboard", "tensorboardX", "mlflow", "comet_ml", "clearml", "neptune", "swanlab", "aim"}
    | {"onnx", "onnxruntime", "onnxsim", "onnx_graphsurgeon", "tensorrt", "coremltools", "openvino", "caffe2"}
    | {"tensorflow", "tensorflow_hub", "tf2onnx", "paddle"}
    | {"argparse", "subprocess", "shutil", "tempfile", "glob", "zipfile", "tarfile", "multiprocessing", "unittest"}
    | {"requests", "urllib", "socket", "http", "flask", "fastapi", "uvicorn", "huggingface_hub", "boto3", "click"}
    | {"h5py", "lmdb", "imageio", "moviepy", "soundfile", "sacrebleu", "submitit", "hydra", "omegaconf"}
    | {"pickle", "ctypes", "shapely", "rdkit", "networkx", "sklearn", "pandas", "tensorrt_llm", "pycocotools"}
)
"""Packages that show things, keep them, get them from somewhere or start programs: no tensor comes out of them."""

HANDLES = frozenset(
    {"torch.save", "torch.load", "torch.jit.save", "torch.jit.load", "torch.jit.trace", "torch.jit.script"}
    | {"torch.distributed.init_process_group", "os.makedirs", "os.mkdir", "os.listdir"}
    | {"os.remove", "os.unlink", "os.rename", "os.system", "torch.utils.tensorboard.SummaryWriter"}
)

_HANDLES_BELOW = ("torch.onnx.", "torch.hub.", "torch.multiprocessing.")

_HANDLING_METHODS = frozenset(
    {"eval", "state_dict", "named_parameters", "named_modules", "named_buffers", "named_children"}
    | {"read_text", "mkdir"}
)
"""Methods that are called without an argument by code outside a model, on the model or on files."""

_REGISTERS = frozenset({"register_buffer", "register_parameter", "register_module", "add_module"})

_MAKES = frozenset({"__init__", "__post_init__", "__new__", "reset_parameters"})

_SETTING = ("set_", "setup", "set_up", "init_", "initialize", "build_", "create_", "construct_")
"""What begins the names of methods that set an object up, where they give it something."""

_DRIVES = frozenset({"torch.utils.data.DataLoader", "torch.utils.data.dataloader.DataLoader"})

_COMPILE = ("torch.compile", "torch.compiler.compile")

_PREPARES = frozenset(
    {*_COMPILE, "torch.export.export", "torch.fx.symbolic_trace", "torch.fx.experimental.proxy_tensor.make_fx"}
)

_CLOSED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)


def works_without_torch(function: Function) -> bool:
    """Whether a `forward` works on arrays in a file without torch: a model of another package, called like a module."""
    return not function.module.mentions("torch") and calls_one_of(function, (), _OF_NUMPY)


def fits_to_its_input(function: Function) -> bool:
    """Whether a `forward` makes an optimizer, as an attack or an explanation does that fits something to each input."""
    return any(calls_one_of(method, (), ("torch.optim.",)) for method in (function, *_own_called(function)))


def draws_from_data(function: Function) -> bool:
    """Whether a method takes the next batch of the data that its object holds, as what drives the training does."""
    taken = (node.args[0] for node in function.of(ast.Call) if _is_called(node, "next") and len(node.args) == 1)
    return any(isinstance(data, ast.Attribute) and _DATA.search(data.attr) is not None for data in taken)


def _is_called(node: ast.Call, name: str) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == name


def _own_called(function: Function) -> Iterator[Function]:
    """The methods of its own class that a method calls on its object."""
    methods = function.cls.methods if function.cls is not None else {}
    for node in function.of(ast.Attribute):
        if node.attr in methods and node.attr != "__init__" and _is_instance(node.value, function):
            yield methods[node.attr]


def suspends(function: Function, project: Project) -> bool:
    """Whether a call makes a generator or coroutine. `__iter__` of a module may be run by its `forward`."""
    if isinstance(function.node, ast.AsyncFunctionDef):
        return True
    if function.node.name == "__iter__" and function.cls is not None and project.is_module_class(function.cls):
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
    optimizes = calls_one_of(function, (), ("torch.optim.",))
    fits = optimizes and _fits_what_it_makes(function)
    if (optimizes and not fits) or calls_one_of(function, _DRIVES):
        return True
    for node in function.of(ast.Attribute):
        if node.attr == "compile" and module.qualified(node) in _COMPILE:
            return True
        # A model of its own may have a method `backward`, as that of a hidden Markov model.
        drives_it = node.attr in ("_dynamo", "backward", "zero_grad") and not _is_instance(node.value, function)
        if drives_it and (node.attr == "_dynamo" or not (fits or own_leaves(function))):
            return True
    return False


def _fits_what_it_makes(function: Function) -> bool:
    """Whether each optimizer of a function is one of tensors that it names: `Adam([delta])` fits these, no model."""
    made = [n for n in function.of(ast.Call) if (function.module.qualified(n.func) or "").startswith("torch.optim.")]
    optimizers = [node for node in made if node.args and "lr_scheduler" not in ast.unparse(node.func)]
    return bool(optimizers) and all(
        isinstance(node.args[0], ast.List | ast.Tuple)
        and all(isinstance(item, ast.Name) and item.id in function.bound for item in node.args[0].elts)
        for node in optimizers
    )


def own_leaves(function: Function) -> frozenset[str]:
    """The names that the function lets require a gradient, and reads it of: what it computes is made of gradients.

    That is no training: `x = x.detach().requires_grad_()`, `loss.backward()`, `return x + step * x.grad.sign()`.
    """
    read = {n.value.id for n in function.of(ast.Attribute) if n.attr == "grad" and isinstance(n.value, ast.Name)}
    if not read:
        return frozenset()
    made: set[str] = set()
    for node in function.of(ast.Attribute):
        if node.attr == "requires_grad_" or (node.attr == "requires_grad" and isinstance(node.ctx, ast.Store)):
            made |= {node.value.id} if isinstance(node.value, ast.Name) else set()
    for statement in function.of(ast.Assign):
        called = statement.value.func if isinstance(statement.value, ast.Call) else None
        if isinstance(called, ast.Attribute) and called.attr == "requires_grad_":
            made |= {target.id for target in statement.targets if isinstance(target, ast.Name)}
    return frozenset(read & made)


def _is_instance(node: ast.expr, function: Function) -> bool:
    """Whether an expression is the object that a method belongs to."""
    own = function.parameters[0].arg if function.cls is not None and function.parameters else None
    return isinstance(node, ast.Name) and node.id == own


def prepares(function: Function) -> bool:
    """Whether the function compiles, exports or traces a model, which is code to it, or runs one over a data set."""
    if calls_one_of(function, _DRIVES):
        return True
    module = function.module
    if not module.mentions("compile") and not module.mentions("fx") and not module.mentions("export"):
        return False
    return calls_one_of(function, _PREPARES, ("torch._dynamo.",))


def handles_models(function: Function) -> bool:
    """Whether the function loads, saves or exports a model, or switches one to evaluation."""
    return brings_to_files(function) or switches(function)


def switches(function: Function) -> bool:
    """Whether the function calls one of `_HANDLING_METHODS` on something else: `generate` may call `self.eval()`."""
    methods = (node.func for node in function.of(ast.Call) if isinstance(node.func, ast.Attribute) and not node.args)
    return any(func.attr in _HANDLING_METHODS and not _is_instance(func.value, function) for func in methods)


def brings_to_files(function: Function) -> bool:
    """Whether the function loads, saves or exports a model or a tensor, or handles files in another way."""
    return calls_one_of(function, HANDLES, _HANDLES_BELOW)


def calls_one_of(function: Function, names: Collection[str], beginnings: tuple[str, ...] = ()) -> bool:
    """Whether the function calls one of these, or something whose full name begins like one of those."""
    called = function.called_names
    return not called.isdisjoint(names) or (bool(beginnings) and any(name.startswith(beginnings) for name in called))


def opens_files(function: Function) -> bool:
    """Whether the function opens files. A file by itself may still hold just what somebody compiles."""
    opens = any(isinstance(node.func, ast.Name) and node.func.id == "open" for node in function.of(ast.Call))
    return opens and "." in function.module.file.module


def draws_pictures(function: Function) -> bool:
    """Whether the function changes or makes pictures on the host."""
    return not function.module.packages.isdisjoint({"cv2", "PIL"}) and calls_one_of(function, (), _IMAGES)


def gives_no_tensor(function: Function) -> bool:
    """Whether the function says that texts, tables, arrays or several numbers come out of it."""
    returns = function.node.returns
    return returns is not None and _GIVES_NO_TENSOR.match(ast.unparse(returns).strip("'")) is not None


def tokenizes(function: Function) -> bool:
    """Whether the function makes numbers of text or text of numbers, which no graph does."""
    for node in function.of(ast.Call):
        called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if called.endswith("tokenizer") or (called in _TOKENIZES and isinstance(node.func, ast.Attribute)):
            return True
        if any(keyword.arg in _OF_TOKENIZERS for keyword in node.keywords):
            return True
    return False


def sets_up(function: Function, project: Project) -> bool:
    """Whether a method sets an object up: gives it parameters or settings, or is called only by what does."""
    cls, name = function.cls, function.node.name
    if cls is None or not function.parameters:
        return False
    if _sets(name) and any(
        isinstance(node.ctx, ast.Store) and _is_instance(node.value, function) for node in function.of(ast.Attribute)
    ):
        return True
    if project.is_module_class(cls) and (
        any(_registers(node, function) for node in function.of(ast.Call))
        or any(_makes_parameter(node, function) for node in function.of(ast.Assign))
    ):
        return True
    if _makes_another(function) and project.is_module_class(cls):
        return True
    if name.startswith("__") or (not name.startswith("_") and not _is_of_its_file(function, project)):
        return False
    others = (method for method in cls.methods.values() if method is not function)
    readers = [method for method in others if any(node.attr == name for node in method.of(ast.Attribute))]
    return bool(readers) and all(_sets(method.node.name) and not _keeps(name, method) for method in readers)


def _makes_another(function: Function) -> bool:
    """Whether a class method makes an object of its class: `return cls(...)`."""
    if "classmethod" not in function.decorators:
        return False
    maker = function.parameters[0].arg
    return any(isinstance(node.func, ast.Name) and node.func.id == maker for node in function.of(ast.Call))


def _is_of_its_file(function: Function, project: Project) -> bool:
    """Whether a method gives its object something, and no other file names it."""
    gives = any(
        isinstance(node.ctx, ast.Store) and _is_instance(node.value, function) for node in function.of(ast.Attribute)
    )
    return gives and project.modules.texts.mentioning(function.node.name) == (function.module.name,)


def _keeps(name: str, method: Function) -> bool:
    """Whether a method keeps another one of its object for later: `self.update = self._update_dense`."""
    for node in method.of(ast.Assign):
        pending: list[ast.AST] = [node.value]
        while pending:
            part = pending.pop()
            if isinstance(part, ast.Attribute) and part.attr == name:
                return True
            if not isinstance(part, ast.Call | ast.Attribute):
                pending.extend(children(part))
    return False


def keeps_batch(function: Function, project: Project) -> bool:
    """Whether a method of what holds models brings a batch to the device and keeps it: `self.x = data["x"].to(...)`."""
    if function.cls is None or project.is_module_class(function.cls):
        return False
    given = {parameter.arg for parameter in function.parameters[1:]}
    return any(
        isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Attribute)
        and statement.value.func.attr in ("to", "cuda")
        and isinstance(item := statement.value.func.value, ast.Subscript)
        and isinstance(item.value, ast.Name)
        and item.value.id in given
        and any(isinstance(t, ast.Attribute) and _is_instance(t.value, function) for t in statement.targets)
        for statement in function.of(ast.Assign)
    )


def works_on_arrays(function: Function) -> bool:
    """Whether all tensors that a function is given become arrays first, and nothing of torch is called beside that.

    And whether it asks one for what arrays have and tensors have not (`x.astype(float)`), without asking what it is.
    """
    given = {p.arg for p in function.parameters[int(function.cls is not None and not function.is_static) :]}
    if "numpy" not in function.module.packages or not given:
        return False
    methods = [node.func for node in function.of(ast.Call) if isinstance(node.func, ast.Attribute)]
    arrays = [m for m in methods if m.attr in _OF_ARRAYS and isinstance(m.value, ast.Name) and m.value.id in given]
    if arrays and not any(_asks_for_type(node) for node in function.of(ast.Call)):
        return True
    turned = {name for m in methods if m.attr == "numpy" and (name := _named(m.value)) in given}
    tensors = {p.arg for p in function.parameters if p.annotation is not None and "Tensor" in ast.unparse(p.annotation)}
    return bool(turned) and tensors <= turned and not any(name.startswith("torch.") for name in function.called_names)


def _named(node: ast.expr) -> str | None:
    """The name that an expression begins with: `x` of `x.detach().cpu()`."""
    while isinstance(node, ast.Attribute | ast.Call):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node.id if isinstance(node, ast.Name) else None


def _asks_for_type(node: ast.Call) -> bool:
    return ast.unparse(node.func).rpartition(".")[2] in ("isinstance", "is_tensor", "is_numpy_array")


def _sets(name: str) -> bool:
    return name in _MAKES or name.startswith(_SETTING)


def _registers(node: ast.Call, function: Function) -> bool:
    func = node.func
    return isinstance(func, ast.Attribute) and func.attr in _REGISTERS and _is_instance(func.value, function)


def _makes_parameter(node: ast.Assign, function: Function) -> bool:
    made = isinstance(node.value, ast.Call) and function.module.qualified(node.value.func)
    return made in ("torch.nn.Parameter", "torch.nn.parameter.Parameter") and any(
        isinstance(target, ast.Attribute) and _is_instance(target.value, function) for target in node.targets
    )


def reaches_outside(function: Function, project: Project) -> bool:
    """Whether the function opens files, or calls a package that shows or keeps things."""
    if opens_files(function):
        return True
    module = function.module
    outside = {name for name in _OUTSIDE_PACKAGES & module.packages if name not in project.modules}
    called = ((module.qualified(node.func) or "") for node in function.of(ast.Call)) if outside else ()
    return any(name.partition(".")[0] in outside and not name.startswith("sklearn.utils.") for name in called)
