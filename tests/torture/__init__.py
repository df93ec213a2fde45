"""The torture suite: attacks on planegraph that are repeated until their time is over. ``make torture`` runs it for an hour.

A part is a module of this folder with a function ``trial(seed)``. It makes one attack, the same one for the same seed, and returns what it
found, or None; an exception is a finding, too, and so is the end of the process. ``PARTS`` lists them all. The runner calls a part with the
seeds N, N + 1, ... until its share of the time is over, and names the seed of each finding:

    PYTHONPATH=tests python -m torture                              all parts, an hour
    PYTHONPATH=tests python -m torture --jobs 2                     two parts at a time, an hour in all: each part has twice the time
    PYTHONPATH=tests python -m torture --part graphs --seed 1234 --seconds 0    one trial, to repeat a finding
    make torture TORTURE_SECONDS=600 TORTURE_ARGS="--jobs 2 --seed 1"           the same, after building what is needed

Commit, machine and seed come first, then a row for each part when it ends, with its findings, and all rows again at the end. Ctrl-C or
SIGTERM ends the suite with the rows so far and exit code 130. A part runs in its own session with its own TMPDIR; both end with
it.

A part that needs what may not be there has a function ``missing()``, too: what is lacking in words, or "". A part that can do some of
its attacks has ``without()``: those it leaves out, and why. The table shows both. ``giants`` takes huge inputs only for seeds of 1,000 and
more.

A new function needs no part: it needs a line in ``_OF_GRAPHS`` of ``arrays``, a check in ``_PLANE`` of ``graphs`` if it is about the
plane, and a case of a fuzzer in cpp/tests. A new part needs its module here and a line in ``PARTS``; tests/test_torture.py then runs it
for a second with the default tests.
"""

from __future__ import annotations

PARTS = {
    "arrays": "arbitrary arrays, codes, graph6 and planar_code into the core, points and cyclic orders too",
    "graphs": "planarity, codes, isomorphism, embeddings and drawings against networkx, nauty and exact arithmetic",
    "giants": "10^7 tiny graphs, graphs of 10^7 nodes, with enough memory and with too little",
    "sanitizers": "the core's fuzzers under ASan, UBSan and TSan",
    "processes": "fork, spawn, threads, daemon threads, exit",
    "texts": "hostile text through the command line",
    "bytes": "damaged bytes in every kind of file, read and used",
    "files": "hostile files: bombs, pickles, pipes, names, sizes that lie",
    "folders": "two processes on one folder or file",
    "kills": "kill -9 while packing, training, saving, resuming, predicting",
    "disks": "full, broken and read-only disks, while the same is written",
}
"""The modules of this folder that are parts, and what each attacks."""
