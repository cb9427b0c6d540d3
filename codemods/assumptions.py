"""The named assumptions that a fix may rest on. Each is off by default."""

from __future__ import annotations

from collections.abc import Mapping

ASSUMPTIONS: Mapping[str, str] = {
    "takes-effect": (
        "Code that was meant to be compiled and was not, is compiled: results may differ in their rounding, and the "
        "first call takes as long as the compiling."
    ),
    "checkpoint-names": "Whoever reads a checkpoint expects the names of the module that was not compiled.",
    "branches-total": "Both branches can be evaluated on every input: neither raises nor has a side effect.",
    "is-tensor": (
        "What looks like a tensor, by its use, a docstring, other calls or what the code fills it with, is one in "
        "every call; for a number, an array or None the result is another, or an error."
    ),
    "condition-one-element": (
        "The tensor that decides has exactly one element; with more, another error is raised than before."
    ),
    "same-shape-dtype": (
        "Both branches give tensors of the same shape and dtype, on one device; what a mean, or of what a mask selects "
        "the largest or smallest, is taken of, or a tensor scales, is floating: for others no error is raised as "
        "before, or another, or integers overflow or become floats. A number that is repeated is Python's, and no "
        "integer that is repeated no times."
    ),
    "finite-derivative": "The derivative of the branch not taken is finite, so that zero times it is zero and not NaN.",
    "gradient-zeros": (
        "A parameter used only in the branch not taken may get a gradient of zeros instead of None, and what is "
        "selected may require a gradient because of it."
    ),
    "no-gradient": (
        "A tensor that the function copies or makes, a buffer that losses are added to, or an attention mask, needs no "
        "gradient of its own: nobody reads its `.grad`, a result need not require a gradient because of it, and a copy "
        "or a flag that torch refuses it raises no error."
    ),
    "gradient-function": (
        "What a gradient is asked of may run as a function under `torch.func.vjp`: what it calls writes into no tensor "
        "that it is given or that was there before (as BatchNorm does in training), neither keeps nor shows what it "
        "computes, does not ask whether that requires a gradient, and uses no NumPy, no checkpoint and no "
        "`autograd.Function` without `setup_context`. Where the gradient could not be asked for, or its graph is gone, "
        "no error is raised as before."
    ),
    "no-aliasing": (
        "Nobody writes into the result in place and expects another tensor to change with it, or asks whether it is "
        "the same object, or requires a gradient under `no_grad`. No backward pass needs what was in memory before a "
        "write, where the write or what needs it is always made now, and none goes into a leaf that requires a "
        "gradient (both would raise). What is written into a tensor is no part of it. Two tensors that `torch.equal` "
        "compares are not one with NaN in it, which a GPU takes for equal to itself."
    ),
    "number-to-tensor": (
        "What was a Python number may be a tensor without dimensions where it is used, of dtype float64 where a whole "
        "number is computed with as a float; beside another one without dimensions, or one of integers, the result "
        "may take its dtype, and nobody adds to it in place. It is real, and an integer is one of 64 bits: a larger "
        "one may wrap round, where Python's grew or torch raised an error. What it is computed with is on its device, "
        "unless it has no dimensions either and is not written in place. Beside a tensor of half precision on a GPU it "
        "is rounded to the dtype of that one first where nothing is compiled, and is infinite beyond its range (65504 "
        "in float16). "
        "A size that was computed of tensors of fewer bits may be a Python integer, which does not wrap round."
    ),
    "float32-rounding": (
        "A constant or intermediate result may be rounded to the tensor's precision instead of double, beyond whose "
        "range it is infinite, and an integer above 2**53 to double."
    ),
    "math-errors": (
        "A domain or overflow error of `math`, a division by zero, a power that is complex in Python, or a warning of "
        "NumPy about one, may become NaN or inf, and where NumPy gives one of these Python may raise. What a number is "
        "cut or rounded to may be minus zero."
    ),
    "log-late": (
        "Printed and logged lines appear, with the same text and in the same order, after the compiled call returns; "
        "the error of one that cannot be made is raised then, and a parameter is formatted as a tensor is."
    ),
    "text-order": "A line that cannot be carried to the boundary may come before lines that are.",
    "log-dropped": (
        "A printed or logged line may be missing where the code runs compiled, and the error of one that cannot be "
        "made."
    ),
    "caller-place": (
        "A warning or log line with `stacklevel` may name its own line as its place, not its caller's, and filters go "
        "by that: they may show it less often, and a `DeprecationWarning` not at all."
    ),
    "state-late": (
        "A number stored on a module, or added to a container that it holds, is so when the compiled call returns; "
        "nobody reads it before."
    ),
    "progress-hidden": "A progress bar need not be shown.",
    "exception-late": (
        "An exception is raised, with the same type and text, after the compiled call has finished. Where code behind "
        "the check fails on what the check was to keep out, that failure comes instead, on a GPU perhaps as an error "
        "of the device that ends the process. What an `assert` asked is asked under `python -O` too."
    ),
    "mask-for-none": (
        "A mask that hides nothing may be handed on where None was: who gets it applies it, and reads nothing else "
        "from its being None."
    ),
    "no-recompute": (
        "Compiled, the backward pass does not compute again what is read from memory that the graph writes into "
        "(PyTorch 2.13 may, and takes what was written)."
    ),
    "gradient-text": (
        "The text of a tensor, printed or in an exception, need not show that it is a parameter or requires a gradient."
    ),
    "bounded-loop": "A loop runs a fixed number of turns, with the turns after its end masked out.",
    "capture-scalars": (
        "The compile call, or a file by itself as it is imported, switches on `capture_scalar_outputs`, "
        "`capture_dynamic_output_shape_ops`, `allow_unspec_int_on_nn_module` or `trace_autograd_ops` for the whole "
        "process; or you do, and the fix helps only then."
    ),
    "float32-result": (
        "A NumPy result of dtype float64 may be a float32 tensor, and one made of booleans or bytes may have another "
        "dtype than NumPy gives it."
    ),
    "rng-stream": (
        "Random numbers may come from another stream with the same distribution, which no seed or state of a "
        "generator of Python or NumPy decides, nor a generator that is handed over; what Python or NumPy refuses, "
        "such as a deviation below zero or an empty range, raises no error, or another."
    ),
    "distinct-choices": "A token is not sent to the same expert twice, as with the indices that `topk` gives.",
    "all-rows": (
        "A layer or function that was given selected rows may be given all rows: it treats each row by itself (up to "
        "rounding), writes into none, cannot fail on the others, and its result and gradient there are dropped."
    ),
    "summation-order": (
        "The elements of a sum or mean may be added in another order, which changes the rounding; in half precision "
        "the sum, or the number of elements, may overflow where the mean did not, and under autocast it has the dtype "
        "that a sum has there."
    ),
    "boolean-mask": (
        "What is an index and is called a mask, is negated somewhere (`~x`) or compared (`x > y`), or is a part of "
        "such, is a boolean tensor; of another one an error is raised where rows were taken."
    ),
    "mask-not-empty": (
        "A mask selects at least one element, or as many as the code asks for before it goes on, and a loop whose "
        "turns a tensor skips collects in one at least; where it selects fewer, no error is raised as before, or "
        "compiled code raises RuntimeError."
    ),
    "one-dimension": (
        "A mask of which the first or last true place is read, whose listed places it takes the place of, that puts "
        "rows in order, or that is asked whether it selects all, has one dimension, and where its only place is read "
        "it is true in no more than one: with several an error was raised, or other elements were selected."
    ),
    "dimension-not-empty": (
        "A dimension that a loop runs over, or a list of numbers whose largest is sought, exists and has at least one "
        "element."
    ),
    "not-negative": (
        "A number that bounds a slice, or says how often a list is repeated, is not below zero: it does not count from "
        "the end. Where it is checked, RuntimeError is raised for one that does."
    ),
    "index-in-range": (
        "An index is one that the function takes, and lies below the number of classes that is given, or within the "
        "positions that there are; for others no error is raised as before, and a bool counts as a number. A slice of "
        "fixed length begins at zero or behind it, or ends before the last place: else it was empty, and goes round. "
        "One whose bounds are checked lies within the tensor: RuntimeError is raised where it was cut off or empty."
    ),
    "enough-dimensions": (
        "A tensor has as many dimensions as the code counts on; with fewer, no error is raised as before, or the "
        "result is another. What is read as a list of numbers has one: with more, its items are tensors as well."
    ),
    "rows-match": (
        "Tensors that a loop reads and fills row by row have one row for each turn of the loop; the lengths of the "
        "rows are integers in one dimension. What is added to masked elements, computed with them or takes their place "
        "has one for each, or is one row for all; where it has another number, no error is raised as before, or "
        "another. So has a mask that puts rows in order "
        "one element for each row, and one of which the first or last place in each row is taken as many true places "
        "in each, and one at least. What `repeat_interleave` gives has as many rows as the tensor that it is combined "
        "with: one that is broadcast raises, and on a GPU a wrong number is not noticed, and memory behind the result "
        "may be written."
    ),
    "one-hot-rows": (
        "What is compared with one, and of whose true places the columns are listed, or is made as a mask for a "
        "diagonal or of one-hot rows and selects from a matrix, is a matrix that has columns and exactly one 1 in each "
        "row; with more or fewer in a row, the list was longer or shorter."
    ),
    "nan-order": (
        "Which of several NaN comes first is left open: the number or rank that belongs to one of them may be "
        "another's."
    ),
    "set-once": (
        "A flag that an object keeps in a buffer, and that its own code only sets, is not cleared after it was set: no "
        "state is loaded into the object that clears it. The object is made by its `__init__`, and not unpickled from "
        "what was saved before the fix."
    ),
    "fixed-attribute": (
        "An attribute that only `__init__` assigns keeps its value: nobody sets it or writes into it later, and the "
        "object is not made on the meta device, which has no value to read. It can be read there, also where no call "
        "would."
    ),
    "cache-in-init": (
        "A value that the first call computes and keeps may be a buffer that is computed when the object is made: what "
        "it is made of does not change in between, and it may move and be cast with the module."
    ),
    "computed-again": (
        "A value that was computed once and kept may be computed at each read: what it is made of does not change, "
        "nobody writes into it or asks whether it is the same object, and what it is asked for with has a hash and is "
        "not taken for an equal number of another type. A row of a table does not depend on how many there are, and "
        "nobody asks afterwards for a longer one that was kept."
    ),
    "plain-default-device": (
        "New tensors are made on the default device as it was set: it has no number that they do not show (`cpu:0`), "
        "and no default tensor type of another device is set."
    ),
    "asked-once": (
        "What the machine and the installation have does not change after the module is imported, and nobody changes "
        "who is asked."
    ),
    "python-for-script": (
        "A function that compiled code scripts may run there as Python code: TorchScript computes the same of what it "
        "is given, up to rounding, the values that it takes from outside do not change after it is scripted, and what "
        "is scripted is only called. It can be scripted, and where it fails, type and text of the error may be others."
    ),
    "torch-einsum": (
        "An einsum of opt_einsum or TensorLy may be PyTorch's: its operands are tensors of PyTorch, TensorLy computes "
        "with PyTorch, a letter stands for each dimension, the terms may be multiplied and added in another order, "
        "which changes the rounding, the result may have other strides or share the memory of the only operand, no "
        "intermediate results are shared between sums, and an error has another type and text."
    ),
    "constant-result": (
        "A function of a library that is given numbers and texts, and no tensor, gives the same result for the same "
        "arguments, and nobody writes into that: it is computed while Dynamo traces, and stays in the graph. An object "
        "that it is given is one that this torch takes as a constant: 2.13 does, 2.11 raises an error where it traces."
    ),
    "static-shape-values": (
        "A value computed from shapes is used like a Python integer and not as an ndarray; one whose origin is "
        "unknown is such an integer, a float where it is rounded, or a sequence of integers, and a positive one where "
        "it divides; a sequence that is read has an item, and one whose order is asked holds no number twice."
    ),
}
