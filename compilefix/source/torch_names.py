"""The public name of a class of torch that is imported from the module which defines it."""

from __future__ import annotations

import re

_DEFINED_IN = re.compile(
    r"torch\.(?P<package>nn(?=\.(?:modules|parameter)\.)|autograd(?=\.(?:function|variable)\.(?:Function|Variable)$)"
    r"|optim(?!\.lr_scheduler|\.swa_utils)|distributions(?!\.constraint|\.relaxed_|\.utils))"
    r"(?:\.[a-z_]\w*){1,2}\.(?P<cls>[A-Z]\w*)"
)


def public_name(name: str) -> str:
    """`torch.nn.LSTM` for `torch.nn.modules.rnn.LSTM`, and the like; any other name as it is."""
    if not name.startswith("torch."):
        return name
    found = _DEFINED_IN.fullmatch(name)
    return f"torch.{found['package']}.{found['cls']}" if found is not None else name
