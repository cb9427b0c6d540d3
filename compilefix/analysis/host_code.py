"""Code round the model: it feeds it, drives it, exports it, tests it or shows what it gave.

In a library every function on tensors counts as compiled, since its users may compile it. Data sets, training loops,
exporters and plots take tensors too, and nobody compiles these. What compiled code calls runs compiled all the same.
"""

from __future__ import annotations

import ast
import re

from compilefix.analysis.docstrings import gives_tensor, tensor_parameters
from compilefix.analysis.host_acts import (
    HANDLES,
    brings_to_files,
    calls_one_of,
    draws_pictures,
    drives,
    gives_no_tensor,
    handles_models,
    keeps_batch,
    opens_files,
    prepares,
    reaches_outside,
    sets_up,
    suspends,
    switches,
    tokenizes,
    works_on_arrays,
)
from compilefix.analysis.used_by import stands_in_lambda
from compilefix.source.definitions import Class, Function
from compilefix.source.module import Module
from compilefix.source.project import Project
from compilefix.source.tree import walk

_DATA_SETS = "torch.utils.data."

_DATA_BASES = (
    _DATA_SETS,
    "unittest.",
    "argparse.",
    "logging.",
    "threading.",
    "torchvision.datasets.",
    "ase.",
    "sklearn.",
)
"""What begins the names of classes whose objects hand out data, test, log or run beside the model."""

_SIMULATORS = ("torch_sim.", "ase.")
"""What begins the names of classes by which a simulator calls a model: the model is compiled, and not these."""

_SESSIONS = frozenset({"onnxruntime.InferenceSession", "tensorrt.Runtime", "openvino.Core", "openvino.runtime.Core"})
"""What makes what runs a model of another framework."""

_DATA_NAMES = re.compile(
    r"(Dataset|Datasets|DataModule|DataLoader|DataParser|Dataparser|Logger|Writer|Reporter|Exporter|Visuali[sz]er"
    r"|Plotter|Profiler|Callback|TestCase|Collator|Tokenizer|Trainer|Validator|Evaluator|Predictor|Pipeline|PipelineBlocks?)"
    r"(Base|Interface|Mixin)?$"
)
"""What ends the names of classes, and of their bases, whose objects do the same, or hold models and drive them.

Of a pipeline or trainer users compile the models that it holds, which get their tensors from it.
"""

_SAMPLES = re.compile(
    r"(Dataset|Datasets|DataModule|DataLoader|DataParser|Dataparser|Collator|Tokenizer)(Base|Interface|Mixin)?$"
    r"|((Image|Video)Processor|FeatureExtractor)(Fast|Pil|Base|Mixin)?$"
)
"""What ends the names of classes that hand out data, or prepare it."""

_SHOWS_OR_KEEPS = re.compile(
    r"plot|visuali|imshow|show(_|$)|collate|save_|export_|print_|load_from_|log_(image|video|audio|figure|histogram|metric|record)"
    r"|load_(data|file|image|audio|video|model|weight|checkpoint|ckpt|pretrained|config)"
)
"""How functions are called that show, keep or load something; `draw` and `load` alone mean other things too."""

_FILES = re.compile(
    r"(save|dump|load)_(data|file|image|audio|video|model|weight|checkpoint|ckpt|pretrained|config|table)|from_pretrained$"
)
"""How functions are called that bring something to or from a file."""

_ASSERTS_OR_CONVERTS = re.compile(
    r"assert(_|[A-Z])|(train|fit)$|(to|as)_(json|yaml|csv|pandas|dataframe|pil)|as_?dict$|.*state_dict|.*human_readable"
)
"""How functions are called that train or test, or make texts, tables and other states of what they are given."""

_CONVERTS = re.compile(r"(?:to|from|as)_(\w+)$")
"""How functions are called that make the objects of another package, or something of these: `to_networkx`."""

_FILLS = re.compile(r"init_|.*_init_?$|.*(normal|uniform|orthogonal)_$")
"""How functions are called that may fill the parameters of a new layer."""

_HOOK = re.compile(
    r"on_(train|validation|test|predict|fit|sanity_check|exception|save|load|before|after|epoch|step|batch)(_|$)"
    r"|(prepare_inputs_for_generation|reorder_cache|update_model_kwargs_for_generation)$"
)
"""How the methods are called that a trainer, or a loop that generates, runs round the steps of a model."""

_TRAINS = re.compile(r"(Trainer|Learner)(Base|Interface|Mixin)?$")
"""What ends the names of classes that train a model that they hold, where they do: some are modules themselves."""

_EXPORTS = frozenset({"export", "exporter", "exporters", "deploy", "deployment", "onnx", "tensorrt", "trt"})
"""Folders and files of a package that bring models to another framework."""

