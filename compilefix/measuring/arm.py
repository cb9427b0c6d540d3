"""One arm at work: calls the target, eager or compiled, and looks at everything that a call can change."""

from __future__ import annotations

import contextlib
import functools
import importlib
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from compilefix.measuring.ranks import local_rank
from compilefix.measuring.request import Options, Trains, WorkerRequest, WorkloadError
from compilefix.measuring.slots import join
from compilefix.measuring.snapshot import Node, freeze, same_node, same_tensor, without_tensors
from compilefix.measuring.state import ProgramState
from compilefix.measuring.workload import InputSet, Workload, tensors_in

_NO_GRAPH = ("does not require grad", "Trying to backward through the graph a second time")


@dataclass
class Arm:
    """A target that is ready to be called.

    `call` is what is called: the target, or its compiled form. `state` is what a call can change.
    `with_grad` says whether calls are made with gradients on; `trains` is learned from the first call.
    """

    call: Callable[..., Any]
    workload: Workload
    state: ProgramState
    device: torch.device
    with_grad: bool
    cudagraphs: bool
    trains: Trains = "no"

    @property
    def modules(self) -> dict[str, torch.nn.Module]:
        """The modules that the target works with, by name."""
        return self.state.modules

    def run(self, inputs: InputSet) -> Any:
        """Calls the target once."""
        if self.cudagraphs:
            # Tells CUDA graphs that the last call's outputs are no longer needed, as a training loop would.
            torch.compiler.cudagraph_mark_step_begin()
        with contextlib.nullcontext() if self.with_grad else torch.no_grad():
            return self.call(*inputs.args, **inputs.kwargs)

    def backward(self, outputs: Any) -> bool:
        """Runs the backward pass over the weighted sum of all outputs that carry gradients; False if none does."""
        leaves = [
            tensor for _, tensor in output_tensors(outputs) if tensor.requires_grad and tensor.is_floating_point()
        ]
        if not leaves:
            return False
        torch.autograd.backward(leaves, [_weights(tensor) for tensor in leaves])
        return True

    def clear_gradients(self) -> None:
        """Sets all gradients of the modules to None."""
        for module in self.modules.values():
            module.zero_grad(set_to_none=True)

    def gradients(self, inputs: InputSet) -> dict[str, Node]:
        """Gradients of parameters and of inputs, None where there is none."""
        found: dict[str, Node] = {}
        for owner, module in self.modules.items():
            for name, parameter in module.named_parameters():
                if parameter.requires_grad or parameter.grad is not None:
                    found[join(owner, name)] = freeze(parameter.grad)
        for place, tensor in inputs.tensors():
            if tensor.requires_grad and tensor.is_leaf:
                found[place] = freeze(tensor.grad)
        return found

    def synchronize(self) -> None:
        """Waits for the device, so that a late error belongs to the call that caused it."""
        if self.device.type == "cuda":
            torch.cuda.synchronize(self.device)


def resolve_device(name: str) -> torch.device:
    """The device for an option value; in a job of several ranks each gets one of its own.

    Raises WorkloadError when CUDA is asked for and not there.
    """
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    number = local_rank()
    if name == "cuda" and number is not None and number < torch.cuda.device_count():
        name = f"cuda:{number}"
    if name.startswith("cuda") and not torch.cuda.is_available():
        raise WorkloadError(f"device {name!r} was asked for, but torch {torch.__version__} sees no CUDA device here")
    return torch.device(name)


def _helper(name: str) -> ModuleType:
    """The helper module that the workload's code has imported, perhaps through a package whose name was not known."""
    loaded = (module for known, module in sys.modules.items() if known == name or known.endswith(f".{name}"))
    return next(loaded, None) or importlib.import_module(name)


