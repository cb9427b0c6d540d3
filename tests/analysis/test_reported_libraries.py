"""What libraries write besides modules: metrics, distributions, attacks, losses with lengths, NumPy.

A line that ends in `# BREAK` is to be reported, and no other.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from reporting import reported

CASES: Mapping[str, Mapping[str, str]] = {
    "docstrings that say what is a tensor": {
        "pkg/losses.py": '''
            def numpy_style(source, lengths, count):
                """Masks what is behind the end.

                Arguments
                ---------
                source : torch.Tensor
                    The values.
                lengths : torch.LongTensor
                    Where they end.
                count : int
                    How many there are. Not a torch.Tensor.
                """
                for i in range(count):
                    source[i, lengths[i] :] = 0  # BREAK
                return source[:count]
            def google_style(values, ends, shape):
                """Cuts.

                Args:
                    values (Tensor): the values
                    ends (:class:`torch.Tensor`, optional): ends
                    shape (torch.Tensor or int): a size

                Returns:
                    first (Tensor): what is first
                """
                first = 3
                return values[: ends[0]], values[:shape], values[:first]  # BREAK
            def sphinx_style(values, ends):
                """Cuts.

                :param torch.Tensor values: the values
                :type ends: Tensor
                """
                return values[: ends[0]]  # BREAK
            def a_shape(values, shape):
                """Adds noise.

                Arguments
                ---------
                values : torch.Tensor
                shape : tensor
                """
                return values + torch.randn(shape)
        ''',
    },
    "asserts on NumPy numbers, which Dynamo carries in the graph unless it has to make a text": {
        "pkg/shapes.py": """
            import numpy as np
            def checked(x: Tensor, shape):
                assert np.all(np.equal(list(x.shape), [3, 4]))
                assert np.all(np.equal(list(x.shape), [3, 4])), "no such shape"
                assert len(x) > 2 and np.all(np.equal(list(x.shape), [3, 4]))
                assert np.all(np.equal(list(x.shape), [3, 4])), f"{x.shape} is no such shape"  # BREAK
                assert np.all(np.equal(list(x.shape), [3, 4])) and len(x) > 2  # BREAK
                assert not np.any(np.equal(list(x.shape), [5, 5]))  # BREAK
                return x * 2
        """,
    },
    "a library of the host, in its own files": {
        "scipy/tools.py": """
            import numpy as np
            def promoted(x: Tensor) -> Tensor:
                return x * 2.0
            class Law:
                def __init__(self, count):
                    self.count = count
        """,
        "scipy/stats.py": """
            import numpy as np
            import scipy.ndimage
            from scipy.tools import Law, promoted
            def mean(x: Tensor) -> Tensor:
                law = Law(3)
                x = promoted(x)
                if x.sum() > 0:  # BREAK
                    return x
                return x.mean() * law.count
        """,
    },
    "a number of Python that a library of the host gives": {
        "pkg/spectra.py": """
            import torch
            from scipy.fft import next_fast_len
            def smoothed(x: Tensor) -> Tensor:
                size = next_fast_len(2 * x.size(-1))  # BREAK
                x = torch.fft.irfft(torch.fft.rfft(x, size), size)
                return x.index_select(-1, torch.as_tensor(range(size - 3, size)))
        """,
    },
    "docstrings that describe the tensor, and the form of Sphinx that has the type behind": {
        "pkg/boxes.py": '''
            def valid(boxes, classes, names):
                """Leaves out what is padded.

                Args:
                    boxes: A float tensor with shape [N, 4].
                    classes: An integer tensor of shape [N].
                    names: an input tensor or an array

                """
                kept = boxes[classes > -1]  # BREAK
                return kept, names[: names[0]]
            def predicted(points, centers, count):
                """Predicts.

                :param points: (torch.tensor) matrix
                :param centers (tensor): (K, N), one by one
                :param count: number of tensors
                """
                print(count)  # BREAK
                return points[: centers[0]], points[: count[0]]  # BREAK
            def drawn(features, labels, scores, weight, sizes):
                """Draws.

                Args:
                    features (1 - 2D :class:`torch.Tensor`): one row, or several
                    labels: an [N x C] Tensor, or None
                    scores: Optional one dimensional tensor of scores
                    weight (optional, torch.Tensor): for each row
                    sizes: an input array or a tensor
                """
                first = features[: labels[0, 0]]  # BREAK
                second = first[: scores[0]]  # BREAK
                return second[: weight[0]], second[: sizes[0]]  # BREAK
        ''',
    },
    "a number by default that `forward` gives to what it holds": {
        "pkg/shared.py": """
            class Shared(nn.Module):
                def __init__(self, layers, weight):
                    super().__init__()
                    self.layers, self.weight = layers, weight
                def forward(self, x, index=0, scale=None):
                    if index == 0:
                        return x @ self.weight(index)
                    if scale > 0:  # BREAK
                        x = self.layers(scale)
                    return x
        """,
    },
    "sizes that `forward` gives to what it holds": {
        "pkg/bias.py": """
            class Bias(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.table = nn.Embedding(8, 2)
                def compute(self, queries, keys):
                    start = torch.arange(queries, 2 * queries)[:, None]
                    return self.table((torch.arange(keys)[None] - start).clamp(0, 7))
                def forward(self, batch, queries, keys):
                    return self.compute(queries, keys).repeat(batch, 1, 1).view(-1, queries, keys)
        """,
    },
    "an element of several dimensions, and keywords that only torch has": {
        "pkg/uses.py": """
            class Picked(nn.Module):
                def forward(self, x: Tensor, scores, names):
                    kept = [x[i] for i in range(3) if scores[i, 0] > 0]  # BREAK
                    return x if names["kind", 0] > 1 else torch.stack(kept)
            def sorted_lengths(x: Tensor, lengths):
                lengths, order = lengths.sort(descending=True)
                return x[order][:, : lengths[0]]  # BREAK
            def size(chosen):
                return torch.mean(torch.sum(chosen, dim=1).float()).item()  # BREAK
            def inside(x: Tensor, weights, limit):
                if (weights >= -limit).all(dim=-1)[0]:  # BREAK
                    x = x * 2
                return x
            def in_order(x: Tensor, lengths):
                lengths.sort(reverse=True)
                return x[:, : lengths[0]]
        """,
    },
    "what holds packed sequences": {
        "pkg/recurrent.py": """
            from torch.nn.utils.rnn import PackedSequence
            class Layer(nn.Module):
                def forward(self, sequence):
                    count = sequence.batch_sizes[0]
                    return sequence.data.relu()[:count]  # BREAK
            class Described(nn.Module):
                def forward(self, sequence):
                    \"\"\"Runs it.

                    Args:
                        sequence (torch.Tensor): packed or not
                    \"\"\"
                    return sequence.data.relu()[: sequence.batch_sizes[0]]  # BREAK
        """,
        "pkg/settings.py": """
            class Plan(nn.Module):
                def forward(self, x: Tensor, plan):
                    return x[: plan.batch_sizes[0]]
        """,
    },
    "what only tensors do, called with nothing": {
        "pkg/pitch.py": """
            def to_bins(cents, quantize=torch.floor):
                return quantize(cents / 20).int()
            def cut(values: Tensor, lowest: float):
                first = to_bins(torch.tensor(lowest))
                return values[first:]  # BREAK
        """,
    },
    "dictionaries of tensors, which are asked for a key": {
        "pkg/matched.py": """
            class Matched(nn.Module):
                def forward(self, outputs, targets):
                    if "dense" in targets and targets["dense"] is not None:
                        dense = targets["dense"].reshape(-1)
                    else:
                        dense = self.spread(targets)
                    return dense + outputs
                def spread(self, targets):
                    if int(targets["class"][0, 0]) > 1:  # BREAK
                        return targets["class"]
                    return (targets["start"] * 3).clamp(0, 3)
            class Encoded(nn.Module):
                def forward(self, x):
                    x = torch.relu(self.layer(x))
                    if 3 in x:  # BREAK
                        x = x + 1
                    return x
            class Chosen(nn.Module):
                def forward(self, x, flag):
                    x = self.joined(x)
                    if x > 1:  # BREAK
                        x = self.layer(x)
                    return x
                def joined(self, x):
                    return x * 2
        """,
    },
    "sizes that something unknown decides, which only a tensor can": {
        "pkg/graphs.py": """
            class Pooled(nn.Module):
                def forward(self, x: Tensor, batch, table, names):
                    counts = batch.index.bincount()  # BREAK
                    each = torch.repeat_interleave(batch.weight, batch.ends[1:] - batch.ends[:-1])  # BREAK
                    values, places = batch.index.unique(return_inverse=True)  # BREAK
                    labels = table.labels.unique()
                    twice = torch.repeat_interleave(batch.weight, names.count - 1)
                    return x * each, counts, values, places, labels, twice
        """,
    },
    "sizes that are spread beside what else is unpacked": {
        "pkg/spread.py": """
            class Spread(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.scale = nn.Parameter(torch.ones(2))
                def forward(self, x: Tensor):
                    b, n, _, scale, least = *x.shape, self.scale, x.min()
                    mask = torch.ones((b, n))
                    if scale[0] > 1:  # BREAK
                        mask = mask * 2
                    first, *others = *x.shape, least
                    return mask, mask[:least.int()], first, others  # BREAK
        """,
    },
    "what a library of the host raises": {
        "pkg/scale.py": """
            import librosa
            class Scale(nn.Module):
                def forward(self, x: Tensor):
                    if self.top < 0:
                        raise librosa.util.exceptions.ParameterError("the top must not be below zero")
                    window = librosa.filters.get_window("hann", 4)  # BREAK
                    return x * window
        """,
    },
    "arrays that are tensors to Dynamo": {
        "pkg/arrays.py": """
            import numpy as np
            def grid(x: Tensor):
                rows, columns = np.ogrid[0:3, 0:3]  # BREAK
                return x + torch.from_numpy(rows * columns)
            def without_ones(x: Tensor):
                dims = np.where([size == 1 for size in x.shape])[0]  # BREAK
                index = [slice(None) for _ in x.shape]
                for dim in dims:
                    index[dim] = 0  # BREAK
                return x[tuple(index)]
            def chosen(x: Tensor):
                kept = np.where(np.arange(3) > 1, 1, 0)
                sizes = [x.shape[dim] for dim in np.arange(2)]  # BREAK
                return x * kept[0], sizes
            def threshold(pitch, periodicity):
                pitch = torch.log2(pitch)
                periodicity = periodicity.flatten().cpu().numpy()
                turn = 0
                while turn < len(periodicity):
                    if periodicity[turn] < 0.5:  # BREAK
                        pitch[turn] = 0
                    turn += 1
                return pitch
        """,
    },
    "what is there before the compiled code runs": {
        "pkg/support.py": """
            import warnings
            from functools import cached_property
            class Support:
                def __init__(self, places):
                    self.places = places
                @cached_property
                def first(self):
                    return self.places[0]
                @cached_property
                def ordered(self):
                    return sorted(self.places), self.first
                @cached_property
                def later(self):
                    return len(self.places)
            class Gate(nn.Module):
                def __init__(self, places):
                    super().__init__()
                    self.support = Support(places)
                    self.count = len(self.order)
                @property
                def order(self):
                    return self.support.ordered
                def forward(self, x: Tensor):
                    x = x + self.support.first + self.order[1]
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # BREAK
                        return x * self.support.later  # BREAK
        """,
    },
    "tensors that an object keeps": {
        "pkg/metrics.py": """
            class Mean:
                def reset(self):
                    self.total = torch.tensor(0.0)
                    self.count = 0
                def update(self, x: Tensor):
                    self.total += x.sum()
                    self.count += x.shape[0]
                def compute(self):
                    if self.count == 0:
                        raise ValueError
                    return self.total.item() / self.count  # BREAK
            class Layer(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("scale", torch.ones(()))
                def forward(self, x: Tensor):
                    return x * self.scale
                def describe(self):
                    return self.scale.item()
        """,
    },
    "distributions, and what their base class does": {
        "pkg/distributions.py": """
            from torch.distributions import Distribution
            class Base(Distribution):
                def __init__(self, low: Tensor, high: Tensor):
                    if (low >= high).any():  # BREAK
                        raise ValueError
                    super().__init__(low.shape)
            class Window(Base):
                def __init__(self, low: Tensor):
                    super().__init__(low, low + 1)
            class Box:
                def __init__(self, low: Tensor):
                    if (low > 0).any():
                        raise ValueError
        """,
    },
    "distributions that have a `forward`, and properties that keep what they computed": {
        "pkg/structures.py": """
            import torch
            from torch.distributions import Distribution
            from torch.distributions.utils import lazy_property
            class Structure(Distribution):
                def __init__(self, scores, lens):
                    self.scores = scores.requires_grad_() if isinstance(scores, torch.Tensor) else scores  # BREAK
                    self.lens = lens
                    self.mask = lens.unsqueeze(-1).gt(torch.arange(scores.shape[1]))
                @lazy_property
                def total(self):
                    return self.forward(self.scores)
                @lazy_property
                def best(self):
                    chosen = torch.where(self.backward(self.total.sum()))[2]  # BREAK
                    return self.lens.new_zeros(self.mask.shape).masked_scatter_(self.mask, chosen)
                def forward(self, scores):
                    return scores.masked_fill(~self.mask.unsqueeze(-1), 0).logsumexp(-1).sum(-1)
                def backward(self, total):
                    return torch.autograd.grad(total, self.scores, create_graph=True)[0]  # BREAK
        """
    },
    "objects that compiled code makes": {
        "pkg/model.py": """
            class Base:
                def __init__(self, low: Tensor):
                    if (low > 0).any():  # BREAK
                        raise ValueError
            class Box(Base):
                def __init__(self, low: Tensor):
                    super().__init__(low)
            class Model(nn.Module):
                def forward(self, x: Tensor):
                    return Box(x)
        """,
    },
    "functions that functions return": {
        "pkg/objectives.py": """
            def make(weights: Tensor):
                minimise = weights < 0
                def objective(values: Tensor):
                    return values[..., minimise].sum(0)  # BREAK
                def unused(values: Tensor):
                    return values[values > 0]
                return objective
        """,
    },
    "attacks that compute gradients in `forward`": {
        "pkg/attacks.py": """
            import torch.optim as optim
            class Attack:
                def forward(self, images: Tensor, labels: Tensor):
                    w = images.clone().detach()
                    w.requires_grad = True  # BREAK
                    optimizer = optim.Adam([w], lr=0.1)  # BREAK
                    for _ in range(3):
                        cost = ((w - labels) ** 2).sum()
                        optimizer.zero_grad()  # BREAK
                        cost.backward()  # BREAK
                        optimizer.step()
                    return w
            def write(data: Tensor, path: str):
                with open(path, "w") as file:
                    file.write(str(data.tolist()))
            def train(model, images: Tensor, optimizer):
                optimizer.zero_grad()
                loss = model(images).sum()
                loss.backward()
                optimizer.step()
                return loss.item()
        """,
    },
    "tensors as bounds of random numbers and ranges": {
        "pkg/augment.py": """
            class Drop(nn.Module):
                def forward(self, x: Tensor):
                    high = x.shape[0] - x.argmax()
                    a = torch.randint(0, high, (3,))  # BREAK
                    b = torch.randint(low=1, high=high, size=(3,))  # BREAK
                    c = torch.randint(0, 9, size=(3, high))  # BREAK
                    d = torch.linspace(0, 1, high)  # BREAK
                    e = torch.linspace(x.min(), x.max(), 5)
                    f = nn.functional.adaptive_avg_pool1d(x, high)  # BREAK
                    return a, b, c, d, e, f
        """,
    },
    "elements that are selected before they are used": {
        "pkg/losses.py": """
            class Loss(nn.Module):
                def forward(self, x: Tensor, y: Tensor, keep: Tensor):
                    positive = x > 0
                    selected = x[positive]  # BREAK
                    mean = selected.mean()
                    left = x[y > 0]  # BREAK
                    right = y[y > 0]  # BREAK
                    both = (left - right).abs().sum()
                    new = torch.zeros_like(x)
                    old = x[positive]  # BREAK
                    new[positive] = old * 2
                    new[keep.bool()] = (
                        torch.tensor(1.0)
                        if y is None
                        else x[keep.bool()]  # BREAK
                    )
                    flags, places = (x > 0).max(-1)
                    return mean + both, new, places[flags]  # BREAK
        """,
    },
    "losses that no setting keeps in the graph": {
        "pkg/losses.py": """
            class Loss(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.ctc = nn.CTCLoss()
                def forward(self, x: Tensor, y: Tensor, a: Tensor, b: Tensor):
                    loss = nn.functional.ctc_loss(x, y, a, b)  # BREAK
                    return loss + self.ctc(x, y, a, b)  # BREAK
        """,
    },
    "tensors that require a gradient from the start": {
        "pkg/model.py": """
            class Model(nn.Module):
                def forward(self, x: Tensor):
                    a = torch.tensor(0.0, requires_grad=True)  # BREAK
                    b = torch.zeros_like(x, requires_grad=True)  # BREAK
                    c = torch.zeros(3, requires_grad=False)
                    d = torch.zeros(3, requires_grad=x.requires_grad)
                    e = x.new_zeros(3, requires_grad=True)
                    return a + b, c, d, e
        """,
    },
    "items of arrays": {
        "pkg/model.py": """
            import numpy as np
            class Model(nn.Module):
                def forward(self, x: Tensor, scale: float):
                    c, h, w = x.shape
                    u, v = np.random.uniform(0, 1, 2)
                    left = int(u * w)  # BREAK
                    choice = np.random.choice(3, 2)  # BREAK
                    epsilon = np.random.rand(1).item()  # BREAK
                    sizes = np.array([1, 2, 3])
                    assert (sizes >= 0).all()
                    names = sizes.tolist()  # BREAK
                    top = int(np.max([1, 2]))  # BREAK
                    root = float(np.sqrt(5) * 2)
                    rows = int(np.ceil(scale))
                    offset = np.random.randint(1, 3)  # BREAK
                    if offset + 1 > 2:
                        return x
                    return x * left * epsilon, choice, names, top, root, rows
        """,
    },
    "names that `import *` brings": {
        "pkg/types.py": """
            import torch.nn.functional as F
            from typing import cast
            from torchtyping import TensorType
            class Times(TensorType["batch"]):
                pass
            def halved(x: Tensor):
                return x / 2
            def hidden(x):
                return x
            __all__ = ["F", "cast", "Times", "halved", "TensorType", "Tensor"]
        """,
        "pkg/model.py": """
            from pkg.types import *
            def solve(start: Times, end: TensorType["batch"], given):
                if F.relu(start).sum() > 0:  # BREAK
                    start = start + 1
                if halved(start).max() > end.max():  # BREAK
                    end = end + 1
                if hidden(start):
                    return start
                return cast(Tensor, given).mean().item()  # BREAK
        """,
    },
    "what an attribute is declared to be, and generators": {
        "pkg/metrics.py": """
            class Index:
                def __init__(self):
                    self.index: Tensor | None = None
                def p_value(self):
                    assert self.index is not None
                    if self.index > 0.5:  # BREAK
                        return 1 - self.index
                    return self.index
            def start(x: Tensor, seed: int):
                generator = torch.Generator(device=x.device)  # BREAK
                generator.manual_seed(seed)  # BREAK
                return x + torch.rand(3, generator=generator)  # BREAK
        """,
    },
    "items of orders, and of what is used item by item": {
        "pkg/pairs.py": """
            def pairs(time: Tensor, event: Tensor, rows: Tensor, index: Tensor):
                order = torch.argsort(time)
                ranked = time.argsort(dim=-1)
                for i in range(len(time)):
                    first = time[order[i]]  # BREAK
                    whole = time[ranked[i]]
                    chosen = rows[index[i]]  # BREAK
                    if event[index[i]]:  # BREAK
                        return first + whole
                return chosen
            def batches(x: Tensor, index: Tensor):
                return [x[b][index[b]] for b in range(len(x))]
        """,
    },
    "masks of which only the name is known": {
        "pkg/model.py": '''
            from elsewhere import split
            class Model(nn.Module):
                def forward(self, x: Tensor, row):
                    parts, mask = split(x)
                    flat = (x * 2)[mask]  # BREAK
                    kept = parts[mask]
                    near = row < 3
                    same = row == "a"
                    close = x[near]  # BREAK
                    both = x[~near & (row > 1)]  # BREAK
                    return flat, kept, x[row], close, both, x[same]
            def events(x: Tensor, event: Tensor, index: Tensor):
                """Sums.

                Args:
                    x (torch.Tensor, float): values
                    event (torch.Tensor, bool): what happened
                    index (torch.Tensor): places
                """
                return (x + 1)[event].sum() + x[index].sum()  # BREAK
        ''',
    },
    "numbers of what is a tensor or None, and of what is declared with another name for a tensor": {
        "pkg/matrices.py": '''
            class Matrix(Tensor):
                """A tensor of two dimensions."""
            class Gramian(Matrix):
                pass
            class Points(Tensor):
                def __gt__(self, other):
                    return False
        ''',
        "pkg/steps.py": """
            from typing import cast
            from pkg.matrices import Gramian, Points
            class Weights(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.count = None
                    self.size = None
                def prepare(self, size):
                    if self.size != size:
                        self.count = torch.tensor(0)
                        self.size = size
                def forward(self, gramian: Gramian, points: Points):
                    self.prepare(gramian.shape[0])
                    count = int(cast(Tensor, self.count)) + 1  # BREAK
                    self.count = torch.tensor(count)
                    norms = gramian.to(torch.float64).diagonal()
                    if norms[0] > 0:  # BREAK
                        return norms
                    if gramian.shape[0] > 3 or points[0] > 0:
                        return norms * 2
                    return norms + bool(self.size)
        """,
    },
    "an element that is written where a tensor says": {
        "pkg/model.py": """
            def one(x: Tensor, rows: Tensor, at: Tensor):
                best = x.argmin()
                once = torch.zeros(x.shape[0])
                once[best] = 1.0  # BREAK
                once[best] += 1.0  # BREAK
                table = torch.zeros(3, 4)
                table[0, best] = 1.0  # BREAK
                table[:, x.argmax()] = 2.0  # BREAK
                once[best.reshape(1)] = 1.0
                once[torch.tensor(2)] = 1.0
                table[0, x.argsort()] = 1.0
                found = {}
                found[best] = once
                return once, table, found
        """,
    },
    "a method of a module that decides by its own tensors": {
        "pkg/model.py": """
            class Layer(nn.Module):
                def __init__(self, size: int, limit: float = 1.0):
                    super().__init__()
                    self.layers = [nn.Linear(size, size)]
                    self.layers.append(nn.Linear(size, size))
                    self.scale = nn.Parameter(torch.ones(size))
                    self.limit = limit
                    self.reset_scale()
                def reset_scale(self):
                    if self.scale.sum() > 3:
                        self.scale.data.zero_()
                def forward(self, x: Tensor):
                    return x * self.scale
                def normalize(self):
                    norms = self.scale.norm(dim=0)
                    if norms > self.limit:  # BREAK
                        self.scale.data.div_(norms)
                def limited(self):
                    for layer in range(len(self.layers)):
                        weight = self.layers[layer].weight
                        largest = torch.norm(weight @ weight.mT, dim=1).max()
                        if largest > self.limit:  # BREAK
                            self.layers[layer].weight.data /= largest
                def describe(self):
                    if self.limit > 2:
                        return self.scale.sum().item()
        """,
    },
    "what torch takes for tensors beside the first": {
        "pkg/contrast.py": """
            import torch.nn.functional as F
            def contrast(first, second, temperature):
                out = torch.cat([first, second], dim=0)
                mask = ~torch.eye(len(out)).bool()
                return torch.exp(out @ out.T / temperature).masked_select(mask)  # BREAK
            def supervised(scores, target, ignored):
                if (target == ignored).all():  # BREAK
                    return 0
                return F.cross_entropy(scores * 2, target)
            def named(scores, names, flag):
                if flag:
                    names = [torch.cat([names, n]) for n in scores]
                return [n for n in names if n == "all"]
        """,
        "pkg/others.py": "",
    },
    "a method of a module that selects by its own tensors": {
        "pkg/grids.py": """
            class Grid(nn.Module):
                def __init__(self, cells):
                    super().__init__()
                    self.register_buffer("ages", torch.zeros(cells))
                    self.names = [str(i) for i in range(cells)]
                def forward(self, x):
                    return x + self.ages
                def old(self, limit):
                    return torch.clamp(self.ages[self.ages > 3].mean(), max=limit)  # BREAK
                def load_ages(self, limit):
                    return self.ages[self.ages > limit]
                def labels(self, at):
                    return self.names[at > 3]
        """,
        "pkg/others.py": "",
    },
    "methods of a tensor of its own kind": {
        "pkg/vectors.py": """
            class Vector(Tensor):
                def length(self, other: "Vector", eps=1e-8):
                    size = torch.sqrt(torch.sum(self * self, dim=-1))
                    if torch.isclose(size, torch.zeros_like(size)).any():  # BREAK
                        size = size + self.new_ones(())
                    return size.clamp(min=eps)
                def rows(self):
                    return self.kept.tolist()
        """,
    },
    "what is registered is a tensor, whatever made it": {
        "pkg/base.py": """
            def as_tensor(value, dtype=None):
                if value is None:
                    return None
                if isinstance(value, (nn.Parameter, torch.Tensor, torch.masked.MaskedTensor)):
                    return value if dtype is None else value.type(dtype)
                if isinstance(value, (float, int, list)):
                    return torch.tensor(value, dtype=dtype)
                return load(value)
            class Base(nn.Module):
                def __init__(self, frozen):
                    super().__init__()
                    self.frozen = False
                    self.register_buffer("frozen", as_tensor(frozen))
            class Model(Base):
                def forward(self, x: Tensor):
                    if self.frozen == True:  # BREAK
                        return x
                    return x + 1
        """,
    },
    "types of an isinstance under a name": {
        "pkg/checks.py": """
            import numpy
            SEQUENCES = (list, tuple)
            def check(value, low=None, names=None):
                arrays = (numpy.ndarray, torch.Tensor, nn.Parameter)
                if low is not None:
                    if isinstance(value, arrays):
                        if (value < low).sum() > 0:  # BREAK
                            raise ValueError(names)
                    elif value < low:
                        raise ValueError(names)
                if isinstance(names, SEQUENCES):
                    if len(names) > 2:
                        raise ValueError(names)
                return value
            class Model(nn.Module):
                def __init__(self, turns, size: int):
                    super().__init__()
                    self.turns = check(turns, low=1)
                    self.scale = check(torch.ones(size))
                def forward(self, x: Tensor):
                    x = check(x, low=0)
                    if x.sum() > 3:  # BREAK
                        return x
                    for turn in range(self.turns):
                        x = x + self.scale
                    if self.scale[0] > 0:  # BREAK
                        x = x * 2
                    return x
        """,
    },
    "a caller that passes another tensor later": {
        "pkg/model.py": """
            def update(kept, new, share=0.0):
                if share == 0.0:  # BREAK
                    return new
                return share * kept + (1 - share) * new
            def first(value: Tensor):
                return update(value, 1.0)
            def second(value: Tensor):
                return update(value, value.mean())
            def third(value: Tensor):
                return update(value, value.mean(), value.std())
        """,
    },
    "what is called without an argument as only tensors are": {
        "pkg/update.py": """
            def update(table, old, scale):
                factor = scale.reciprocal()
                if factor > 1:  # BREAK
                    return table
                found = table.rows(old)
                if not found.isfinite().all():  # BREAK
                    return old
                return old * factor
            def other(backend, old):
                factor = backend.sqrt(old)
                return old if factor > 1 else factor
        """,
    },
    "a norm and a product, a comparison beside a tensor, a tensor that scales what is added": {
        "pkg/solve.py": """
            def solve(func, x: Tensor, rows: int):
                residual = func(x)
                norm = residual.norm()
                if norm == 0:  # BREAK
                    return x
                along = residual.dot(func(norm))
                if along < 1:  # BREAK
                    return x + 1
                full = func.rows >= rows and x[0] > 0
                if full:  # BREAK
                    return x + 2
                return torch.addr(x.diag(), x, x, alpha=x.norm())  # BREAK
            def added(x: Tensor, at: Tensor):
                scale = x.mean()
                x = x.add_(x, alpha=scale)
                x = torch.addcdiv(x, x, x, value=scale)
                x = x.addcdiv(x, x, value=scale)  # BREAK
                return x.index_add(0, at, x[:2], alpha=scale)  # BREAK
        """,
    },
    "a method that calls what it overrides is run as that one is": {
        "pkg/generation.py": """
            from pkg.custom import load_custom
            class Generates:
                def generate(self, ids: Tensor, custom):
                    if custom:
                        return load_custom(custom)
                    if ids.sum() == 0:
                        raise ValueError("empty")
                    return self.decode(ids)
                def score(self, ids: Tensor):
                    if ids.sum() == 0:  # BREAK
                        raise ValueError("empty")
                    return ids.float()
        """,
        "pkg/custom.py": """
            def load_custom(path):
                with open(path) as file:
                    return eval(file.read())
        """,
        "pkg/speech.py": """
            from pkg.generation import Generates
            class Speaks(Generates):
                def generate(self, ids: Tensor, custom):
                    if ids.min() < 0:
                        raise ValueError("negative")
                    return super().generate(ids, custom)
                def score(self, ids: Tensor):
                    if ids.min() < 0:  # BREAK
                        raise ValueError("negative")
                    return super().score(ids)
                def choose(self, ids: Tensor):
                    if ids.min() < 0:  # BREAK
                        raise ValueError("negative")
                    return super().score(ids)
        """,
    },
    "modules in a folder of data, and what a flag asks for": {
        "pkg/data/rotation.py": """
            class Rotation(nn.Module):
                def forward(self, x: Tensor):
                    return x
            def align(a: Tensor, b: Tensor):
                if (a < b).any():  # BREAK
                    return a
                return b
        """,
        "pkg/data/reading.py": """
            def align(a: Tensor, b: Tensor):
                if (a < b).any():
                    return a
                return b
        """,
        "pkg/losses.py": """
            def show_map(x):
                return x
            def shown_if_asked(a: Tensor, b: Tensor, show=False):
                if show:
                    show_map(a)
                if (a < b).any():  # BREAK
                    return a
                return b
            def shown_unless(a: Tensor, b: Tensor, show=True):
                if show:
                    show_map(a)
                if (a < b).any():
                    return a
                return b
        """,
    },
    "what is rearranged, called a mask, or given by default": {
        "pkg/rows.py": """
            def rearranged(values, count):
                rows = values.squeeze().cpu().detach()
                if torch.det(rows) > count:  # BREAK
                    return rows
                return -rows
            def arrays(values, count):
                return values.squeeze().reshape(-1).astype(float) > count
            def selected(x: Tensor, masks: Tensor):
                return x.transpose(1, 0)[masks.transpose(1, 0)]  # BREAK
            def taken(x: Tensor, rows: Tensor):
                return x.transpose(1, 0)[rows.transpose(1, 0)]
            class Detector:
                def __init__(self, size=torch.tensor([1.0, 2.0]), count=3):
                    self.size = size.to("cpu")
                    self.count = count
                def inside(self, rays):
                    if self.count > 2:
                        rays = rays + 1
                    return rays * self.size.tolist()[0]  # BREAK
        """,
    },
    "an object of one of several classes": {
        "pkg/layers.py": """
            class Chosen(nn.Module):
                def __init__(self, kind):
                    super().__init__()
                    if kind == "gru":
                        layer = nn.GRU
                    else:
                        layer = nn.LSTM
                    self.layer = layer(4, 4)
                    self.rows = {"a": nn.Linear, "b": nn.LSTM}[kind](4, 4)
                    self.other = (nn.Linear if kind == "a" else nn.Identity)(4, 4)
                    make = nn.LSTM if kind == "a" else build
                    self.made = make(4, 4)
                def forward(self, x: Tensor):
                    x, _ = self.layer(x)  # BREAK
                    x, _ = self.rows(x)  # BREAK
                    return self.made(self.other(x))
            def build(a, b):
                return nn.Linear(a, b)
        """,
    },
    "a name that holds a tensor only where a test came out otherwise": {
        "pkg/model.py": """
            class Quantizers(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(4)])
                def forward(self, x: Tensor, n: int = None):
                    if n is None:
                        n = 3
                    if self.training:
                        n = torch.ones((x.shape[0],)) * 4
                        n = n.to(x.device)
                    for i, layer in enumerate(self.layers):
                        if self.training is False and i >= n:
                            break
                        x = layer(x)
                    return x
            class Cached(nn.Module):
                def forward(self, x: Tensor, cache=None):
                    length = 0
                    if cache is not None:
                        length = cache[0].long()
                    if cache is None:
                        cache = torch.arange(length, length + x.shape[1])
                    return x[cache]
            class Both(nn.Module):
                def forward(self, x: Tensor, n: int = 1, more=None):
                    if self.training:
                        n = x.sum()
                    if not self.training or n > 3:  # BREAK
                        x = x + 1
                    if not self.training and n > 3:
                        x = x + 2
                    if self.training and n > 4:  # BREAK
                        x = x + 3
                    return x + (0 if self.training else torch.zeros(n)).sum()
            class Changed(nn.Module):
                def forward(self, x: Tensor, n: int = 1, k: int = 1, more=None):
                    if more is not None:
                        n = x.sum()
                    if self.training:
                        k = x.sum()
                    self.training = False
                    if not self.training and k > 3:  # BREAK
                        x = x + 1
                    more = None
                    if more is None and n > 3:  # BREAK
                        x = x + 1
                    for _ in range(3):
                        if more is None and n > 4:  # BREAK
                            x = x + 1
                    return x
        """,
    },
    "a length that is handed on, and an item of a dictionary of tensors and numbers": {
        "pkg/model.py": """
            class Table(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("z", torch.ones(1, 100))
                def forward(self, L):
                    return self.z[:, :L], self.other(L)
                def other(self, L):
                    return self.z[:, :L]
            class Filter(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.table = Table()
                def forward(self, x, L):
                    return x * self.table(L)[0]
            class Counted(nn.Module):
                def forward(self, x: Tensor):
                    return first(x, k=x.sum())
            def first(x, k):
                return x[:k] + 1  # BREAK
            class Masked(nn.Module):
                def made(self, x: Tensor, kind):
                    if kind:
                        return {"rows": x * 2, "size": int(kind)}
                    return None
                def forward(self, x: Tensor, kind):
                    masks = self.made(x, kind)
                    if masks and masks["size"] > 0:
                        x = x[: masks["size"]]
                    return x
        """,
    },
    "an attribute that is called a mask and keeps a list": {
        "pkg/model.py": """
            class Anchors(nn.Module):
                def __init__(self, anchor_mask, keep_mask, used_mask):
                    super().__init__()
                    self.anchor_mask = anchor_mask if anchor_mask else list(range(9))
                    self.used_mask = used_mask or [0, 1]
                    self.keep_mask = keep_mask
                def forward(self, anchors: Tensor):
                    anchors = anchors[self.keep_mask]  # BREAK
                    return anchors[self.anchor_mask], anchors[self.used_mask]
        """,
    },
    "a draw whose number is only asked for None": {
        "pkg/model.py": """
            import random
            class Shuffle(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.random = random.Random(1)
                def forward(self, x: Tensor, move=None, by=None):
                    if move is None:
                        move = self.random.randint(-2, 2)
                    if by is None:
                        by = self.random.random()
                    if by is not None:
                        x = x * by
                    if move == 0:  # BREAK
                        return x
                    return x + 1
        """,
    },
    "coroutines and functions that go over a data set": {
        "pkg/score.py": """
            import asyncio
            from torch.utils.data import DataLoader
            class Score(nn.Module):
                def forward(self, x: Tensor, folder):
                    asyncio.run(send(x))
                    return self.over(folder) + x
                def over(self, folder):
                    total = torch.zeros(3)
                    for batch in DataLoader(folder):
                        print(batch.sum().item())
                        total = total + batch
                    return total
            async def send(x: Tensor):
                if x.sum() > 0:
                    print(x)
        """,
    },
    "requires_grad_ in a backward": {
        "pkg/functions.py": """
            class Twice(torch.autograd.Function):
                @staticmethod
                def forward(ctx, x):
                    ctx.save_for_backward(x)
                    return x * 2
                @staticmethod
                def backward(ctx, grad):
                    with torch.enable_grad():
                        x = ctx.saved_tensors[0].detach()
                        x.requires_grad_(True)
                        y = x * 2
                    return torch.autograd.grad(y, x, grad)  # BREAK
            class Asks(nn.Module):
                def backward(self, x: Tensor):
                    return x
                def forward(self, x: Tensor):
                    y = x.detach()
                    y.requires_grad_(True)  # BREAK
                    return self.backward(y * 2)
        """,
    },
    "a partial that is kept": {
        "pkg/losses.py": """
            from functools import partial
            class Loss(nn.Module):
                def __init__(self, beta):
                    super().__init__()
                    self.criterion = partial(self.smooth, beta=beta)
                    self.other = partial(hinge, limit=beta)
                    self.scale = partial(scaled, 2)
                @staticmethod
                def smooth(a, b, beta):
                    delta = a - b
                    if delta.sum() > beta:  # BREAK
                        return delta
                    return -delta
                def forward(self, x: Tensor, y: Tensor):
                    return self.criterion(x, y) + self.other(x, y) + self.scale(x)
            def hinge(a, b, limit):
                if (a - b).sum() > limit:  # BREAK
                    return a
                return b
            def scaled(factor, a):
                return factor * a if factor else a
        """,
    },
    "what is summed or compared, and cast": {
        "pkg/evaluator.py": """
            class Accuracy:
                def __init__(self):
                    self.hits = []
                def __call__(self, found, wanted):
                    hits = (found.argmax(1) == wanted).int()
                    self.hits.append(hits.sum().item())  # BREAK
                    return self.hits[-1]
            class Pairs:
                def __call__(self, found, wanted):
                    return (found * wanted).sum().to(torch.float32).item()  # BREAK
            def rate(found, wanted):
                true = ((1 - wanted) * found).sum().float()
                return true.item()  # BREAK
            def plain(model, sizes):
                model.network.to("cpu")
                return sum(sizes) / len(sizes) if sizes else 0
        """,
    },
    "metrics on arrays alone": {
        "pkg/metrics/boxes.py": """
            import numpy as np
            def kept(scores: np.ndarray, limit: float):
                return scores[scores > limit].mean()  # BREAK
            def rates(found: np.ndarray, wanted: np.ndarray):
                keep = found.sum(1) == 1
                return [_rate(found[keep & wanted[:, k], k]) for k in range(3)]  # BREAK
            def _rate(found):
                return np.mean(found)
            def saved(scores: np.ndarray, path: str):
                np.save(path, scores[scores > 0])
            def undeclared(scores, limit):
                return np.mean(scores[scores > limit])
        """,
        "pkg/pictures.py": """
            import numpy as np
            def kept(scores: np.ndarray, limit: float):
                return scores[scores > limit].mean()
        """,
    },
    "a comparison joined with a part of something, and a table": {
        "pkg/rows.py": """
            import pandas as pd
            def joined(x: Tensor, masks):
                alone = x.sum(1) == 1
                return x[alone & masks[:, 0], 0]  # BREAK
            def named(x: Tensor, masks):
                alone = (x.sum(1) == 1) & masks[:, 0]
                return x[alone]  # BREAK
            def table(x: Tensor):
                y = x * 2
                frame = pd.DataFrame({"a": y.numpy()})  # BREAK
                return frame.sort_values(["a"])
        """,
    },
    "a buffer that both branches register": {
        "pkg/normalizer.py": """
            class Normalizer(nn.Module):
                def __init__(self, shape, kind):
                    super().__init__()
                    if shape == ():
                        self.register_buffer("count", torch.tensor(0))
                    elif kind:
                        self.register_buffer("count", torch.zeros(1))
                    else:
                        self.register_buffer("count", torch.zeros(*shape))
                    if kind:
                        self.register_buffer("mean", torch.zeros(1))
                def forward(self, x: Tensor):
                    self.push(x)
                    if self.count <= 1:  # BREAK
                        return x
                    return x / self.count
                def push(self, x):
                    self.count = self.count + x.shape[0]
        """,
    },
    "what a loop takes one by one": {
        "pkg/boxes.py": """
            def apart(boxes: Tensor, scores: Tensor, iou, limit: float):
                _, order = scores.sort(descending=True)
                kept = []
                while len(order):
                    first, order = order[0], order[1:]
                    kept.append(first)
                    close = iou(boxes[first], boxes[order])  # BREAK
                    order = order[close < limit]  # BREAK
                return kept
            def best(boxes: Tensor, scores: Tensor):
                order = scores[:, 0].argsort()
                first = order[0]
                return boxes[first]  # BREAK
            def rows(x: Tensor, index: Tensor):
                first = index[0]
                return x[first]
            def some(x: Tensor, index: Tensor, count: int):
                while count:
                    first = index[0]
                    x = x[first]
                    count = count - 1
                return x
        """,
    },
    "a dictionary by another name": {
        "pkg/optimizer.py": """
            from typing import TypeAlias
            State: TypeAlias = dict
            class Own(torch.optim.Optimizer):
                @torch.no_grad()
                def step(self, closure=None):
                    zero(self.param_groups, self.state)
                    for group in self.param_groups:
                        for p in group["params"]:
                            p.add_(p.grad)
            def zero(groups: list, state: State):
                for group in groups:
                    for p in group["params"]:
                        if "seen" not in state[p]:
                            state[p]["seen"] = torch.zeros_like(p)
        """,
    },
    "what models compute on, in a folder of data": {
        "pkg/data/graph.py": """
            class Graph:
                def __init__(self, edges: Tensor):
                    self.edges = edges
                def visualize(self):
                    import matplotlib.pyplot as plt
                    plt.plot(self.edges[self.edges > 0])
                def without(self, node: Tensor):
                    keep = self.edges != node
                    return self.edges[keep]  # BREAK
            class Resize:
                def __call__(self, x: Tensor):
                    return x[x > 0]
        """,
        "pkg/layers.py": """
            from pkg import data
            class Pool(nn.Module):
                def forward(self, graph: data.Graph):
                    return graph.edges
        """,
    },
    "a part of what a trainer uses": {
        "pkg/sequences.py": """
            def build(x: Tensor, done: Tensor):
                return x[_order(done)], _shown(done)
            def _order(done: Tensor):
                starts = done.nonzero().squeeze(1)  # BREAK
                return starts + 1
            def _shown(done: Tensor):
                print(done.sum().item())
        """,
        "pkg/trainer.py": """
            import logging
            from pkg.sequences import build
            class Trainer:
                def losses(self, x: Tensor, done: Tensor):
                    x, shown = build(x, done)
                    return x.mean()
        """,
    },
    "functions given to what maps or differentiates them": {
        "pkg/derivatives.py": """
            from torch.utils.checkpoint import checkpoint
            def hessian(x: Tensor, y: Tensor, eye: Tensor):
                def row(direction):
                    return torch.autograd.grad(y, x, grad_outputs=direction)[0]  # BREAK
                return torch.func.vmap(row)(eye)
            def slope(x: Tensor):
                return torch.func.grad(_scaled)(x)
            def _scaled(x):
                return x.sum() * x.max().item()  # BREAK
            def cheap(x: Tensor):
                def run(h):
                    return h * h.max().item()  # BREAK
                return checkpoint(run, x)
            def kept(x: Tensor, run):
                def never(h):
                    return h * h.max().item()
                return run(x)
        """,
    },
    "sizes that a tensor lists beside others, and slices made of tensors": {
        "pkg/padding.py": """
            def padded(x: Tensor, sizes: Tensor):
                top, _ = sizes.max(dim=0)
                out = torch.full((len(sizes), *top, 3), 0.0)  # BREAK
                out = out.view([*top, -1])  # BREAK
                for i, size in enumerate(sizes):
                    out[[i] + [slice(n) for n in size]] = x[i]  # BREAK
                return out
            def sliced(x: Tensor, n: Tensor, rest: tuple):
                window = slice(n[0], None)  # BREAK
                return x[window], x.view(*rest, 3), x[slice(2)]
            def kept(x: Tensor, parts: list):
                return torch.stack([*parts, x]), (x, *parts)
        """,
    },
    "modules that a method of them gives back": {
        "pkg/moved_layers.py": """
            class Own(nn.Module):
                def to(self, name):
                    return None
            class Encoder(nn.Module):
                def __init__(self, dim, kind, device=None):
                    super().__init__()
                    self.lstm = nn.LSTM(dim, dim).to(device=device)
                    self.score = nn.Linear(dim, 1).cuda().eval()
                    self.own = Own().to("cpu")
                    self.moved = nn.Linear(dim, 1).apply(print)
                    self.complex = nn.Linear(dim, 1).to(torch.complex64)
                    self.one = {"LSTM": nn.LSTM, "GRU": nn.GRU}[kind](dim, dim).to(device)
                def forward(self, x):
                    y, _ = self.lstm(x)  # BREAK
                    y, _ = self.one(y)  # BREAK
                    if self.score(y).sum() > 0:  # BREAK
                        return y
                    if self.own:
                        return x
                    if self.complex:
                        return self.complex(x)
                    return self.moved(x)
        """,
    },
    "functions that give an array only when one is asked for": {
        "pkg/__init__.py": "",
        "pkg/checks.py": """
            def as_kind(data, kind: str):
                if kind == "numpy":
                    return data.detach().cpu().numpy()
                if isinstance(data, Tensor):
                    return data
                return torch.as_tensor(data)
            def as_array(data):
                return data.detach().cpu().numpy()
            def _is_symmetric(matrix: Tensor) -> Tensor:
                return (matrix - matrix.mT).norm(dim=(-2, -1)) < 1e-6
            def is_symmetric(matrix):
                matrix = as_kind(matrix, "tensor")
                return _is_symmetric(matrix).tolist()  # BREAK
            def shown(matrix):
                values = as_array(matrix)
                return values, _is_symmetric(matrix).tolist()
        """,
    },
    "what a record holds, given to torch in part or in a list": {
        "pkg/__init__.py": "",
        "pkg/views.py": """
            class Sample:
                def one(self, data):
                    number, _ = data.x.size()
                    kept = torch.randperm(number)[:4]
                    mask = torch.zeros_like(data.x[:, 0]).scatter_(0, kept, 1.0).bool()
                    return data.x[mask]  # BREAK
            class Perturb:
                def one(self, data):
                    added = torch.randint(4, (2, 4))
                    return torch.unique(torch.cat((data.edges, added), dim=1), dim=1)  # BREAK
            def named(data, places):
                return {data.names[0]: torch.unique(places(data))}
        """,
    },
    "places under the name of a mask": {
        "pkg/places.py": """
            def padded(x: Tensor, size: Tensor, extend):
                mask = torch.argsort(x)
                if size.ndim > 1:
                    mask = extend(mask, size)[0]
                return x[mask]
        """,
    },
}


@pytest.mark.parametrize("name", CASES)
def test_breaks_are_reported_where_they_are(name: str) -> None:
    found, expected = reported(CASES[name])
    assert found == expected
