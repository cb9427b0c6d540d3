"""What is most likely a tensor, though nothing proves it: reported, and not taken for granted by a fix.

A line that ends in `# BREAK` is to be reported, and no other.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from reporting import HEAD, reported

from compilefix.codemods import registry
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

CASES: Mapping[str, Mapping[str, str]] = {
    "what forward gives to a layer, and what it gives to a method of its own": {
        "pkg/blocks.py": """
            class Block(nn.Module):
                def __init__(self, resolution):
                    super().__init__()
                    self.resolution = resolution
                def mask_of(self, size):
                    h, w = size
                    return torch.zeros(1, h, w, 1)
                def forward(self, x, size):
                    if self.resolution == size:
                        x = x * 2
                    return x * self.mask_of(size)
            class Guided(nn.Module):
                def masks(self, lengths):
                    return torch.stack([torch.ones(n) for n in lengths])  # BREAK
                def forward(self, x, lengths):
                    if lengths[0] > 2:  # BREAK
                        x = x * 2
                    return x * self.masks(lengths)
            class Scaled(nn.Module):
                def __init__(self, layer):
                    super().__init__()
                    self.layer = layer
                def forward(self, x, noise):
                    if (noise > 0).any():  # BREAK
                        x = x * 2
                    return x + self.layer(noise)
        """,
    },
    "what decides a branch has one element, and is read as an index": {
        "pkg/schedule.py": """
            class Schedule(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.alphas = torch.linspace(0, 1, 5)
                def forward(self, x: Tensor, t: Tensor, rows: Tensor):
                    before = self.alphas[t - 1]  # BREAK
                    if t > 0:  # BREAK
                        x = x * before
                    return x * self.alphas[t] + self.alphas[rows]  # BREAK
        """,
    },
    "what stands in the groups of an optimizer": {
        "pkg/steps.py": """
            class Sgd(torch.optim.Optimizer):
                @torch.no_grad()
                def step(self):
                    for group in self.param_groups:
                        for p in group["params"]:
                            if p.grad is None:
                                continue
                            grad, state = p.grad, self.state[p]
                            if p not in self.state or len(state) == 0:
                                state["step"] = 0
                            if group["lr"] > 0 and grad.is_sparse:
                                raise RuntimeError("sparse")
                            if p.sum() > 0:  # BREAK
                                p.mul_(2)
                            if grad > group["lr"]:  # BREAK
                                grad = grad / 2
                            p.add_(grad, alpha=-group["lr"])
        """,
    },
    "zero, to which losses are added": {
        "pkg/summed.py": """
            class Summed(nn.Module):
                def parts(self, x):
                    loss = 0
                    for layer in self.layers():
                        loss += torch.mean(layer(x))
                    return loss
                def forward(self, x):
                    loss = self.parts(x)
                    self.shown = loss.item()  # BREAK
                    return x * 2
            def counted(x: Tensor, n: int):
                count, rows = 0, []
                for i in range(n):
                    count += 1
                    rows.append({"item": x})
                return x * count, rows[0].item
        """,
    },
    "the largest of a tensor or a list": {
        "pkg/labels.py": """
            from typing import List, Union
            def largest(x: Tensor, labels: Union[List[int], Tensor]):
                if max(labels) < 255:
                    return x + 1
                return x
            def largest_of_all(x: Tensor, labels: Tensor):
                if max(labels) < 255:  # BREAK
                    return x + 1
                return x
        """,
    },
    "the type of something, asked for exactly": {
        "pkg/rows.py": """
            def rows(x: Tensor, item):
                if type(item) is int:
                    if item >= x.shape[0]:
                        raise IndexError(item)
                elif type(item) == torch.Tensor:
                    if item.sum() > 0:  # BREAK
                        x = x + 1
                if type(item) is not float and item > 0:  # BREAK
                    x = x - 1
                return x + item
            def total(x: Tensor):
                return rows(x, x[0])
        """,
    },
    "methods of a module that make a tensor and compute with the module": {
        "pkg/sampler.py": """
            import numpy as np
            from tqdm.auto import tqdm
            class Sampler(nn.Module):
                def __init__(self, steps):
                    super().__init__()
                    self.steps = steps
                    self.net = nn.Linear(4, 4)
                def forward(self, x: Tensor):
                    return self.net(x)
                def sample(self, count):
                    x = torch.randn(count, 4)
                    for _ in tqdm(range(self.steps)):  # BREAK
                        x = self(x)
                    return x
                def times(self, count):
                    for time in torch.linspace(0, 1, count).tolist():  # BREAK
                        self.note(time)
                def init_table(self, count):
                    for _ in tqdm(range(count)):
                        self.table = self(torch.zeros(count, 4))
                def show(self, count):
                    for _ in tqdm(range(count)):
                        self.note(np.zeros(3))
        """,
    },
    "what is subtracted from a part of itself": {
        "pkg/packed.py": """
            class Packed(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.net = nn.Linear(4, 4)
                def forward(self, x: Tensor, ends, names, parts):
                    lengths = ends[1:] - ends[:-1]
                    rest = parts[1:] + names[:-1]
                    first = x[: ends[1]]  # BREAK
                    return self.net(first), lengths, rest, x[: parts[0]]
        """,
    },
    "tensors that a module computes at its top level": {
        "pkg/radon.py": """
            ROOT = (2 * torch.ones(1)).sqrt()
            HALF = ROOT / 2
            COUNT = (2 * 3) // 4
            def padded(x: Tensor):
                width = int((ROOT * x.shape[-1]).ceil())  # BREAK
                if HALF > 0.5:  # BREAK
                    width += int(COUNT)
                return x.new_zeros(width)
        """,
    },
    "lists of tensors that a metric collects": {
        "pkg/risk.py": """
            from torchmetrics import Metric
            class Coverage(Metric):
                scores: list[Tensor]
                def __init__(self, limit):
                    super().__init__()
                    self.limit = limit
                    self.add_state("scores", default=[], dist_reduce_fx="cat")
                def update(self, scores: Tensor):
                    self.scores.append(scores)
                def compute(self):
                    rates = torch.cat(self.scores).cumsum(0)
                    places = torch.nonzero(rates <= self.limit)  # BREAK
                    return places[-1]
            class Sampler:
                scores: list[Tensor]
                def __init__(self):
                    self.scores = []
                def keep(self):
                    return torch.nonzero(self.scores[0])
        """,
    },
    "functions that say that they take tensors and give one, whoever uses them": {
        "pkg/trainer/helpers.py": """
            from torch.utils.data import Sampler
            class Repeated(Sampler):
                def __iter__(self):
                    return iter(range(4))
            def lowest(x: Tensor) -> Tensor:
                if torch.isnan(x).all():  # BREAK
                    return x[0]
                return torch.min(x[~torch.isnan(x)])  # BREAK
            def halves(x: Tensor) -> list[Tensor]:
                return [x[x > 0], x[x < 0]]  # BREAK
            def parts(batch: dict[str, Tensor]) -> dict[str, list[Tensor]]:
                return {"x": list(torch.split(batch["x"], batch["sizes"].tolist()))}  # BREAK
            def rows(x, keep: Tensor):
                if keep.any():  # BREAK
                    return x
                return keep
            def _inner(x: Tensor) -> Tensor:
                if x.any():
                    return x
                return x + 1
        """,
        "pkg/trainer/run.py": """
            from pkg.trainer.helpers import lowest, halves, parts, rows, _inner
            class Trainer:
                def compute_loss(self, model, batch):
                    x = model(batch)
                    return lowest(x) + halves(x)[0] + rows(x, x) + _inner(x) + parts({"x": x})["x"][0]
        """,
        "pkg/data/prepared.py": """
            from torch.utils.data import Dataset
            class Prepared(Dataset):
                def __getitem__(self, index):
                    return cropped(self.x[index])
            def cropped(x: Tensor) -> Tensor:
                return x[x > 0]
        """,
    },
    "what a method that shows results computes with": {
        "pkg/scores.py": """
            class Scores:
                def __init__(self, count):
                    self.seen = torch.zeros(count)
                def add(self, rows: Tensor, hits: Tensor):
                    self.seen = self.seen + torch.histc(rows[rows >= 0].float(), 4)  # BREAK
                    return self.recall(hits)
                def recall(self, hits: Tensor) -> float:
                    return hits.sum().item()  # BREAK
        """,
        "pkg/callback.py": """
            from pkg.scores import Scores
            class ScoreCallback:
                def on_validation_end(self, model, batch):
                    scores = Scores(4)
                    return scores.add(model(batch), batch)
        """,
    },
    "what a lambda calls that is kept, and what a method computes of what was collected": {
        "pkg/kappa.py": """
            def _kappa(table: Tensor) -> float:
                if table.sum() == 0:  # BREAK
                    return 0.0
                return 1.0
            def _unused(table: Tensor) -> float:
                return table.sum().item()
            class Kappa:
                def __init__(self):
                    self.compute_by = lambda table: _kappa(table)
            class Errors:
                def reset(self):
                    self.errors = []
                def update(self, batch):
                    self.errors.append(batch)
                def compute(self):
                    return torch.cat(self.errors).mean().item()  # BREAK
                def make_table(self):
                    return torch.cat(self.errors).mean().item()
        """,
        "pkg/other.py": """
            from pkg.kappa import Errors, Kappa
        """,
    },
    "comparisons that become numbers": {
        "pkg/hits.py": """
            def accuracy(found, wanted):
                return found.eq(wanted).float().mean().item()  # BREAK
            def share(scores):
                return (scores > 0.5).long().sum().item()  # BREAK
            def named(found, wanted):
                hits = found == wanted
                return hits.float().mean().item()  # BREAK
            def best(scores, wanted):
                _, found = scores.topk(3, 1, True, True)
                return found.t().sum().item()  # BREAK
            def confident(batch, least=0.0):
                kept = batch["scores"] > least
                if least > 0:
                    return kept.float()
                return batch
            def settings(config, text):
                if config.topk > 3 and (text == "a").bit_count():
                    return config
                return text
        """,
    },
    "what a helper of the project gets for a tensor, and pieces of what is split": {
        "pkg/parts_of.py": """
            def distances(a, b, size):
                parts = []
                for part in b.split(size):
                    parts.append(torch.cdist(a, part))
                return torch.cat(parts, dim=1)
            def recall(a, b, size):
                near = distances(a, a, size).kthvalue(3).values
                far = distances(b, a, size)
                return (far <= near).any(dim=1).float().mean().item()  # BREAK
            def words(text, size):
                found = []
                for part in text.split(size):
                    found.append(len(part))
                if text == "a b":
                    return found
                return found[1:]
            def counted(text, size):
                return words(text, size) or text[1:]
        """,
    },
    "lists and tuples of sizes that have a name, one of which is a tensor": {
        "pkg/shapes.py": """
            def dropped(x: Tensor, batch: Tensor):
                count = batch.max() + 1
                size = [count] + [1] * (x.ndim - 1)
                return torch.empty(size, dtype=x.dtype)  # BREAK
            def ones(x: Tensor, batch: Tensor, rows: int):
                shape = (batch.max() + 1, 1, x.shape[2])
                fixed = (rows, 1, x.shape[2])
                kept = torch.ones(fixed)
                return torch.ones(shape), x.view(*shape), kept  # BREAK
        """,
    },
    "what tells how often rows are repeated": {
        "pkg/repeated.py": """
            def rows(x: Tensor, counts, times):
                index = torch.repeat_interleave(torch.arange(counts.numel()), counts)  # BREAK
                return index, torch.repeat_interleave(x, times)
            def moved(x: Tensor, counts):
                counts = counts.to(x.device)
                return x.repeat_interleave(counts, dim=0)  # BREAK
            def cast(x: Tensor, counts):
                return x.repeat_interleave(counts.to(dtype=torch.long), dim=0)  # BREAK
        """,
    },
    "copies of tensors": {
        "pkg/copied.py": """
            from copy import deepcopy
            def kept(x: Tensor, end: int):
                y = deepcopy(x)  # BREAK
                mask = y.ne(end)
                return y[mask]  # BREAK
        """,
    },
    "buffers that are registered by keywords": {
        "pkg/registered.py": """
            class References(nn.Module):
                def __init__(self, count):
                    super().__init__()
                    self.register_buffer(name="table", tensor=torch.zeros(count))
                    self.register_parameter("weight", param=nn.Parameter(torch.zeros(count)))
                def forward(self, rows: Tensor):
                    found = self.table[rows]
                    if self.weight.sum() > 0:  # BREAK
                        return found
                    return found[found > 0]  # BREAK
        """,
    },
    "items by the annotation of what gives them": {
        "pkg/metric.py": """
            from typing import Iterable, Optional
            import torch.distributed as dist
            class Metric:
                @staticmethod
                def detached(*tensors: Tensor) -> Iterable[Tensor]:
                    return (x.detach() if isinstance(x, Tensor) else x for x in tensors)
                def __call__(self, found: Tensor, wanted: Tensor, mask: Optional[Tensor] = None):
                    found, wanted, mask = self.detached(found, wanted, mask)
                    if mask is None:
                        mask = torch.ones_like(found).bool()
                    right = (found == wanted) & mask
                    if self.together:
                        dist.all_reduce(wanted)
                    return wanted[right].sum() / wanted[mask].sum()  # BREAK
                def gathered(self, found: Tensor):
                    dist.all_reduce(found)
                    return found[found > 0]
        """,
        "pkg/other.py": "",
    },
    "what a class that is no module has for the `__call__` of a base": {
        "pkg/base.py": """
            class Transform:
                def __call__(self, **data):
                    return self.apply(data, **self.parameters(**data))
                def apply(self, data, **given):
                    data["image"] = self.apply_to_image(data["image"], **given)
                    return data
                def parameters(self, **data):
                    return {}
                def described(self, **data):
                    return {}
                def apply_to_image(self, image: Tensor, **given) -> Tensor:
                    raise NotImplementedError
        """,
        "pkg/noise.py": """
            import numpy as np
            from pkg.base import Transform
            class Noise(Transform):
                def __init__(self, p):
                    self.p = p
                def parameters(self, **data):
                    places = torch.where(torch.rand(4) < self.p)[0]  # BREAK
                    return {"places": places, "strength": np.random.uniform(0, 1)}  # BREAK
                def described(self, **data):
                    return {"p": np.random.uniform(0, 1)}
                def apply_to_image(self, image: Tensor, **given) -> Tensor:
                    return image + given["strength"]
            class Names(Transform):
                def parameters(self, **data):
                    return {"name": np.random.choice(["a", "b"])}
        """,
    },
    "a folder of data may have functions that say that they take tensors and give one": {
        "pkg/__init__.py": "",
        "pkg/data/__init__.py": "",
        "pkg/data/noise.py": '''
            def noisy(image, gray=0):
                """Adds noise.

                Args:
                    image (Tensor): Shape (b, c, h, w).
                    gray (float | Tensor): How much of it is gray.

                Returns:
                    (Tensor): The image with noise, shape (b, c, h, w).
                """
                if isinstance(gray, float):
                    is_gray = gray > 0
                else:
                    gray = gray.view(-1, 1, 1, 1)
                    is_gray = torch.sum(gray) > 0
                if is_gray:  # BREAK
                    image = image * gray
                return image
            def cropped(image: Tensor, size: int) -> Tensor:
                if image.sum() > 0:  # BREAK
                    image = image[:size]
                return image
            def sample(image: Tensor, size: int):
                if image.sum() > 0:
                    image = image[:size]
                return {"image": image, "size": size}
        ''',
    },
    "type variables that may stand for a tensor": {
        "pkg/kinds.py": """
            from typing import TypeVar
            from PIL.Image import Image
            ImageT = TypeVar("ImageT", Tensor, Image)
            TensorT = TypeVar("TensorT", bound=Tensor)
            Any = TypeVar("Any")
            Itself = TypeVar("Itself", bound="Itself")
            def given(x: Itself) -> Itself:
                return x if x.mean() > 0 else x * 2
            def lit(image: ImageT) -> ImageT:
                if image.mean() > 0:  # BREAK
                    image = image * 2
                return image
            def bound(x: TensorT) -> TensorT:
                if x.mean() > 0:  # BREAK
                    x = x * 2
                return x
            def anything(x: Any) -> Any:
                if x.mean() > 0:
                    x = x * 2
                return x
        """,
        "pkg/other.py": "",
    },
    "what gradients are computed of, what is called a tensor, and an array that is sorted": {
        "pkg/named.py": """
            import numpy as np
            from sklearn.utils import check_random_state
            from torch import autograd
            def penalty(predicted, image):
                given = autograd.grad(outputs=predicted.sum(), inputs=image, create_graph=True)[0]  # BREAK
                return given.pow(2).sum()
            def power(tensor, gamma):
                if tensor.min() < 0:  # BREAK
                    tensor = tensor.abs()
                return tensor**gamma
            def powers(values, gamma):
                if values.min() < 0:
                    return 0
                return values**gamma
            def kept(x: Tensor):
                return x[sorted(torch.randperm(4)[:2].numpy())]  # BREAK
            def jittered(x: Tensor, rng: np.random.Generator, seed: int):
                x = x + rng.normal(size=x.shape)  # BREAK
                return x + check_random_state(seed).normal()  # BREAK
        """,
        "pkg/other.py": "",
    },
    "recurrent layers by an annotation and by the name of what chooses them": {
        "pkg/wrapped.py": """
            class Wrapped(nn.Module):
                def __init__(self, module: nn.modules.RNNBase):
                    super().__init__()
                    self._module = module
                def forward(self, x: Tensor):
                    out, state = self._module(x)  # BREAK
                    if state > 0:
                        return x
                    return out
            class Chosen(nn.Module):
                def __init__(self, rnn_type, activation):
                    super().__init__()
                    if rnn_type in ("LSTM", "GRU"):
                        rnn_class = getattr(nn, rnn_type)
                        self.rnn: nn.Module = rnn_class(4, 4)
                    else:
                        self.rnn = nn.RNN(4, 4)
                    self.act: nn.Module = getattr(nn, activation)()
                def forward(self, x: Tensor):
                    y, _ = self.rnn(x)  # BREAK
                    return self.act(y)
            class Kept(nn.Module):
                def __init__(self, name, act):
                    super().__init__()
                    self.rnn = getattr(nn, name)(4, 4)
                    self.act = getattr(nn, act)()
                def forward(self, x: Tensor):
                    y, _ = self.rnn(x)  # BREAK
                    return self.act(y)
            class Layers(nn.Module):
                def __init__(self, one):
                    super().__init__()
                    if one:
                        self.lstm = nn.LSTM(4, 4, 2)
                    else:
                        self.lstm = nn.ModuleList([nn.LSTM(4, 4), nn.LSTM(4, 4)])
                    self.one = one
                def forward(self, x: Tensor):
                    if self.one:
                        x, _ = self.lstm(x)  # BREAK
                    else:
                        for i, lstm in enumerate(self.lstm):
                            x, _ = lstm(x)  # BREAK
                    return x
            class Optional(nn.Module):
                def __init__(self, layers):
                    super().__init__()
                    self.lstm = nn.LSTM(4, 4) if layers else None
                def forward(self, x: Tensor):
                    if self.lstm is None:  # BREAK
                        return x
                    return x + 1
        """,
    },
    "a layer of one of several classes": {
        "pkg/recurrent.py": """
            class Encoder(nn.Module):
                def __init__(self, kind):
                    super().__init__()
                    if kind == "lstm":
                        self.rnn = nn.LSTM(4, 4)
                        self.plain = nn.Linear(4, 4)
                    elif kind == "gru":
                        self.rnn = nn.GRU(4, 4)
                        self.plain = nn.Identity()
                    else:
                        self.rnn = Slow()
                        self.plain = Slow()
                def forward(self, x: Tensor):
                    x = self.plain(x)
                    self.rnn.flatten_parameters()  # BREAK
                    x, _ = self.rnn(x)  # BREAK
                    return x
            class Slow(nn.Module):
                def forward(self, values):
                    if values.mean() > 0:  # BREAK
                        values = values + 1
                    return values
        """,
    },
    "a layer of one of several classes is given what fits it": {
        "pkg/places.py": """
            class Places(nn.Module):
                def __init__(self, by_shape):
                    super().__init__()
                    self.by_shape = by_shape
                    if by_shape:
                        self.code = OfShape()
                    else:
                        self.code = OfValues()
                def forward(self, x: Tensor):
                    if self.by_shape:
                        return self.code(x.shape, x.device)
                    return self.code(x)
            class OfShape(nn.Module):
                def forward(self, shape, device):
                    height, width = shape[-2:]
                    return self.table[:height, :width].to(device)
            class OfValues(nn.Module):
                def forward(self, values, scale=1.0):
                    if values.mean() > 0:  # BREAK
                        values = values * scale
                    return values
        """,
    },
    "what the constructor of a dataclass runs": {
        "pkg/mixture.py": """
            from dataclasses import dataclass
            @dataclass
            class Mixture:
                means: Tensor
                def __post_init__(self):
                    if not torch.isfinite(self.means).all():  # BREAK
                        raise ValueError("means are not finite")
            class Head(nn.Module):
                def forward(self, x: Tensor):
                    return Mixture(x)
        """,
    },
    "an attribute that is asked for by its name": {
        "pkg/named.py": """
            class Scaled(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("ready", torch.zeros((), dtype=torch.bool))
                    self.count = 3
                def forward(self, x: Tensor, name):
                    if getattr(self, "ready"):  # BREAK
                        x = x + 1
                    if getattr(self, "ready", None) > 0:  # BREAK
                        x = x + 2
                    if getattr(self, "count", 0) or getattr(self, "missing", False) or getattr(self, name):
                        x = x + 3
                    return x
        """,
    },
    "a number and a tensor that are kept as a tuple": {
        "pkg/kept.py": """
            class Kept(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.scale = nn.Parameter(torch.ones(3))
                def forward(self, x: Tensor):
                    view = getattr(self, "_view", None)
                    if view is None or view[0] != x.ndim:
                        self._view = (x.ndim, self.scale.reshape(-1))
                        view = self._view
                    if view[1].sum() > 0:  # BREAK
                        return x
                    return x * view[1]
        """,
    },
    "items of a tuple behind a star": {
        "pkg/starred.py": """
            def parts(x: Tensor):
                return x > 0, 1, "a", x.mean()
            def use(x: Tensor):
                valid, *_ = parts(x)
                *_, mean = parts(x)
                first, *others, last = parts(x)
                if mean > 0:  # BREAK
                    return x
                if len(others) > 1:
                    return x[first]  # BREAK
                return x[valid]  # BREAK
        """,
    },
    "dicts and lists of tensors that other code may have changed": {
        "pkg/held.py": """
            class Pool(nn.Module):
                def __init__(self, made):
                    super().__init__()
                    self.made = made
                def forward(self, inputs: dict[str, Tensor]):
                    inputs["y"] = self.made(inputs)
                    last = inputs["i"]
                    return inputs["y"], int(last[-1]) + 1  # BREAK
            class Beam:
                def __init__(self, size):
                    self.ends = [torch.zeros(size)]
                def advance(self, scores: Tensor):
                    self.ends.append(scores)
                    if self.ends[-1][0] == 3:  # BREAK
                        return True
                    return False
        """,
    },
    "a list of tensors, or one": {
        "pkg/boxes.py": """
            def suppress(found, least: float = 0.2):
                if isinstance(found, (list, tuple)):
                    found = found[0]
                count = found.shape[0]
                sure = found[:, 4:].amax(1) > least
                kept = [count]
                for place, rows in enumerate(found.transpose(-1, -2)):
                    chosen = sure[place]
                    kept.append(rows[chosen])  # BREAK
                return kept
        """,
    },
    "what is reduced, of which nothing else is known": {
        "pkg/reduced.py": """
            class Loss(nn.Module):
                def forward(self, x):
                    mask, name = self.assigner(x)
                    if mask.sum():  # BREAK
                        x = x + 1
                    least = int(mask.min())  # BREAK
                    most = max(name.max(least), 1)
                    if name.sum(mask, least, most) or name.count():
                        x = x + 2
                    return x
        """,
    },
    "gradients of what an object keeps": {
        "pkg/jacobian.py": """
            class Jacobian:
                def __init__(self, ys, xs):
                    self.ys = ys
                    self.xs = xs
                def row(self, place):
                    return torch.autograd.grad(self.ys[place], self.xs, create_graph=True)[0]  # BREAK
        """,
    },
    "a tensor as the number of frequencies, pairs of all items": {
        "pkg/frequencies.py": """
            def frequencies(count: Tensor, width: Tensor):
                return torch.fft.fftfreq(count, d=1.0) / width  # BREAK
            def pairs(x: Tensor):
                return torch.combinations(x)  # BREAK
        """,
    },
    "a number that another caller passes as a tensor": {
        "pkg/sizes.py": """
            def count_of(index, count: int | None = None):
                if count is not None:
                    return count
                return int(index.max()) + 1  # BREAK
            def wrong(index: Tensor):
                return count_of(index, index)
            def degree(index: Tensor, count: int | None = None):
                total = count_of(index, count)
                return torch.zeros(total)
        """,
    },
    "what an object keeps to run later": {
        "pkg/rules.py": """
            class Rule:
                def __init__(self, rate, dense):
                    self.rate = torch.tensor([rate, rate])
                    self.table = self._sorted()
                    if dense:
                        self.update = self._update_dense
                    else:
                        self.update = self._update_rows
                def _update_dense(self, x):
                    if self.rate.any():  # BREAK
                        x = x * 2
                    return x
                def _update_rows(self, x):
                    if self.rate[0].any():  # BREAK
                        x = x * 3
                    return x
                def _sorted(self):
                    if self.rate.all():
                        return self.rate
                    return self.rate.sort()
        """,
        "pkg/others.py": "",
    },
    "the state of an optimizer, in which tensors are keys": {
        "pkg/optimizers.py": """
            from typing import List
            from torch.optim import Optimizer
            class Clipped(Optimizer):
                def __init__(self, params, size):
                    super().__init__(params, {})
                    self.state = list(size)
                    self.size = list(size)
                    self.scale = torch.ones(2)
                def update(self, params: List[Tensor]):
                    for p in params:
                        state = self.state[p]
                        size = self.size[p]  # BREAK
                        norm = p.norm()
                        if norm > 1:  # BREAK
                            p.mul_(self.scale[0] / norm)
                    return state, size
        """,
        "pkg/others.py": "",
    },
    "the step of an optimizer, which gets no tensor": {
        "pkg/optimizers.py": """
            from torch.optim import Optimizer
            class Scaled(Optimizer):
                def step(self, closure=None):
                    for group in self.param_groups:
                        for p in group["params"]:
                            size = torch.sum(p.grad * p.grad).item()  # BREAK
                            p.data.add_(p.grad, alpha=-size)
            class Walk:
                def step(self, closure=None):
                    for p in self.places:
                        size = torch.sum(p.grad * p.grad).item()
                        p.data.add_(p.grad, alpha=-size)
        """,
        "pkg/others.py": "",
    },
    "what the subclasses of a module put in the place of what it calls": {
        "pkg/base.py": """
            class Affinity(nn.Module):
                def __call__(self, x: Tensor):
                    self.make_samplers(x)
                    return self._compute(x)
                def make_samplers(self, x):
                    raise NotImplementedError
                def _compute(self, x):
                    raise NotImplementedError
                def describe(self, x):
                    raise NotImplementedError
        """,
        "pkg/affinities.py": """
            from pkg.base import Affinity
            class Gaussian(Affinity):
                def _compute(self, x):
                    scale = torch.ones(3).sum()
                    if scale > 2:  # BREAK
                        x = x * scale
                    self.register_buffer("scale", scale)
                    return x
                def make_samplers(self, x):
                    scale = torch.ones(3).sum()
                    print(scale)
                    self.register_buffer("scale", scale)
                def describe(self, x):
                    scale = torch.ones(3).sum()
                    print(scale)
                    self.register_buffer("scale", scale)
            class Alone(nn.Module):
                def _compute(self, x):
                    scale = torch.ones(3).sum()
                    self.register_buffer("scale", scale)
                    print(scale)
        """,
    },
    "methods that decide by tensors that they make": {
        "pkg/world.py": """
            class World:
                def __init__(self, device):
                    self.device = device
                def collide(self, boxes):
                    hollow = torch.stack([torch.tensor(box.hollow, device=self.device) for box in boxes])
                    if hollow.any():  # BREAK
                        return hollow
                    return None
                def extra_render(self, boxes):
                    far = torch.stack([torch.tensor(box.far, device=self.device) for box in boxes])
                    if far.any():
                        return boxes[0]
                    return None
                def reset_boxes(self, boxes):
                    drawn = torch.rand(len(boxes), device=self.device)
                    if drawn.sum() > 2:
                        return boxes[1:]
                    return boxes
        """,
        "pkg/others.py": "",
    },
    "what callers pass as a mask": {
        "pkg/chosen.py": """
            def selected(values, chosen):
                return values.abs()[chosen]  # BREAK
            def placed(values, places):
                return values.abs()[places]
            def either(values, some):
                return values.abs()[some]
            def halves(x: torch.Tensor):
                even = torch.arange(len(x)) % 2 == 0
                places = torch.arange(2)
                return selected(x, even), placed(x, places), either(x, even), either(x, places)
        """,
    },
    "what a docstring says is a tensor of something": {
        "pkg/labels.py": '''
            def known(labels):
                """
                :param labels: tensor of labels
                """
                return (labels >= 0).any() and (labels < 0).any()  # BREAK
            def counted(labels, sizes):
                """
                :param sizes: tensor or list of sizes
                """
                return sizes and labels
        ''',
        "pkg/others.py": "",
    },
    "an attribute that is looked for while another one is": {
        "pkg/losses.py": """
            class Ranked(nn.Module):
                def __init__(self, kept: int, every: int):
                    super().__init__()
                    self.kept = kept
                    self.every = every
                    self.steps = 0
                    self.margin = None
                    self.history = torch.rand(kept)
                def forward(self, x: Tensor):
                    if self.steps % self.every == 0:
                        self._update()
                    self.steps += 1
                    recent = self.history[-self.kept :]
                    loss = (recent + self.margin - x).mean()
                    self.history = torch.cat((self.history[1:], x.clone().detach()))
                    return loss
                def _update(self):
                    recent = self.history[-self.kept :]
                    ordered = recent[recent > 0]  # BREAK
                    place = min(int(ordered.sum()), len(ordered) - 1)  # BREAK
                    if place >= 0:
                        self.margin = ordered[place]
        """,
    },
    "masks that are negated, multiplied or of what may be an array": {
        "pkg/rewards.py": """
            class Scores(nn.Module):
                def forward(self, x: Tensor, goal, shaping: Tensor, fast):
                    total = torch.zeros(4)
                    total[~goal.reached] += shaping[~goal.reached]  # BREAK
                    near = shaping < 1
                    total[near * ~goal.reached] += 1  # BREAK
                    total[goal.reached] += 1  # BREAK
                    total[-goal.place] += 1
                    return total * x
                def drawn(self, x: Tensor, made):
                    picked = made(x)
                    return picked[picked > 0.5] * x, made(2)[made(1) > 0]  # BREAK
                def boxes(self, x: Tensor, made, limit):
                    scores = made(x)
                    sure = scores >= limit
                    other = made(limit)
                    return x * scores[sure], other[sure]  # BREAK
                def named(self, x: Tensor, made, limit):
                    other = made(limit)
                    return x * 2, other[limit > 3], other[limit == "all"]
        """,
        "pkg/others.py": "",
    },
    "an object that stands for the library of a caller's arrays": {
        "pkg/solvers.py": """
            def solved(a, cost, reg, backend=None):
                nx = get_backend(a, cost)
                kernel = nx.exp(-cost / reg)
                u = nx.ones(len(a))
                for step in range(10):
                    u = a / nx.dot(kernel, u)
                    if nx.any(nx.isnan(u)):  # BREAK
                        break
                return u, float(nx.sum(u)), int(nx.sqrt(2))  # BREAK
            def filled(size, xp):
                ones = xp.ones(size)
                if size > 3:
                    ones = xp.stack([ones, ones])
                return ones
            def other(a, box, plot):
                plot.line(a)
                if plot.any(a):
                    a = box.area(a) * box.scale(a)
                return a
            def of_tensors(a: Tensor, b):
                if b.abs(a) > 2:
                    a = a + 1
                return a
        """,
        "pkg/others.py": "",
    },
    "a gradient of a gradient, which may be asked for already": {
        "pkg/operators.py": """
            from torch import autograd
            def second(u: Tensor, t: Tensor):
                first, = autograd.grad(u, t, torch.ones_like(u), create_graph=True, allow_unused=True)  # BREAK
                first.requires_grad_()
                (alone,) = autograd.grad(first, t, torch.ones_like(u))  # BREAK
                alone.requires_grad_()  # BREAK
                return alone
        """,
        "pkg/others.py": "",
    },
    "classes of torch by the modules that define them, and a part of a transformer": {
        "pkg/translated.py": """
            from torch.nn.modules import TransformerEncoder, TransformerEncoderLayer
            from torch.nn.modules.rnn import GRU
            class Translated(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.own = TransformerEncoder(TransformerEncoderLayer(4, 2), 1)
                    self.both = nn.Transformer(4, 2)
                    self.gru = GRU(4, 4)
                    self.mask = torch.triu(torch.ones(3, 3), 1).bool()
                def forward(self, x: Tensor, mask: Tensor):
                    y = self.own(x, self.mask)  # BREAK
                    memory = self.both.encoder(x, mask)  # BREAK
                    z = self.both.decoder(x, memory, tgt_mask=mask)  # BREAK
                    z = self.both.decoder(z, memory)
                    out, _ = self.gru(y)  # BREAK
                    return out + z
        """,
    },
    "a part of a transformer that may be another module": {
        "pkg/replaced.py": """
            class Replaced(nn.Module):
                def __init__(self, encoder):
                    super().__init__()
                    self.both = nn.Transformer(4, 2)
                    self.both.encoder = encoder
                def forward(self, x: Tensor, mask: Tensor):
                    return self.both.encoder(x, mask)
        """,
    },
    "a NumPy number that a caller passes": {
        "pkg/ranks.py": """
            import numpy as np
            def chop(s: Tensor, eps, other):
                if eps <= 0.0:  # BREAK
                    return s
                if other <= 0.0:
                    return s + 1
                return s * 2
            def rounded(x: Tensor, order: list[int]):
                eps = np.mean(order)
                return chop(x.reshape(-1), eps, 3.0)
        """,
    },
    "parameters that a list or dictionary holds": {
        "pkg/tableau.py": """
            class Tableau(nn.Module):
                def __init__(self, rows):
                    super().__init__()
                    self.rows = nn.ParameterList([nn.Parameter(torch.tensor(row)) for row in rows])
                    self.named = nn.ParameterDict()
                    self.named["a"] = nn.ParameterList()
                def forward(self, x: Tensor):
                    alpha = self.named["a"]
                    if alpha[0][1] != 0:  # BREAK
                        x = x + alpha[0][1]
                    if self.rows[0][1] != 0:  # BREAK
                        x = x + 1
                    if len(self.rows) > 2:
                        x = x + 2
                    return x
        """,
    },
    "what a parameter that is declared as a tensor gets": {
        "pkg/tagger.py": """
            class Tagger(nn.Module):
                def formatted(self, targets: Tensor, lengths: torch.IntTensor):
                    return targets[:, : targets.shape[1]] * lengths.unsqueeze(1)
                def named(self, targets: Tensor, name: str, size: "Tensor | int"):
                    return targets * size
                def forward(self, parts: tuple, targets: Tensor):
                    scores, lengths, name, size = parts
                    targets = self.formatted(targets, lengths)
                    total = self.named(targets, name, size).sum() + scores.sum()
                    if name == "sum":
                        total = total * 2
                    if size > 2:
                        total = total + 1
                    for step in range(max(lengths)):  # BREAK
                        total = total + step
                    return total
        """,
    },
    "a mask of one that selects from others": {
        "pkg/filtered.py": """
            def near(cutoff, distances, *others):
                close = distances < cutoff
                return tuple(array[close] for array in [distances, *others])  # BREAK
            def chosen(names, sizes, cutoff):
                large = sizes < cutoff
                return names[large]
            class Pairs(nn.Module):
                def kept(self, boxes, scores, cutoff, names, size):
                    keep = scores > cutoff
                    scores = scores[keep]  # BREAK
                    return boxes[keep], scores, chosen(names, size, 3)  # BREAK
                def forward(self, x: Tensor, places, cutoff, names, size):
                    boxes, scores = self.head(x)
                    return near(cutoff, x.norm(dim=1), places), self.kept(boxes, scores, cutoff, names, size)
        """,
    },
    "recurrent layers, wherever they are met": {
        "pkg/recurrent.py": """
            class Recurrent(nn.Module):
                def __init__(self, made):
                    super().__init__()
                    self.lstm = nn.LSTM(4, 4)
                    self.other = None
                    self.made = made
                    self.cell = nn.LSTMCell(4, 4)
                def run(self, x, layer: nn.LSTM):
                    x = x.reshape(-1, 1, layer.input_size)  # BREAK
                    return layer(x)  # BREAK
                def forward(self, x: Tensor):
                    y, _ = self.run(x, self.lstm)  # BREAK
                    if self.other is not None:
                        y = y + 1
                    if hasattr(self.made, "flatten_parameters"):  # BREAK
                        self.made.flatten_parameters()  # BREAK
                    return self.made(y)[0] * self.lstm.hidden_size + self.cell.hidden_size  # BREAK
        """,
    },
    "hooks that a module sets on itself, and one that it sets on another": {
        "pkg/hooks.py": """
            def keep(module, given, result):
                module.count = given[0].sum().item()  # BREAK
            def look(module, given, result):
                module.count = given[0].sum().item()
            class Watched(nn.Module):
                def __init__(self, other: nn.Module):
                    super().__init__()
                    self.register_forward_hook(keep)
                    self.register_forward_pre_hook(self.before)
                    other.register_forward_hook(look)
                def before(self, module, given):
                    if given[0].sum() > 0:  # BREAK
                        return given
            class Twice(Watched):
                def forward(self, x: Tensor):
                    return x * 2
        """,
    },
    "a layer that a subclass puts in the place of another, beside the method that ran that one": {
        "pkg/replaced.py": """
            class Deep(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.embedding = nn.Sequential(nn.Linear(4, 4))
                def forward(self, x: Tensor):
                    return self.embedding(x)
                def embed(self, x: Tensor):
                    return self.embedding(x)  # BREAK
                def twice(self, x: Tensor):
                    return self.embedding(x)  # BREAK
            class Recurrent(Deep):
                def __init__(self):
                    super().__init__()
                    self.embedding = nn.LSTM(4, 4)
                def forward(self, x: Tensor):
                    return self.embedding(x)[0]  # BREAK
                def twice(self, x: Tensor):
                    return super().twice(x)[0] * 2
        """,
    },
    "an attribute that `__init__` gives another value in all branches, and one that may stay what it was": {
        "pkg/flipped.py": """
            from collections.abc import Sequence
            import numpy as np

            class Flip(nn.Module):
                def __init__(self, share: Sequence[float] | float = 0.4, other=None):
                    super().__init__()
                    self.share = share
                    if isinstance(self.share, (float, int)):
                        self.share = np.array([self.share, self.share])
                    else:
                        self.share = np.array(self.share)
                    self.other = other
                    if isinstance(self.other, list):
                        self.other = np.array(self.other)
                def forward(self, x: Tensor):
                    if self.share[0] == 0:  # BREAK
                        return x
                    if self.other[0] == 0:
                        return x.flip(0)
                    return x.flip(-1)
        """,
    },
    "parts of what a function is given: the fields of a named tuple, attributes, items of a dict": {
        "pkg/parts.py": """
            def policy_error(data):
                new, old, advantage, weight = data
                if weight is None:
                    weight = torch.ones_like(advantage)
                ratio = (new - old).exp() * weight
                return ratio.mean(), torch.log(ratio).mean().item()  # BREAK
            def masked(batch, limit):
                ids = batch["ids"]
                if limit > 2:
                    ids = ids.masked_fill(ids.eq(0), 1)
                return ids[ids.gt(2)]  # BREAK
            def assigned(found, truth):
                boxes, labels = found.boxes, truth["labels"]
                scores = found.scores
                low = scores.unsqueeze(0).sum() < 0.5
                if low:  # BREAK
                    return scores
                return scores.new_zeros(3)
            def named(options, x: Tensor):
                count = options.count
                if count > 2:
                    x = x * count
                return x
        """,
    },
    "objects that hold tensors, and what torch is given of something": {
        "pkg/found.py": """
            class Found:
                def __init__(self, places: Tensor, count: int):
                    self.places = places
                    self.count = count
            class Picker:
                def positive(self, found: Found, count: int):
                    places = torch.nonzero(found.places > 0)  # BREAK
                    return places if found.count > count else places[:count]
                def counted(self, found: Found):
                    return found.count + 1
            class Other:
                def negative(self, found, count):
                    places = torch.nonzero(found.places == 0)  # BREAK
                    return places[:count]
        """,
    },
    "places that an array is read at by a mask": {
        "pkg/chosen.py": """
            import numpy as np
            def of_class(boxes: Tensor | np.ndarray, labels: Tensor | np.ndarray, count: int):
                if isinstance(boxes, Tensor):
                    boxes, labels = boxes.numpy(), labels.numpy()
                return torch.stack([torch.from_numpy(boxes[labels == i, :].sum(0)) for i in range(count)])  # BREAK
            def cleaned(x: Tensor):
                values = x.numpy()
                good = np.isfinite(values)
                values[~good] = 0.0
                values[values > 3] -= 1.0  # BREAK
                return x + values[good].mean() + values[[0, 1]].sum() + values[:2].sum()  # BREAK
        """,
    },
    "a comparison joined with something unknown, and what is distinct in something unknown": {
        "pkg/joined.py": """
            class Histogram(nn.Module):
                def forward(self, x: Tensor, inside):
                    chosen = (x > 0) & inside
                    return x[chosen]  # BREAK
            class Sampler(nn.Module):
                def pick(self, x):
                    pass
                def forward(self, x: Tensor):
                    places = self.pick(x)
                    return x[places.unique()]  # BREAK
        """,
        "pkg/tables.py": """
            import pandas
            class Classes(nn.Module):
                def forward(self, x: Tensor, table):
                    return x[: len(table.labels.unique())]
        """,
    },
    "sums of a list of sizes that NumPy gives": {
        "pkg/sums.py": """
            import numpy as np
            def pieces(x: Tensor, sizes):
                ends = np.cumsum(sizes).tolist()  # BREAK
                return [x[:end] for end in ends]
        """,
    },
}


@pytest.mark.parametrize("name", CASES)
def test_breaks_are_reported_where_they_are(name: str) -> None:
    found, expected = reported(CASES[name])
    assert found == expected


def test_the_largest_of_a_list_is_not_selected() -> None:
    """A list has a Python number as its largest: `max(labels) < 255` is no tensor then, and has no `reshape`."""
    text = HEAD + (
        "def f(x: Tensor, labels: list[int] | Tensor):\n    if max(labels) < 255:\n        x = x + 1\n    return x\n"
        "def g(x: Tensor):\n    return f(x, [1, 2]) + f(x, x)\n"
    )
    files = [SourceFile(Path("/pkg/labels.py"), "pkg.labels", text)]
    findings = run(files, Config(Path("/")), rules=list(registry.load().values()), rewrite=False).findings
    assert [f for f in findings if f.fix is not None] == []


def test_what_arrays_have_too_gets_no_fix() -> None:
    text = HEAD + (
        "class Loss(nn.Module):\n"
        "    def forward(self, x: Tensor):\n"
        "        mask, other = self.assigner(x)\n"
        "        if mask.sum() > 0:\n"
        "            x = x + 1\n"
        "        total = int(mask.sum())\n"
        "        return x * total\n"
    )
    files = [SourceFile(Path("/pkg/loss.py"), "pkg.loss", text)]
    findings = run(files, Config(Path("/")), rules=list(registry.load().values()), rewrite=False).findings
    assert {(f.code, f.span.line) for f in findings if f.effect == "break"} >= {("CF101", 6), ("CF201", 8)}
    assert [f for f in findings if f.fix is not None] == []


def test_what_scipy_makes_of_a_tensor_is_none() -> None:
    text = HEAD + (
        "from scipy.sparse.linalg import eigs, eigsh\n"
        "def largest(x: Tensor, symmetric: bool):\n"
        "    find = eigs\n"
        "    if symmetric:\n"
        "        find = eigsh\n"
        "    found = find(x, k=1)\n"
        "    return found.real.item() * x, found.item() * x, eigs(x).item() * x\n"
    )
    text += (
        "from scipy.optimize import linear_sum_assignment\n"
        "def matched(cost: Tensor):\n"
        "    rows, columns = linear_sum_assignment(cost.detach().cpu().numpy())\n"
        "    first = columns[0].item()\n"
        "    return cost * rows[0].item() + first\n"
    )
    files = [SourceFile(Path("/pkg/largest.py"), "pkg.largest", text)]
    findings = run(files, Config(Path("/")), rules=list(registry.load().values()), rewrite=False).findings
    assert "CF201" not in {f.code for f in findings}
    assert [f for f in findings if f.fix is not None] == []


def test_a_file_without_torch_gets_no_fix() -> None:
    """What works on the arrays of any library is called with NumPy's by people who have no torch."""
    text = (
        "def centred(x, xp):\n"
        "    if xp.any(xp.isnan(x)):\n"
        "        x = xp.zeros_like(x)\n"
        "    print('centred')\n"
        "    return x - xp.mean(x)\n"
    )
    for imported, fixes in (("", False), ("import torch\n", True)):
        files = [SourceFile(Path("/pkg/backend.py"), "pkg.backend", "# backend\n" + imported + text)]
        findings = run(files, Config(Path("/")), rules=list(registry.load().values()), rewrite=False).findings
        assert {f.code for f in findings} == {"CF101", "CF301"}
        assert any(f.fix is not None for f in findings) is fixes
