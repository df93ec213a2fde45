"""The measured tables of docs/results.md: measures one, and keeps a record of it from which ``planegraph tables`` writes the page.

python benchmarks/measured.py tiger                      running times on large graphs: half a minute
python benchmarks/measured.py expressiveness             pairs of graphs that untrained models distinguish: a minute
python benchmarks/measured.py tiger --records FOLDER     another folder of records than records
python benchmarks/measured.py tiger --data-root FOLDER   where the data lie (else PLANEGRAPH_DATA)
python benchmarks/measured.py tiger --device cuda        on a GPU
"""

from __future__ import annotations

import argparse
import time

import expressiveness
import tiger
import torch

from planegraph.experiments.records import write_measure

MEASURES = {"tiger": tiger.measure, "expressiveness": expressiveness.measure}


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=MEASURES)
    parser.add_argument("--records", default="records", metavar="FOLDER")
    parser.add_argument("--data-root", metavar="FOLDER")
    parser.add_argument("--device", type=torch.device, default=torch.device("cpu"))
    args = parser.parse_args(arguments)
    begun = time.monotonic()
    rows, notes = MEASURES[args.name](args.data_root, args.device, lambda text: print(text, flush=True))
    print(write_measure(rows, args.records, args.name, time.monotonic() - begun, args.device, notes=notes))


if __name__ == "__main__":
    main()
