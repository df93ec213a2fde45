"""Labels: rows of integers, floats or text on nodes, edges or darts, compared exactly.

A label array has shape (rows,) or (rows, width); inside the package it is always (rows, width), int64 or float64, C-contiguous.
The core compares 64-bit integer keys. Integers are their own keys; a double becomes the integer whose order is the order of the
doubles: its bits read as a signed integer, the lower 63 bits flipped if it is negative. NaN has no place in an order and is
refused; -0.0 is the same label as 0.0. Integer labels and float labels are different labels, even where 1 == 1.0.

Text becomes integers: its UTF-8 bytes, eight to an integer, padded with zeros to 32 bytes. All text has this width, so that labels of
different graphs compare, whatever else is in them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import InvalidGraphError

_LOWER_63_BITS = np.int64(0x7FFF_FFFF_FFFF_FFFF)
_TEXT_BYTES = 32


def as_labels(values: Any, rows: tuple[int, ...], what: str) -> np.ndarray | None:
    """Checks and normalises labels whose leading shape must be ``rows``; ``what`` names them in messages.

    Returns a new int64 or float64 array of shape ``rows + (width,)``, or None if it would be empty: labels on nothing, or of
    width 0, count as no labels.

    >>> as_labels([3, 1], (2,), "node_labels")
    array([[3],
           [1]])
    """
    if values is None:
        return None
    refuse_masked(values, what)
    try:
        array = np.asarray(values)
    except ValueError as error:  # ragged nesting
        raise InvalidGraphError(f"{what} must be a rectangular array of numbers; {error}") from None
    if array.size == 0 and not hasattr(values, "dtype"):
        array = array.astype(np.int64)  # numpy reads an empty list as floats
    if array.dtype.kind == "f" and not hasattr(values, "dtype"):
        refuse_rounding(values, what)
    lead = len(rows)
    if array.dtype.kind in "UOT":
        array = _text(array if hasattr(values, "dtype") else np.asarray(values, object), lead, what)
    if array.shape[:lead] != rows or array.ndim > lead + 1:
        wanted = ", ".join(map(str, rows))
        raise InvalidGraphError(
            f"{what} must have shape ({wanted}{',' if lead == 1 else ''}) or ({wanted}, width); found shape {array.shape}"
        )
    return if_any(_exact(array.reshape(*rows, *(array.shape[lead:] or (1,))), what))


def _text(array: np.ndarray, lead: int, what: str) -> np.ndarray:
    """The integers of each text, those of one row side by side; the first ``lead`` axes count rows. What is not all text stays as it is."""
    texts = array.ravel().tolist()
    if not all(isinstance(text, str) for text in texts):
        return array
    packed = np.zeros((len(texts), _TEXT_BYTES), np.uint8)
    for row, text in zip(packed, texts, strict=True):
        data = text.encode("utf-8", "surrogatepass")
        if len(data) > _TEXT_BYTES or b"\0" in data:
            raise InvalidGraphError(
                f"{what}: text has at most {_TEXT_BYTES} bytes in UTF-8, and no NUL; found {text[:60]!r} with {len(data)} bytes. Number "
                "longer text, for example with numpy.unique(..., return_inverse=True)"
            )
        row[: len(data)] = np.frombuffer(data, np.uint8)
    columns = packed.view(">i8").astype(np.int64)
    return columns.reshape(*array.shape[:lead], -1)


def to_numpy(values: Any, what: str, index: int | None = None) -> np.ndarray:
    """A tensor on any device, or anything array-like, as an array in the byte order of this machine; ``what`` names it in messages."""
    try:
        if hasattr(values, "detach"):
            values = values.detach().cpu()
            values = (values.float() if str(values.dtype) == "torch.bfloat16" else values).numpy()
        refuse_masked(values, what)
        array = np.asarray(values)
        return array.astype(array.dtype.newbyteorder("="), copy=False)
    except InvalidGraphError as error:
        raise InvalidGraphError(str(error), index) from None
    except (TypeError, ValueError, RuntimeError) as error:
        raise InvalidGraphError(f"{what} must be a rectangular array of numbers; {error}", index) from None


def if_any(labels: np.ndarray | None) -> np.ndarray | None:
    """The labels, or None if there is not a single one."""
    return labels if labels is not None and labels.size else None


def refuse_masked(values: Any, what: str) -> None:
    """A masked entry has no value to compare, and numpy would quietly use what lies under the mask."""
    if isinstance(values, np.ma.MaskedArray):
        raise InvalidGraphError(f"{what} must not be a masked array; give the masked entries a value, as with .filled(-1)")


def refuse_rounding(values: Any, what: str) -> None:
    """numpy turns a list that mixes floats (or too different integers) with integers into floats, rounding the large ones."""
    for x in np.asarray(values, object).ravel():
        if isinstance(x, int) and abs(x) > 2**53:
            raise InvalidGraphError(f"{what} mix floats with the integer {x}, which no double holds exactly")


def _exact(array: np.ndarray, what: str) -> np.ndarray:
    """The same numbers as int64 or float64, or an error that says why they have none."""
    kind = array.dtype.kind
    if kind in "bi" or (kind == "u" and array.dtype.itemsize < 8):
        return array.astype(np.int64, order="C", copy=True)
    if kind == "u":
        too_big = array > np.uint64(_LOWER_63_BITS)
        if too_big.any():
            at = _first(too_big)
            raise InvalidGraphError(f"{what}{_index(at)} is {array[at]}, beyond the largest 64-bit signed integer")
        return array.astype(np.int64, order="C", copy=True)
    if kind == "f" and array.dtype.itemsize <= 8:
        result = array.astype(np.float64, order="C", copy=True)
        nan = np.isnan(result)
        if nan.any():
            raise InvalidGraphError(
                f"{what}{_index(_first(nan))} is NaN, which equals nothing; replace it by a number of your choice"
            )
        result += 0.0  # -0.0 becomes 0.0
        return result
    raise InvalidGraphError(
        f"{what} must be integers, booleans or floats of at most 64 bits; found dtype {array.dtype}. "
        "Number other values first, for example with numpy.unique(..., return_inverse=True)"
    )


def _first(mask: np.ndarray) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def _index(at: tuple[int, ...]) -> str:
    return "[" + ", ".join(map(str, at)) + "]"


def is_float(labels: np.ndarray | None) -> bool:
    """Whether these (normalised) labels are floats."""
    return labels is not None and labels.dtype.kind == "f"


def to_keys(labels: np.ndarray) -> np.ndarray:
    """Order-preserving int64 keys of normalised labels.

    >>> keys = to_keys(np.array([-np.inf, -1.5, 0.0, 5e-324, 2.0]))
    >>> bool((np.diff(keys) > 0).all())
    True
    """
    if labels.dtype.kind != "f":
        return labels
    bits = labels.view(np.int64)
    return np.where(bits < 0, bits ^ _LOWER_63_BITS, bits)


def from_keys(keys: np.ndarray) -> np.ndarray:
    """The doubles whose keys these are: the inverse of :func:`to_keys` on floats.

    >>> from_keys(to_keys(np.array([-1.5, 2.0])))
    array([-1.5,  2. ])
    """
    return np.where(keys < 0, keys ^ _LOWER_63_BITS, keys).view(np.float64)
