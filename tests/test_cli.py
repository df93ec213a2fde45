"""The command line: output, exit codes, errors by line; run as a process where streams matter."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from unittest import mock

import pytest

import planegraph as pg
from planegraph.cli import main


def run(*args: str, stdin: str = "") -> tuple[int, str, str]:
    """The exit code, stdout and stderr."""
    streams = [io.TextIOWrapper(io.BytesIO(text.encode()), encoding="utf-8", write_through=True) for text in (stdin, "", "")]
    with mock.patch.multiple(sys, stdin=streams[0], stdout=streams[1], stderr=streams[2]):
        code = main(list(args))
    return code, *(stream.buffer.getvalue().decode() for stream in streams[1:])


G6 = "C~\nBw\nxx\nD~{\nC~\n"  # K4, a triangle, rubbish, K5, K4


def digest(g6: str) -> str:
    return pg.canonical_form(pg.Graph.from_graph6(g6)).digest


def test_canon_skips_bad_lines_and_names_them():
    status, out, err = run("canon", stdin=G6)
    assert status == 1
    assert out.split() == [digest("C~"), digest("Bw"), digest("C~")]
    assert "<stdin>:3: graph6" in err
    assert "<stdin>:4: the graph is not planar" in err


def test_canon_strict_stops_at_the_first_bad_line():
    status, out, err = run("canon", "--strict", stdin="C~\nD~{\nxx\nBw\n")
    assert (status, out.split()) == (2, [digest("C~")])
    assert "<stdin>:2" in err
    assert "<stdin>:3" not in err


def test_canon_prints_codes_that_decode():
    status, out, _ = run("canon", "--code", "--with-input", stdin="C~\nBw\n")
    assert status == 0
    for line in out.splitlines():
        text, g6 = line.split("\t")
        assert bytes.fromhex(text) == pg.canonical_form(pg.Graph.from_graph6(g6)).code


@pytest.mark.parametrize(
    ("options", "expected"),
    [(["--unique"], "C~\nBw\n"), (["--count"], "2\n"), (["--unique", "--count"], "2\tC~\n1\tBw\n")],
)
def test_canon_classes(options, expected, tmp_path):
    path = tmp_path / "graphs.g6"
    path.write_text(G6)
    status, out, err = run("canon", *options, str(path))
    assert (status, out) == (1, expected)
    assert f"{path}:3:" in err


def test_canon_smiles_by_suffix(tmp_path):
    pytest.importorskip("rdkit")
    path = tmp_path / "some.smi"
    path.write_text("OCC ethanol\nCCO\nc1ccccc1\nC1=CC=CC=C1\nC1CC\n")
    status, out, err = run("canon", str(path))
    a, b, c, d = out.split()
    assert (status, a == b, c == d, a == c) == (1, True, True, False)
    assert f"{path}:5: RDKit refuses" in err


def test_mirror_images(tmp_path):
    pytest.importorskip("rdkit")
    left, right = "C[C@H](N)C(=O)O", "C[C@@H](N)C(=O)O"
    path = tmp_path / "alanine.smi"
    path.write_text(f"{left}\n{right}\nOC(=O)[C@@H](N)C\n")
    assert run("canon", "--unique", str(path))[1].split() == [left, right]
    assert run("canon", "--unique", "--no-stereo", str(path))[1].split() == [left]
    assert run("iso", "-f", "smiles", left, right)[0] == 1
    assert run("iso", "-f", "smiles", "--no-stereo", left, right)[0] == 0
    assert run("decompose", "--no-stereo", str(path))[0] == 0


def test_edge_lists():
    path, cycle = digest("Bg"), digest("Bw")
    assert run("canon", "-f", "edges", stdin="a-b b-c\n1-2,2-3,3-1\n")[1].split() == [path, cycle]
    assert run("canon", "-f", "edgelist", stdin="# a path\na b 1.5\nb c\n\n\n7 8\n8 9\n9 7\n")[1].split() == [path, cycle]
    status, out, err = run("canon", "-f", "edges", stdin="a-a\na-b b-a\na--b\nx-y y-z\n")
    assert (status, out.split()) == (1, [path])
    for line in ("<stdin>:1: a-a is a self-loop", "<stdin>:2: b-a is there twice", "<stdin>:3: 'a--b' is not an edge"):
        assert line in err


def test_decompose_tree_and_json():
    status, out, _ = run("decompose", "-f", "edges", stdin="10-20 20-30 30-10 30-40 99\n")
    assert status == 0
    assert "cut node 30" in out
    assert "isolated: 99" in out
    status, out, _ = run("decompose", "-f", "edges", "--json", stdin="10-20 20-30 30-10 30-40 99\n")
    data = json.loads(out)
    assert data["counts"] == {"blocks": 2, "S": 1, "P": 0, "Q": 1, "R": 0}
    assert data["names"] == ["10", "20", "30", "40", "99"]
    assert [c["node"] for c in data["cut_nodes"]] == [2]
    assert run("decompose", stdin="D~{\n")[0] == 1
    assert "as a set" in run("decompose", "--on-nonplanar", "set", stdin="D~{\n")[1]


@pytest.mark.parametrize(
    ("args", "status", "out"),
    [
        (["C~", "C~"], 0, "isomorphic\n"),
        (["C~", "Bw"], 1, "not isomorphic\n"),
        (["-q", "C~", "Bw"], 1, ""),
        (["D~{", "D~{"], 2, ""),
        (["C", "C~"], 2, ""),
        (["-", "-"], 2, ""),
        (["-f", "edges", "--mapping", "a-b,b-c", "1-2 1-3"], 0, None),
    ],
)
def test_iso(args, status, out):
    found, printed, err = run("iso", *args)
    assert found == status
    assert (err != "") == (status == 2)
    if out is not None:
        assert printed == out
    else:
        assert "b\t1" in printed.splitlines()


def test_usage_errors():
    for value in ("-5", "0", "x", "9" * 5000):
        status, _, err = run("decompose", "--max-lines", value)
        assert status == 2
        assert "must be a whole number from 1 to" in err
    assert run()[0] == 2
    assert run("nonsense")[0] == 2
    assert run("canon", "no such file")[0] == 2
    assert run("canon", "--threads", "0")[0] == 2
    assert "exit codes" in run("--help")[1]


def test_help_imports_nothing_heavy():
    code = "import sys; from planegraph.cli import main; main(['--help']); print({'torch', 'jinja2', 'yaml', 'rdkit'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.endswith("set()\n"), done.stdout + done.stderr


def test_broken_pipe():
    command = f"yes C~ | head -200000 | {sys.executable} -m planegraph canon | head -1"
    done = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.stdout == digest("C~") + "\n"
    assert done.stderr == ""
    assert done.returncode == 141


# ---- what keeps a command from its answer must not read as one -----------------------------------------------------------

POSIX = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell")


def shell(command: str, **environment: str) -> tuple[int, str, str]:
    """Runs a line of bash in which ``planegraph`` is this one."""
    line = f'planegraph() {{ "{sys.executable}" -m planegraph "$@"; }}; {command}'
    done = subprocess.run(["bash", "-c", line], capture_output=True, timeout=60, env={**os.environ, **environment})
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def assert_no_answer(result: tuple[int, str, str], message: str) -> None:
    status, out, err = result
    assert (status, out) == (3, ""), err
    assert err.startswith("planegraph: ")
    assert message in err
    assert err.count("\n") == 1, err


@POSIX
@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("echo C~ | planegraph canon >&-", "standard output is closed"),
        ("planegraph iso C~ C~ >&-", "standard output is closed"),
        ("planegraph canon <&-", "standard input is closed"),
        ("planegraph iso - C~ <&-", "standard input is closed"),
        ("planegraph canon 0>/dev/null", "cannot read standard input"),
    ],
)
def test_streams_that_are_closed(command, message):
    assert_no_answer(shell(command), message)


@POSIX
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "command",
    [
        "echo C~ | planegraph canon",
        "echo C~ | planegraph decompose",
        "planegraph iso C~ Bw",
        "yes C~ | head -20000 | planegraph canon",
    ],
)
def test_a_full_disk(command):
    assert_no_answer(shell(f"{command} >/dev/full"), "No space left on device")


@POSIX
def test_streams_that_no_answer_needs():
    assert shell("planegraph iso -q C~ Bw >&-") == (1, "", "")
    assert shell("printf 'xx\nC~\n' | planegraph canon 2>&-") == (1, digest("C~") + "\n", "")
    if Path("/dev/full").exists():
        assert shell("planegraph iso C~ xx 2>/dev/full")[0] > 1


@POSIX
def test_a_graph_that_is_not_text():
    status, out, err = shell(r"planegraph iso $'\xff' C~")
    assert (status, out) == (2, "")
    assert "graph6: character 0" in err
    assert err.count("\n") == 1


def test_crashes_are_no_answers(monkeypatch, capsys):
    from planegraph import cli

    def crash(g, h):
        raise RuntimeError("two\nlines")

    monkeypatch.setattr(cli.iso, "isomorphism", crash)
    assert cli.main(["iso", "C~", "C~"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("planegraph: internal error, RuntimeError: two lines (")
    assert err.count("\n") == 1


@POSIX
def test_output_that_cannot_be_encoded():
    status, out, err = shell("echo 'é-b b-c' | planegraph decompose -f edges", PYTHONIOENCODING="ascii")
    assert (status, err) == (0, "")
    assert "\\u2514" in out
    assert "\\xe9" in out


def test_long_numbers_are_names():
    """Beyond the digits that int() reads; in order of their value."""
    long = "9" * 5000
    status, out, err = run("canon", "-f", "edges", stdin=f"{long}-1 1-2\n1-2 2-3\n")
    assert (status, out.split(), err) == (0, [digest("Bg")] * 2, "")
    line = run("decompose", "-f", "edges", "--json", stdin=f"{long}-10 10-9 9-007\n")[1]
    assert json.loads(line)["names"] == ["007", "9", "10", long]


@pytest.mark.parametrize(
    ("format", "text"), [("graph6", "C~\r\nBw\r\n"), ("edgelist", "# x\r\n1 2\r\n2 3\r\n3 1\r\n"), ("edges", "1-2 2-3\r\n")]
)
def test_byte_order_mark_and_crlf(format, text, tmp_path):
    expected = run("canon", "-f", format, stdin=text.replace("\r", ""))
    assert expected[0] == 0
    path = tmp_path / "graphs.txt"
    path.write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert run("canon", "-f", format, str(path)) == expected


def test_comments_alone_are_no_graph():
    for text in ("# only comment\n\n1 2\n2 3\n", "1 2\n2 3\n\n# one\n# two\n", "\n#\n\n1 2 # a comment\n# another\n2 3\n\n\n# end"):
        assert run("canon", "-f", "edgelist", stdin=text) == (0, digest("Bg") + "\n", "")
    assert run("canon", "-f", "edgelist", stdin="# nothing\n") == (0, "", "")


# ---- hostile text ------------------------------------------------------------------------------------------------------------

RED = "\x1b[31m"


@pytest.mark.parametrize("kind", ["graph6", "edgelist"])
@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="no /dev/zero")
def test_a_line_without_end_is_refused(kind):
    status, out, err = run("canon", "-f", kind, "/dev/zero")
    assert (status, out) == (2, "")
    assert err == "planegraph: /dev/zero:1: the line has more than 268,435,456 bytes. Is it a file with graphs?\n"


@pytest.mark.parametrize(
    ("arguments", "stdin"),
    [
        (["canon", f"{RED}none.g6"], ""),
        (["canon", "-f", "edges"], f"a-{RED}b-c\n"),
        (["canon", "-f", "edges"], f"a-{RED}b a-{RED}b\n"),
        (["decompose", "-f", "edges"], f"a-{RED}b\n"),
        (["decompose", "-f", "edges", "--json"], f"a-{RED}b\n"),
        (["iso", "-f", "edges", f"{RED}a-", "b-c"], ""),
        (["canon", f"--no{RED}"], ""),
        (["canon", "-f", f"{RED}"], ""),
        ([f"{RED}"], ""),
        (["canon", "--threads", f"{RED}"], ""),
    ],
)
def test_escapes_in_names_do_not_reach_the_terminal(arguments, stdin):
    _, out, err = run(*arguments, stdin=stdin)
    assert out or err
    assert "\x1b" not in out + err
    assert "x1b[31m" in out + err or "u001b[31m" in out


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("options", [["canon", "--unique"], ["canon", "--with-input"], ["iso", "--mapping", "-", "x-y"]])
def test_input_is_repeated_as_it_is_but_for_a_terminal(options):
    import pty

    line = f"a-{RED}b\n"
    command = [options[0], "-f", "edges", *options[1:]]
    assert RED in run(*command, stdin=line)[1]
    reader, writer = pty.openpty()
    done = subprocess.run([sys.executable, "-m", "planegraph", *command], input=line.encode(), stdout=writer, timeout=60)
    os.close(writer)
    shown = os.read(reader, 10_000)
    os.close(reader)
    assert done.returncode == 0
    assert b"\\x1b[31mb" in shown
    assert b"\x1b" not in shown