def prepare(request: WorkerRequest, workload: Workload, device: torch.device) -> Arm:
    """The arm for a request. The original is returned uncompiled when the request is for an eager arm."""
    served = frozenset(str(path) for path, _ in request.overlay.sources)
    state = ProgramState(workload.target, served)
    call = workload.target
    if request.compiled and not workload.compiles_itself:
        call = compiler(request)(call)
    if request.compiled and request.boundary is not None:
        call = _helper(request.boundary).boundary(call)
    return Arm(
        call=call,
        workload=workload,
        state=state,
        device=device,
        with_grad=_with_grad(request.options, workload, state.modules),
        cudagraphs=request.compiled
        and device.type == "cuda"
        and request.options.mode in ("reduce-overhead", "max-autotune"),
    )


def compiler(request: WorkerRequest) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """`torch.compile` as the request wants it; for an eager arm, what leaves a callable as it is."""
    options = request.options
    if not request.compiled:
        return lambda target: target
    mode = options.mode if options.backend == "inductor" and options.mode != "default" else None
    return functools.partial(torch.compile, backend=options.backend, mode=mode)


def seed_everything(seed: int) -> None:
    """Seeds `random`, NumPy when the program uses it, and torch on every device."""
    random.seed(seed)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(seed % 2**32)
    if not torch.accelerator.is_available():  # asking 2.6 for the device itself raises where there is none
        # Without any other device: `torch.manual_seed` formats the whole stack for each that might still start.
        torch.default_generator.manual_seed(seed)
    else:
        torch.manual_seed(seed)


def without_graph(error: BaseException) -> bool:
    """Whether a backward pass failed only because the callable has done its own."""
    return isinstance(error, RuntimeError) and any(text in str(error) for text in _NO_GRAPH)


def output_tensors(outputs: Any) -> Iterator[tuple[str, torch.Tensor]]:
    """The tensors of an output, also those in dataclasses."""
    if not isinstance(outputs, (torch.Tensor, list, tuple, dict)) and hasattr(outputs, "__dataclass_fields__"):
        outputs = {name: getattr(outputs, name) for name in outputs.__dataclass_fields__}
    return tensors_in(outputs, "output")


def changed_inputs(before: InputSet, after: InputSet) -> dict[str, Node]:
    """What a call changed of its arguments, as it is after it: tensors, and what lists, dicts and objects hold."""
    old = dict(before.tensors())
    found = {
        place: freeze(tensor)
        for place, tensor in after.tensors()
        if place not in old
        or old[place].requires_grad != tensor.requires_grad
        or not same_tensor(old[place].detach(), tensor.detach())
    }
    given = dict(_arguments(before))
    for place, value in _arguments(after):
        if not isinstance(value, torch.Tensor):
            node = freeze(value)
            if not same_node(without_tensors(freeze(given[place])), without_tensors(node)):
                found[place] = node
    return found


def _arguments(inputs: InputSet) -> Iterator[tuple[str, Any]]:
    for index, value in enumerate(inputs.args):
        yield f"args[{index}]", value
    for name, value in inputs.kwargs.items():
        yield f"kwargs[{name!r}]", value


def _with_grad(options: Options, workload: Workload, modules: dict[str, torch.nn.Module]) -> bool:
    if options.training is not None:
        return options.training
    if any(tensor.requires_grad for inputs in workload.input_sets for _, tensor in inputs.tensors()):
        return True
    target = workload.target
    if isinstance(target, torch.nn.Module):
        return target.training and any(parameter.requires_grad for parameter in target.parameters())
    return any(module.training and any(p.requires_grad for p in module.parameters()) for module in modules.values())


def _weights(tensor: torch.Tensor) -> torch.Tensor:
    # Ones would hide mistakes: behind a layer norm or a softmax the gradient of a plain sum is rounding noise. These
    # weights are the same in every arm, need no random numbers and cost little to make.
    if tensor.dim() == 0:
        return torch.ones_like(tensor)
    steps = torch.arange(tensor.numel(), device=tensor.device, dtype=torch.float32)
    return torch.cos(steps).reshape(tensor.shape).to(tensor.dtype)
