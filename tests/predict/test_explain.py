"""What atoms, rings and blocks add: by hand, symmetric, the same in every spelling; the drawing, the table and the command."""

from __future__ import annotations

import csv
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("rdkit")

import torch
from rdkit import Chem
from rdkit.Chem import Crippen

from planegraph.cli import main
from planegraph.errors import FormatError
from planegraph.predict import Predictor
from planegraph.predict.explain import Contributions, Explanation, explain, explanation_lines, explanation_svg
from planegraph.tasks.molecules.task import MoleculeOptions, read_molecule_task
from planegraph.train.molecules import molecule_settings, train_molecules

PARTS = ("C", "CC", "O", "N", "c1ccccc1", "C(=O)O", "Cl", "C1CC1", "C#N", "S")
QUICK = ["train.epochs=4", "model.hidden=8", "model.layers=2", "train.batch_size=16"]
SVG = "{http://www.w3.org/2000/svg}"


def molecules(count: int = 40) -> list[str]:
    rng = np.random.default_rng(0)
    return ["C" + "".join(f"C({part})" for part in rng.choice(PARTS, 3)) for _ in range(count)]


def trained(folder, targets, values, models=1, **options):
    """The folder of a run on the molecules with ``values(k, molecule)`` as their targets."""
    rows = [(s, *values(k, s)) for k, s in enumerate(molecules())]
    with open(folder / "table.csv", "w", newline="") as file:
        csv.writer(file).writerows([("smiles", *targets), *rows])
    chosen = MoleculeOptions(targets=targets, **options)
    found = read_molecule_task(folder / "table.csv", chosen)
    train_molecules(found, molecule_settings(found, chosen.to_dict(), models, QUICK), folder / "run", device="cpu")
    return folder / "run"


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Two models of two targets, one with a name that XML must escape, without descriptors."""
    return trained(
        tmp_path_factory.mktemp("explained"),
        ("logp", "a<b & ü"),
        lambda k, s: (Crippen.MolLogP(Chem.MolFromSmiles(s)), len(s)),
        2,
        descriptors=False,
    )


@pytest.fixture(scope="module")
def predictor(run):
    return Predictor.load(run, "cpu")


def scale(output: Contributions) -> float:
    """What 1e-5 is relative to: predictions are sums in single precision."""
    return max(1.0, abs(output.prediction), np.abs(output.atoms).max())


# ---- contributions ----------------------------------------------------------------------------------------------------------


def test_predictions_are_those_of_the_predictor(predictor):
    found = explain(predictor, "CC(=O)Oc1ccccc1")
    assert [output.target for output in found.outputs] == list(predictor.schema.targets)
    assert np.allclose([output.prediction for output in found.outputs], predictor(["CC(=O)Oc1ccccc1"]).mean[0], rtol=1e-5)
    assert found.symbols == tuple("CCOOCCCCCC")
    assert not found.descriptors
    assert any(np.abs(output.atoms).max() > 1e-3 for output in found.outputs)


def test_an_atom_is_masked_as_one_of_which_nothing_is_known(predictor):
    """The masked molecule, spelled out: a dummy atom, and bonds of a type and stereochemistry that are not a category."""
    from planegraph.data.batch import Collator
    from planegraph.data.packed import PackedDataset
    from planegraph.graphs.formats.smiles import read_smiles

    whole = read_smiles(["CCO"])
    x, edge_attr = whole.node_labels.copy(), whole.edge_labels.copy()
    x[2], edge_attr[1] = 0, 0  # O and its bond
    assert whole.edges[1].tolist() == [1, 2]
    predicted = []
    for nodes, bonds in ((whole.node_labels, whole.edge_labels), (x, edge_attr)):
        graphs = type(whole)(whole.node_ptr, whole.edge_ptr, whole.edges, nodes, bonds)
        batch = Collator(PackedDataset.from_arrays(graphs))(np.arange(1))
        with torch.no_grad():
            predicted.append(torch.stack([model(batch) for model in predictor.models]).double().mean(0)[0].numpy())
    found = [output.atoms[2] for output in explain(predictor, "CCO").outputs]
    assert np.allclose(found, predicted[0] - predicted[1], atol=1e-4)


@pytest.mark.parametrize(
    "smiles", ["CC", "c1ccccc1", "CC(C)(C)C", "C12C3C4C1C5C2C3C45", "c1ccc2ccccc2c1", "C12C3C4C1C3C24", "C[N+](C)(C)C.[Cl-].[Cl-]"]
)
def test_symmetric_atoms_add_the_same(predictor, smiles):
    ranks = np.array(list(Chem.CanonicalRankAtoms(Chem.MolFromSmiles(smiles), breakTies=False)))
    assert len(set(ranks)) < len(ranks)
    for output in explain(predictor, smiles).outputs:
        for rank in set(ranks.tolist()):
            assert np.ptp(output.atoms[ranks == rank]) < 1e-5 * scale(output)


@pytest.mark.parametrize(
    "smiles",
    [
        "CC(=O)Oc1ccccc1C(=O)O",
        "C1CC2CCC1C2CN",
        "OC(=O)c1ccc2ccccc2c1.[Na+]",
        "N->[Fe]1<-NCCN->1",
        "C[C@H](N)C(=O)O",
        "C/C=C/C1CC1",
        "C12C3C4C1C5C2C3C45",
    ],
)
def test_contributions_follow_the_atoms_to_other_spellings(predictor, smiles):
    mol, rng = Chem.MolFromSmiles(smiles), np.random.default_rng(1)
    expected = explain(predictor, smiles)
    for _ in range(3):
        order = rng.permutation(mol.GetNumAtoms()).tolist()
        shuffled = Chem.RenumberAtoms(mol, order)
        spelling = Chem.MolToSmiles(shuffled, canonical=False)
        written = shuffled.GetPropsAsDict(True, True)["_smilesAtomOutputOrder"]
        old = [order[v] for v in written]  # the atom of the first spelling that stands here in the second
        for wanted, found in zip(expected.outputs, explain(predictor, spelling).outputs, strict=True):
            assert np.allclose(found.atoms, wanted.atoms[old], atol=1e-5 * scale(wanted))
            for kind in ("blocks", "rings"):
                parts = {tuple(sorted(old[v] for v in part.atoms)): part for part in getattr(found, kind)}
                assert set(parts) == {part.atoms for part in getattr(wanted, kind)}
                for part in getattr(wanted, kind):
                    assert parts[part.atoms].contribution == pytest.approx(part.contribution, abs=1e-5 * scale(wanted))


def test_blocks_and_rings(predictor):
    output = explain(predictor, "C1CC1Cc1ccc2ccccc2c1").outputs[0]
    assert {block.atoms for block in output.blocks} == {(0, 1, 2), tuple(range(4, 14))}
    assert sorted(len(ring.atoms) for ring in output.rings) == [3, 6, 6]
    alone = {part.atoms: part for part in output.rings}[0, 1, 2]
    assert alone in output.blocks  # one ring is a block, too, and masked once
    assert alone.fragment == "C1CC1"
    assert explain(predictor, "CCO").outputs[0].blocks == explain(predictor, "CCO").outputs[0].rings == ()


def test_more_parts_than_one_pack_holds(predictor, monkeypatch):
    expected = explain(predictor, "CC(=O)Oc1ccccc1")
    monkeypatch.setattr("planegraph.predict.explain._PACK", 4)
    for found, wanted in zip(explain(predictor, "CC(=O)Oc1ccccc1").outputs, expected.outputs, strict=True):
        assert np.allclose(found.atoms, wanted.atoms, atol=1e-5 * scale(wanted))


def test_a_constant_model_has_no_reasons(run):
    predictor = Predictor.load(run, "cpu")
    with torch.no_grad():
        for weights in (weights for model in predictor.models for weights in model.parameters()):
            weights.zero_()
    found = explain(predictor, "CC(=O)Oc1ccccc1C1CC1")
    for output in found.outputs:
        assert not output.atoms.any()
        assert [part.contribution for part in (*output.blocks, *output.rings)] == [0] * 4
    ElementTree.fromstring(explanation_svg(found).encode())


def test_what_the_models_know_nothing_of_adds_nothing(run):
    """The embeddings of all categories are that of "other"."""
    predictor = Predictor.load(run, "cpu")
    with torch.no_grad():
        for model in predictor.models:
            for table in (*model.node_encoder.tables, *model.edge_encoder.tables):
                table.copy_(table[:1].expand_as(table).clone())
    for output in explain(predictor, "CC(=O)Oc1ccccc1C1CC1").outputs:
        assert np.abs(output.atoms).max() < 1e-5 * scale(output)
        assert all(abs(part.contribution) < 1e-5 * scale(output) for part in (*output.blocks, *output.rings))


@pytest.mark.parametrize(("smiles", "atoms"), [("O", 1), ("[Na+]", 1), ("[Na+].[Cl-]", 2), ("CC(=O)[O-].[K+]", 5)])
def test_single_atoms_and_salts(predictor, smiles, atoms):
    found = explain(predictor, smiles)
    assert len(found.symbols) == atoms
    for output in found.outputs:
        assert output.atoms.shape == (atoms,)
        assert np.isfinite(output.atoms).all()
        assert output.blocks == output.rings == ()
    assert ("charge" in found.unseen) == ("+" in smiles)
    ElementTree.fromstring(explanation_svg(found))


@pytest.mark.parametrize(
    ("smiles", "reason"), [("C1CC", "RDKit refuses"), ("", "is empty"), ("C(C)(C)(C)(C)C", "RDKit refuses.*valence")]
)
def test_a_molecule_that_cannot_be_read(predictor, smiles, reason):
    with pytest.raises(FormatError, match=reason):
        explain(predictor, smiles)


# ---- classes, descriptors ---------------------------------------------------------------------------------------------------


def test_classes_and_descriptors(tmp_path):
    """Three classes: the most probable one is explained, in probability. Descriptors are those of the whole molecule."""
    predictor = Predictor.load(trained(tmp_path, ("kind",), lambda k, s: (k % 3,), kind="multiclass", descriptors=True), "cpu")
    found = explain(predictor, "CC(=O)Oc1ccccc1")
    probabilities = predictor(["CC(=O)Oc1ccccc1"]).mean[0]
    (output,) = found.outputs
    assert output.label == predictor.schema.classes[int(np.argmax(probabilities))]
    assert output.title == f"kind = {output.label}"
    assert output.prediction == pytest.approx(probabilities.max(), abs=1e-6)
    assert np.abs(output.atoms).max() <= 1
    assert found.descriptors
    assert list(explanation_lines(found))[-1].startswith("note\tthe models also read descriptors")


def test_two_classes_in_probability(tmp_path):
    predictor = Predictor.load(trained(tmp_path, ("active",), lambda k, s: (k % 2,), metric="accuracy", descriptors=False), "cpu")
    (output,) = explain(predictor, "Oc1ccccc1").outputs
    assert output.label is None
    assert output.prediction == pytest.approx(predictor(["Oc1ccccc1"]).mean[0, 0], abs=1e-6)
    assert 0 <= output.prediction <= 1
    without = output.prediction - np.array([*output.atoms, *(part.contribution for part in output.blocks)])
    assert ((without >= 0) & (without <= 1)).all()


# ---- the table and the drawing ----------------------------------------------------------------------------------------------


def made_up(contributions) -> Explanation:
    """An explanation of heptanol."""
    output = Contributions("t", None, 1.5, np.array(contributions, float), (), ())
    return Explanation("CCCCCCCO", tuple("CCCCCCCO"), (output,), "", False)


def test_rows_are_sorted_by_size():
    lines = list(explanation_lines(made_up([0, 0.1, -0.3, 0.3000001, 0, 0, 0, 2]), most=4))
    assert lines == [
        "target\tt",
        "prediction\t1.5",
        "atom\t7\tO\t+2",
        "atom\t2\tC\t-0.3",  # equal but for rounding: in their order
        "atom\t3\tC\t+0.3",
        "atom\t1\tC\t+0.1",
        "atoms\t4 more\t\tat most 0 each",
    ]


def test_the_table_names_a_ring_that_is_a_block_once(predictor):
    rows = [line.split("\t") for line in explanation_lines(explain(predictor, "C1CC1Cc1ccc2ccccc2c1"))]
    first = rows[: [row[0] for row in rows].index("target", 1)]
    assert [row[0] for row in first] == ["target", "prediction", *["atom"] * 10, "atoms", "block", "block", "ring", "ring"]
    assert {row[1] for row in first if row[0] == "block"} == {"0,1,2", "4,5,6,7,8,9,10,11,12,13"}


def test_the_drawing_holds_the_molecule(predictor):
    smiles = "C[C@]12CCC(=O)C=C1CC[C@@H]1[C@@H]2CC[C@]2(C)[C@@H](O)CC[C@@H]12"
    found = explain(predictor, smiles)
    root = ElementTree.fromstring(explanation_svg(found).encode())
    assert root.findtext(f"{SVG}title") == smiles
    classes = {name for element in root.iter() for name in element.get("class", "").split()}
    assert {f"atom-{v}" for v in range(len(found.symbols))} <= classes
    assert f"atom-{len(found.symbols)}" not in classes
    legends = [text.text for text in root.iter(f"{SVG}text")]
    assert [legend.split(":")[0] for legend in legends] == ["logp", "a<b & ü"]
    assert f"{found.outputs[0].prediction:.4g}" in legends[0]


def test_colours():
    drawing = explanation_svg(made_up([0, 0.1, -0.3, 0, 0, 0, 0, -1]))
    ellipses = {e.get("class"): e.get("style") for e in ElementTree.fromstring(drawing.encode()).iter(f"{SVG}ellipse")}
    fills = {name: style.split("fill:")[1][:7] for name, style in ellipses.items()}
    assert fills["atom-0"] == "#FFFFFF"
    assert fills["atom-7"] == "#3366E5"
    red, green, blue = (int(fills["atom-1"][k : k + 2], 16) for k in (1, 3, 5))
    assert red > green >= blue
    many = replace(made_up([1] * 8), outputs=made_up([1] * 8).outputs * 7)
    root = ElementTree.fromstring(explanation_svg(many).encode())
    assert (root.get("width"), root.get("height")) == ("1200px", "1020px")


# ---- the command ------------------------------------------------------------------------------------------------------------


def test_command(run, tmp_path, capsys):
    assert main(["explain", str(run), "Oc1ccccc1", "-o", str(tmp_path / "a.svg"), "--device", "cpu"]) == 0
    rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert rows[0] == ["target", "logp"]
    assert rows[1][0] == "prediction"
    assert {row[1] for row in rows if row[0] == "atom"} == set("0123456")
    assert [row[1:3] for row in rows if row[0] == "block"] == [["1,2,3,4,5,6", "c1ccccc1"]] * 2
    assert ElementTree.parse(tmp_path / "a.svg").getroot().findtext(f"{SVG}title") == "Oc1ccccc1"
    assert [path.name for path in tmp_path.iterdir()] == ["a.svg"]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["RUN", "C1CC"], 2, "RDKit refuses the SMILES 'C1CC': its syntax is wrong"),
        (["RUN", ""], 2, "the SMILES is empty"),
        (["RUN", "C", "-o", "a.png"], 2, "-o a.png: the drawing is an SVG file"),
        (["RUN", "C", "--device", "tpu"], 2, "--device tpu is not available"),
        (["nothing", "C"], 2, "nothing/molecules.json is missing"),
        (["RUN", "C", "-o", "nowhere/a.svg"], 3, "input or output failed"),
        (["RUN"], 2, "the following arguments are required: SMILES"),
    ],
)
def test_bad_commands(run, words, code, message, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["explain", *(str(run) if word == "RUN" else word for word in words)]) == code
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