_BESIDE = _EXPORTS | frozenset(
    {"test", "tests", "unittests", "unit_tests", "testing", "_testing", "testing_utils", "benchmark", "benchmarks"}
    | {"dataset", "datasets", "dataparsers", "visualization", "visualisation"}
    | {"cli", "commands", "dataloader", "dataloaders"}
)
"""Folders and files of a package that hold no model."""

_FEEDS = re.compile(r"loader$|dataset$|tokenizer$|^(trainer|writer|summary_writer|logger|tb_logger)$")
"""What the parameters are called that hand out the data of a whole run, take its results, or make numbers of text."""

_GIVEN = ("pathlib.", "PIL.", "pandas.", "ase.", "pymatgen.", "rdkit.", "networkx.")
"""What begins the types of arguments that stand for files, pictures, tables, molecules or graphs of the host."""

_CONTENTS = re.compile(r"\b(bytes|bytearray|BytesIO)\b")
"""Annotations of what a file holds."""

_TEXTS = re.compile(r"\b[Dd]ict\[int, (str|[Ll]ist\[str\])\]")
"""Annotations of what tells the names of numbers: results become texts."""

_ARRAYS = re.compile(r"\bndarray\b|\bNDArray\b")

_ASKS = frozenset({"all", "allclose", "assert_close", "assert_allclose", "assert_almost_equal", "array_equal"})
"""What a test asks of results."""

_PROGRAMS = frozenset({"gradio", "streamlit", "flask", "fastapi", "uvicorn", "tkinter", "pygame", "glfw", "imgui"})
"""Packages that show windows and pages: a file that imports one is a program."""

_TRACES = frozenset({"torch.jit.trace", "torch.jit.script"})


def is_host_code(function: Function, project: Project) -> bool:
    """Whether nobody compiles a function by itself, whatever it does with tensors.

    It drives compiled code from outside (it compiles, steps an optimiser, saves what it gets), belongs to a data set,
    to a test or to an object that keeps or shows results, or is a generator or coroutine, whose frames Dynamo leaves
    to Python.
    """
    return _is_so_itself(function, project) or _serves(function, project)


def shows_or_keeps(function: Function, project: Project) -> bool:
    """Whether the function shows something, or brings it to or from a file: so does what calls it."""
    if function.cls is not None and project.is_module_class(function.cls) and function.node.name == "forward":
        return False
    name = function.node.name.lstrip("_")
    named = _SHOWS_OR_KEEPS.match(name) is not None and not name.startswith("collate")  # models collate results too
    return named or reaches_outside(function, project) or calls_one_of(function, HANDLES - _TRACES)


def handles_files(function: Function, project: Project) -> bool:
    """Whether the function brings something to or from a file, by its name or by what it calls."""
    if function.cls is not None and project.is_module_class(function.cls) and function.node.name == "forward":
        return False
    named = _FILES.match(function.node.name.lstrip("_")) is not None
    return named or opens_files(function) or brings_to_files(function)


def _is_so_itself(function: Function, project: Project) -> bool:
    return (
        _is_called_so(function)
        or any(_feeds(parameter, function.module) for parameter in function.parameters)
        or _is_beside_the_model(function.module)
        or (
            _is_in_data_folder(function.module, project)
            and not says_tensors(function)
            and not (function.cls is not None and _is_of_models(function.cls, project))
        )
        or drives(function)
        or prepares(function)
        or handles_models(function)
        or reaches_outside(function, project)
        or suspends(function, project)
        or draws_pictures(function)
        or tokenizes(function)
        or gives_no_tensor(function)
        or sets_up(function, project)
        or keeps_batch(function, project)
        or works_on_arrays(function)
        or _is_test(function)
        or (function.cls is not None and _is_host_class(function.cls, project))
    )


def _is_called_so(function: Function) -> bool:
    """Whether the name of a function says that it shows, keeps, converts or tests something, or fills parameters."""
    name = function.node.name.lstrip("_")
    if _SHOWS_OR_KEEPS.match(name) is not None or _ASSERTS_OR_CONVERTS.match(name) is not None:
        return True
    converts = _CONVERTS.match(name)
    others = function.module.packages - {"torch"}
    if converts is not None and any(f"{converts[1]}_".startswith(f"{package}_") for package in others):
        return True
    if function.cls is not None:
        return _HOOK.match(name) is not None
    return _FILLS.match(name) is not None and any(
        ast.unparse(node.func).endswith("_") for node in function.of(ast.Call)
    )


def _feeds(parameter: ast.arg, module: Module) -> bool:
    """Whether a parameter hands out the data of a whole run or takes its results, or is a path, names or a state."""
    if parameter.arg.endswith("state_dict"):
        return True
    if parameter.annotation is None:
        return _FEEDS.search(parameter.arg) is not None
    declared = ast.unparse(parameter.annotation)
    if (
        "Path" in declared
        or _TEXTS.search(declared)
        or _CONTENTS.search(declared)
        or (module.qualified(parameter.annotation) or "").startswith(_GIVEN)
    ):
        return True
    return "Tensor" not in declared and _FEEDS.search(parameter.arg) is not None


