import importlib
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def house(monkeypatch):
    monkeypatch.syspath_prepend(str(BENCH))
    return importlib.import_module("house")


@pytest.fixture
def figures(monkeypatch, tmp_path):
    """Of a small source tree, given as text by file."""
    monkeypatch.syspath_prepend(str(BENCH))
    measure = importlib.import_module("house_sources").measure_sources

    def measured(**files: str) -> dict[str, float]:
        for name, text in files.items():
            (tmp_path / f"{name}.py").write_text(text)
        return measure(tmp_path)

    return measured


def test_participles_are_counted_regular_or_not_and_verbs_are_none(figures):
    found = figures(a="def told(): ...\ndef _listed(): ...\ndef read(): ...\ndef feed(): ...\ndef told_apart(): ...\n")
    assert (found["public_participles"], found["participles"]) == (1, 2)


def test_a_class_name_is_shared_by_files_and_not_within_one(figures):
    assert figures(a="class A: ...\nclass A: ...\nclass B: ...\n", b="class B: ...\n")["shared_class_names"] == 1


def test_packed_constants_are_counted_in_modules_and_classes(figures):
    found = figures(a="A, B = 1, 2\nclass K:\n    C, D, E = 1, 2, 3\nf, g = pair()\n")
    assert (found["packed_constants"], found["packed_statements"]) == (5, 2)


def test_one_importer_is_one_module_however_it_imports(figures):
    found = figures(
        a="", b="", c="", d="from afresh.a import x\nfrom . import a, b\n", e="def f():\n    from afresh import b, c\n"
    )
    assert found["one_importer"] == 2  # a by d, c by e; b has two


def test_fields_are_those_of_state_and_of_the_runtime_by_either_name(figures):
    found = figures(a="class State:\n    x: int\n    y: int\nclass Agent:\n    x: int\n    def f(self): ...\n")
    assert (found["state_fields"], found["runtime_fields"]) == (2, 1)


def test_only_the_table_between_the_markers_is_replaced(house, tmp_path):
    page = tmp_path / "page.md"
    page.write_text(f"before\n{house.BEGIN}\nold\n{house.END}\nafter\n")
    house.put_between_markers(page, "| new |")
    assert page.read_text() == f"before\n{house.BEGIN}\n\n| new |\n\n{house.END}\nafter\n"
    page.write_text("no marker")
    with pytest.raises(SystemExit, match="needs the lines"):
        house.put_between_markers(page, "| new |")


def test_a_goal_is_met_only_by_all_of_its_figures(house):
    row = house.Row("x", ("a", "b", "c"), (1, 2, None))
    assert house.is_met(row, {"a": 1, "b": 2, "c": 99})
    assert not house.is_met(row, {"a": 1, "b": 3, "c": 0})


def test_the_page_of_figures_has_the_markers(house):
    page = (BENCH.parent / "docs/internals/house.md").read_text("utf-8")
    assert page.index(house.BEGIN) < page.index(house.END)
