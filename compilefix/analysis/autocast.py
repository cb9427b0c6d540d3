"""What `torch.autocast`, switched on here or by a caller, does to the dtype of results.

Whether it is on stands in no function: training loops switch it on round the whole model. Results of matrix
multiplications then have the lower precision, those of exponentials, sums and norms float32, on some devices. So such a
result has the dtype of its argument only without autocast; two results of the same operation on tensors of one dtype
have the same dtype in any case.
"""

from __future__ import annotations

from typing import Final

_LOWER: Final = "lower precision"
"""Its operations give one dtype on every device, also one after another."""

_LOWER_OPERATIONS: Final = frozenset(
    """
    addbmm addmm addmv addr baddbmm bilinear bmm chain_matmul conv1d conv2d conv3d conv_transpose1d conv_transpose2d
    conv_transpose3d einsum linear matmul mm multi_dot mv prelu scaled_dot_product_attention vecdot __matmul__
    """.split()  # noqa: SIM905 (a table)
)
_OTHER_OPERATIONS: Final = frozenset(
    """
    __pow__ __rpow__ __rtruediv__ acos addcdiv addcmul arccos arcsin asin atan2 cdist cosh cosine_similarity cross
    cumprod cumsum dist dot erfinv exp expm1 float_power frobenius_norm grid_sample group_norm index_put interpolate
    layer_norm log log10 log1p log2 log_softmax logsumexp matrix_norm norm normalize nuclear_norm pdist pow prod
    quantile reciprocal renorm rms_norm rsqrt scatter_add sinh softmax softmin softplus sum tan tensordot upsample
    vector_norm
    """.split()  # noqa: SIM905
)
_LOWER_MODULES: Final = ("Linear", "Conv", "PReLU", "Bilinear")
_KEEPING_MODULES: Final = (
    *("Dropout", "BatchNorm", "InstanceNorm", "Pool", "Pad", "Identity", "Flatten", "Unflatten", "Shuffle", "ReLU"),
    *("GELU", "SiLU", "ELU", "CELU", "GLU", "Mish", "Tanh", "Sigmoid", "sigmoid", "swish", "tanh", "Softsign"),
    *("Threshold", "shrink", "Fold", "Unfold"),
)

_HARMLESS: Final = frozenset({"no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "record_function"})


def of_operation(dtype_id: str, operation: str, region: str) -> str:
    """The id of the dtype that a function, method or operator gives for a tensor of this one."""
    if operation in _LOWER_OPERATIONS:
        return _with(dtype_id, _LOWER, region)
    return _with(dtype_id, operation, region) if operation in _OTHER_OPERATIONS else dtype_id


def of_module(dtype_id: str, kind: str, region: str) -> str:
    """The id of the dtype that a module of this class of `torch.nn` gives for a tensor of this one."""
    if "PReLU" not in kind and any(part in kind for part in _KEEPING_MODULES):
        return dtype_id
    return _with(dtype_id, _LOWER if any(part in kind for part in _LOWER_MODULES) else kind, region)


def may_switch(called: str) -> bool:
    """Whether a `with` block of what is called by this name may switch autocast on or off; "" is not known."""
    return called.rpartition(".")[2] not in _HARMLESS


def _with(dtype_id: str, group: str, region: str) -> str:
    if dtype_id == "float64" or (dtype_id == "float32" and group != _LOWER):
        return dtype_id  # autocast leaves double precision as it is, and what is float32 already
    ending = f" as {group}{region}"
    if group == _LOWER:
        # What went before does not matter: the lower precision is given to tensors of float32 as well.
        head, *steps = dtype_id.split(" as ")
        while steps and steps[-1].endswith(region) and ("@" in steps[-1]) == bool(region):
            steps.pop()
        dtype_id = " as ".join((head, *steps))
    return dtype_id if dtype_id.endswith(ending) else dtype_id + ending
