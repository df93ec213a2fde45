"""Text from files and from the command line, made safe for a terminal and for a message."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence


def printable(text: str) -> str:
    r"""The text with escapes such as ``\x1b`` for control characters: names in a file must not steer the terminal.

    >>> print(printable("\033[31mred"))
    \x1b[31mred
    """
    return "".join(c if c.isprintable() or c in "\n\t" else c.encode("unicode_escape", "surrogatepass").decode() for c in text)


def shortened(text: object, most: int = 1000) -> str:
    """As text, without its middle if that is long: libraries repeat what a damaged file says, be it a million characters.

    >>> shortened("a" * 50 + "b" * 50, 10)
    'aaaaa ... bbbbb'
    """
    text = str(text)
    return text if len(text) <= most else f"{text[: most // 2]} ... {text[-(most // 2) :]}"


def counted(count: int, noun: str) -> str:
    """A count with its noun, of which the plural ends in s, or in ies for y.

    >>> counted(1, "trial"), counted(2000, "epoch"), counted(2, "entry")
    ('1 trial', '2,000 epochs', '2 entries')
    """
    plural = noun[:-1] + "ies" if noun.endswith("y") and noun[-2] not in "aeiou" else noun + "s"
    return f"{count:,} {noun if count == 1 else plural}"


def columns(rows: Iterable[Sequence[str]], right: Collection[int] = ()) -> str:
    """Rows as lines of columns that are as wide as need be; those in ``right`` are aligned right.

    >>> print(columns([("name", "graphs"), ("exp", "1,200")], right=[1]), end="")
    name  graphs
    exp    1,200
    """
    lines = [[" ".join(cell.split()) for cell in row] for row in rows]
    widths = [max(len(line[i]) for line in lines if i < len(line)) for i in range(max(map(len, lines)))]
    aligned = (
        [cell.rjust(width) if i in right else cell.ljust(width) for i, (cell, width) in enumerate(zip(line, widths, strict=False))]
        for line in lines
    )
    return "".join("  ".join(cells).rstrip() + "\n" for cells in aligned)
