"""CSV that every reader takes apart as it was put together, also where a cell has a carriage return."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any


class CsvWriter:
    r"""Writes rows that end with a newline. The ``csv`` module of Python 3.11 leaves a cell with a lone carriage return without quotes,
    and readers take that for the end of the row.

    >>> import io
    >>> out = io.StringIO()
    >>> CsvWriter(out).writerows([("a", 1), ("b\rc", 2)])
    >>> out.getvalue()
    'a,1\n"b\rc","2"\n'
    """

    def __init__(self, file: Any, delimiter: str = ",") -> None:
        options: dict[str, Any] = {"delimiter": delimiter, "lineterminator": "\n"}
        self._plain, self._quoted = csv.writer(file, **options), csv.writer(file, **options, quoting=csv.QUOTE_ALL)

    def writerow(self, row: Iterable[Any]) -> None:
        """One row; with quotes around all cells if one needs them for its carriage return."""
        row = list(row)
        returns = any(isinstance(cell, str) and "\r" in cell for cell in row)
        (self._quoted if returns else self._plain).writerow(row)

    def writerows(self, rows: Iterable[Iterable[Any]]) -> None:
        """All of them, in order."""
        for row in rows:
            self.writerow(row)