def _serves(function: Function, project: Project) -> bool:
    """Whether a function is used in its file by code round the model only.

    Of one that others may use as well, as its name says, these are to show, keep or feed: what is compiled is often
    called by a training loop alone.
    """
    name = function.node.name
    if function.cls is not None or function.parent is not None:
        return False
    others = (other for other in function.module.naming(name) if other is not function)
    callers = [other for other in others if any(read.id == name for read in other.of(ast.Name))]
    if name.startswith("_"):
        host = bool(callers) and all(_is_so_itself(caller, project) for caller in callers)
        return host and not any(stands_in_lambda(name, caller) for caller in callers)
    return bool(callers) and all(_shows_or_feeds(caller, project) for caller in callers)


def _shows_or_feeds(function: Function, project: Project) -> bool:
    return shows_or_keeps(function, project) or (function.cls is not None and feeds_or_tests(function.cls, project))


def _is_test(function: Function) -> bool:
    """Whether a function asserts that results are close that it makes itself: it is given no tensor to check.

    What gives something back checks its own work on the way to it.
    """
    calls = [n for n in function.of(ast.Call) if isinstance(n.func, ast.Attribute) and n.func.attr in _ASKS]
    if not calls or any(node.value is not None for node in function.of(ast.Return)):
        return False
    if any("Tensor" in ast.unparse(p.annotation) for p in function.parameters if p.annotation):
        return False
    given = {p.arg for p in function.parameters[int(function.cls is not None and not function.is_static) :]}
    asserted = {part for node in function.of(ast.Assert) for part in walk(node.test)}
    for call in calls:
        name = ast.unparse(call.func).rpartition(".")[2]
        if not (name.startswith("assert_") or (call in asserted and (name != "all" or _draws(function)))):
            continue
        names = {part.id for argument in call.args for part in walk(argument) if isinstance(part, ast.Name)}
        if given.isdisjoint(names):
            return True
    return False


def _draws(function: Function) -> bool:
    """Whether a function makes a random tensor."""
    return calls_one_of(function, ("torch.rand", "torch.randn", "torch.randint"))


def _is_beside_the_model(module: Module) -> bool:
    """Whether a file holds tests, data sets or exporters, or stands in a folder of these."""
    packages, last = module.file.packages, module.file.module.rpartition(".")[2]
    beside = not _BESIDE.isdisjoint(packages) or (bool(packages) and (last in _BESIDE or last.endswith("_dataset")))
    return beside or is_test_file(module) or _is_program(module) or _holds_data_sets(module)


def _prepares_data(module: Module, project: Project) -> bool:
    return _is_beside_the_model(module) or _is_in_data_folder(module, project)


def _is_in_data_folder(module: Module, project: Project) -> bool:
    """Whether a file stands in a folder `data` and holds no module: rotations, fields, what else is computed."""
    return "data" in module.file.packages and not any(map(project.is_module_class, module.classes.values()))


def _is_of_models(cls: Class, project: Project) -> bool:
    """Whether files with modules name a class that stands in a folder `data`: a graph, a mesh, what models compute on.

    Read from the texts: a class of a file by itself, or of data sets alone, no model names.
    """
    naming = project.modules.texts.matching(cls.node.name, r"^class \w+\(.*\bModule\b")
    return any("data" not in name.split(".") for name in naming) and not hands_out_data(cls, project)


def says_tensors(function: Function) -> bool:
    """Whether a function that anybody may call says itself that it takes a tensor and gives one.

    By its annotations, or by its docstring where these say nothing.
    """
    if function.cls is not None or function.parent is not None or function.node.name.startswith("_"):
        return False
    declared = [ast.unparse(p.annotation) for p in function.parameters if p.annotation is not None]
    takes = any("Tensor" in text for text in declared) or bool(tensor_parameters(function))
    if not takes:
        return False
    returns = function.node.returns
    return "Tensor" in ast.unparse(returns) if returns is not None else gives_tensor(function)


def stands_with_the_data(module: Module) -> bool:
    """Whether a file stands in a folder of data sets, or of data: modules in it may be for these alone."""
    folders = module.file.packages
    return not {"data", *_BESIDE}.isdisjoint(folders) or any(folder.endswith("_datasets") for folder in folders)


