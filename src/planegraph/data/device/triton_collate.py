"""fill.py as one kernel: a program makes some entries of one section of one trial. Every entry is written once, by its own program."""

from __future__ import annotations

from contextlib import nullcontext

import torch
import triton
import triton.language as tl
from torch import Tensor

from ..runs import Field
from .fill import Data, Runs
from .plan import BLOCK, Descriptors

_OFFSET, _LENGTH, _FIRST, _COLUMNS = (tl.constexpr(int(f)) for f in (Field.OFFSET, Field.LENGTH, Field.FIRST, Field.COLUMNS))
_SPACE, _SOURCE, _KIND, _TARGET = (tl.constexpr(int(f)) for f in (Field.SPACE, Field.SOURCE, Field.KIND, Field.TARGET))
_TARGET_SPACE, _SEGMENT, _PAD, _PLUS = (tl.constexpr(int(f)) for f in (Field.TARGET_SPACE, Field.SEGMENT, Field.PAD, Field.PLUS))
_FIELDS = tl.constexpr(len(Field))


@triton.jit
def _fill_kernel(
    data, offsets, graphs, begin, count, shift, programs, lines, out, num_programs, columns, width, num_graphs, length,
    STEPS: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    trial = tl.program_id(1).to(tl.int64)
    line = lines + tl.load(programs + tl.program_id(0)) * _FIELDS
    position = tl.load(programs + num_programs + tl.program_id(0)) + tl.arange(0, BLOCK)
    inside = position < tl.load(line + _LENGTH).to(tl.int32)
    first = tl.load(line + _FIRST).to(tl.int32)
    runs = tl.load(line + _COLUMNS).to(tl.int32) * width
    kind = tl.load(line + _KIND).to(tl.int32) + tl.zeros((BLOCK,), dtype=tl.int32)
    source = tl.load(line + _SOURCE) + tl.zeros((BLOCK,), dtype=tl.int64)
    target = tl.load(line + _TARGET).to(tl.int32)
    segments = tl.load(line + _SEGMENT) + tl.zeros((BLOCK,), dtype=tl.int64)
    pad = tl.load(line + _PAD).to(tl.int32)
    is_id = kind == 1
    is_ptr = kind == 2
    begin += trial * columns * width
    count += trial * columns * width
    shift += trial * columns * width
    # how many runs begin at or before the position
    passed = tl.zeros((BLOCK,), dtype=tl.int32)
    for k in tl.static_range(STEPS):
        further = passed + (1 << (STEPS - 1 - k))
        ahead = inside & (further <= runs)
        here = tl.load(begin + first * width + further - 1, mask=ahead, other=0)
        passed = tl.where(ahead & (here <= position), further, passed)
    found = inside & (passed > 0)
    run = tl.maximum(passed - 1, 0)
    column = run // width
    place = run - column * width
    at = first * width + run
    end = tl.load(begin + at, mask=found, other=0) + tl.load(count + at, mask=found, other=0)
    real = found & (position < end)
    # the local entry
    graph = tl.load(graphs + trial * width + place, mask=real, other=0)
    of_space = tl.load(offsets + tl.load(line + _SPACE) * (num_graphs + 1) + graph, mask=real, other=0)
    row = of_space + (position - tl.load(shift + at, mask=real, other=0))
    value = tl.load(data + source + row, mask=real & (source >= 0), other=0)
    # and what to add to it
    known = real & (value >= 0)
    of_target = tl.load(offsets + tl.load(line + _TARGET_SPACE) * (num_graphs + 1) + graph, mask=known & is_id, other=0)
    segment = tl.load(data + segments + of_target + value, mask=known & is_id & (segments >= 0), other=0)
    there = (target + tl.where(is_ptr, column, segment)) * width + place
    added = tl.load(shift + there, mask=known & (is_id | is_ptr), other=0)
    value = value + added + tl.load(line + _PLUS).to(tl.int32)
    value = tl.where(kind == 3, row.to(tl.int32), value)
    behind = tl.load(begin + there, mask=found & is_ptr, other=0) + tl.load(count + there, mask=found & is_ptr, other=0)
    value = tl.where(known, value, tl.where(is_ptr, behind, pad))
    tl.store(out + trial * length + tl.load(line + _OFFSET) + position, value, mask=inside)


def fill(data: Data, runs: Runs, descriptors: Descriptors) -> Tensor:
    """As ``fill.fill``."""
    trials, columns, width = runs.begin.shape
    out = runs.begin.new_empty(trials, descriptors.length)
    programs = descriptors.programs.shape[1]
    if programs == 0:
        return out
    with torch.cuda.device(out.device) if out.is_cuda else nullcontext():
        _fill_kernel[programs, trials](
            data.data,
            data.offsets,
            *(table.contiguous() for table in runs),
            descriptors.programs,
            descriptors.on_device,
            out,
            programs,
            columns,
            width,
            data.offsets.shape[1] - 1,
            descriptors.length,
            STEPS=(descriptors.most_columns * width).bit_length(),
            BLOCK=BLOCK,
        )
    return out
