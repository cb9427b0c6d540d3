"""The groups of parameters of an optimizer: `torch.optim.Optimizer` takes nothing but tensors for `group["params"]`."""

from __future__ import annotations

from compilefix.analysis import values
from compilefix.analysis.leaves import ANY_LEAF
from compilefix.analysis.values import ANY_MEMORY, CONTAINER, Value, replace, tensor
from compilefix.source.definitions import Class
from compilefix.source.project import Project

_GROUP = "torch.optim.Optimizer.param_groups"
_ANYWHERE = frozenset({ANY_MEMORY})

PARAM_GROUPS = Value(CONTAINER, element=replace(values.UNKNOWN, ref=_GROUP), storage=_ANYWHERE)
"""What `self.param_groups` holds: dictionaries, of which the items but one are not known."""
_PARAMETERS = Value(
    CONTAINER,
    element=replace(tensor(storage=_ANYWHERE, leaves=frozenset({ANY_LEAF})), origin=True),
    storage=_ANYWHERE,
)


def keeps_groups(cls: Class, project: Project) -> bool:
    """Whether a class inherits an optimizer of torch, which checks what its groups hold."""
    return any(isinstance(base, str) and base.startswith("torch.optim.") for base in project.ancestors(cls))


def item_of_group(group: Value, index: Value) -> Value | None:
    """The parameters in a group; None for any other item, or of anything else."""
    listed = group.is_unknown and group.ref == _GROUP and index.const is not None and index.const.value == "params"
    return _PARAMETERS if listed else None