def is_for_another_framework(cls: Class, project: Project) -> bool:
    """Whether a module, or a derivative, is there to be exported, or works with another framework or a simulator.

    `symbolic` is what the exporter to ONNX asks a function for: one without a derivative is there for it alone. A
    module that makes the session of another framework runs that beside the models that it holds, which users compile.
    """
    module = cls.module
    name = module.file.module.rpartition(".")[2]
    exports = not _EXPORTS.isdisjoint((*module.file.packages, name)) or name.endswith(("_onnx", "_trt"))
    if exports or any(isinstance(base, str) and base.startswith(_SIMULATORS) for base in project.ancestors(cls)):
        return True
    init = cls.methods.get("__init__")
    if init is not None and not _SESSIONS.isdisjoint(init.called_names):
        return True
    return project.is_autograd_function(cls) and "symbolic" in cls.methods and "backward" not in cls.methods


def makes_pictures(method: Function) -> bool:
    """Whether a `forward` makes pictures or files of results on the host, as what follows a model does."""
    return draws_pictures(method)


def is_test_file(module: Module) -> bool:
    """Whether a file holds tests, by its name."""
    return is_name_of_tests(module.name.rpartition(".")[2])


def is_name_of_tests(name: str) -> bool:
    """Whether a file is called as those with tests are."""
    return name.startswith("test_") or name.endswith("_test") or name == "conftest"


def _holds_data_sets(module: Module) -> bool:
    """Whether a file defines data sets and no module, and trains none: what stands beside them prepares the data.

    A sampler gives numbers of rows, and tells nothing of what stands beside it.
    """
    bases = [base for cls in module.classes.values() for base in cls.bases]
    of_data = (base for base in bases if base.startswith(_DATA_SETS) and not base.endswith("Sampler"))
    if not any(of_data) or any(base.startswith("torch.nn.") for base in bases):
        return False
    return not any(map(_trains_a_model, module.all_functions))


def _trains_a_model(function: Function) -> bool:
    return any(node.attr in ("backward", "zero_grad") for node in function.of(ast.Attribute))


def _is_program(module: Module) -> bool:
    return not module.packages.isdisjoint(_PROGRAMS)


def _is_host_class(cls: Class, project: Project) -> bool:
    """Whether objects of a class hand out data, test, or show or keep results."""
    if feeds_or_tests(cls, project) or trains(cls, project):
        return True
    # A module may have a method that exports it, an optimiser one that loads it, and a metric one that loads a model.
    bases = [base for base in project.ancestors(cls) if isinstance(base, str)]
    if project.is_module_class(cls) or any(
        b.startswith("torch.") or b.endswith((".Metric", ".BaseMetric")) for b in bases
    ):
        return False
    # A graph that has a method to draw it is one to compute on.
    others = [method for method in cls.methods.values() if not _is_called_so(method)]
    if any(reaches_outside(method, project) or tokenizes(method) for method in others):
        return True
    classes = [cls, *(base for base in project.ancestors(cls) if not isinstance(base, str))]
    methods = [method for one in classes for method in one.methods.values()]
    return any(map(brings_to_files, methods)) and any(map(_runs_a_model, methods))


def _runs_a_model(function: Function) -> bool:
    """Whether a function switches a model to evaluation, or makes an optimiser."""
    return switches(function) or calls_one_of(function, (), ("torch.optim.",))


def feeds_or_tests(cls: Class, project: Project) -> bool:
    """Whether objects of a class hand out data, test, log, or run beside the model, by its name or its bases."""
    names = [base if isinstance(base, str) else base.node.name for base in project.ancestors(cls)]
    if any(name.startswith(_DATA_BASES) for name in names):
        return True
    return any(_DATA_NAMES.search(name) for name in (cls.node.name, *names)) and not project.is_module_class(cls)


def hands_out_data(cls: Class, project: Project) -> bool:
    """Whether objects of a class hand out data, by its name or its bases."""
    names = [base if isinstance(base, str) else base.node.name for base in project.ancestors(cls)]
    return any(name.startswith(_DATA_SETS) or _SAMPLES.search(name) for name in (cls.node.name, *names))


def trains(cls: Class, project: Project) -> bool:
    """Whether a module trains a model that it holds, by its name and by what one of its methods does."""
    if not _TRAINS.search(cls.node.name) or not project.is_module_class(cls):
        return False
    classes = [cls, *(base for base in project.ancestors(cls) if not isinstance(base, str))]
    return any(drives(method) for one in classes for method in one.methods.values())


def takes_arrays(function: Function, project: Project) -> bool:
    """Whether a method is given NumPy arrays and no tensor: it makes tensors of them for the models that it holds.

    Or a sample with all that belongs to it, by what prepares data.
    """
    declared = [ast.unparse(p.annotation) for p in function.parameters[1:] if p.annotation is not None]
    if not declared or any("Tensor" in text for text in declared):
        return False
    sample = declared[0].startswith(("dict", "Dict")) and _prepares_data(function.module, project)
    return sample or _ARRAYS.search(declared[0]) is not None
