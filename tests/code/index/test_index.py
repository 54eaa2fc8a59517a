"""Compares an index from a store that has seen other trees with one made from the files alone."""

import multiprocessing
import os
import sqlite3
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.code.index import update_index as taking
from afresh.code.index.code_index import CodeIndex, build_code_index, refresh_code_index
from afresh.code.index.update_index import MemoryCodeStore
from afresh.core.commit import FileChurn
from afresh.core.symbol import IndexTerm
from afresh.errors import ModelMistake, NeedsPerson
from afresh.storage.sqlite import code_index as code_sweep
from afresh.storage.sqlite.code_index import SqliteCodeIndex
from support.fakes import DictFiles

NAMES = ["parse", "Tree", "tax_rate", "totalCost"]
PATHS = [
    "src/shop/__init__.py",
    "src/shop/cart.py",
    "src/shop/money.py",
    "tests/test_cart.py",
    "tests/conftest.py",
    "README.md",
    "a.py",
]
TEXTS = st.lists(
    st.sampled_from(
        ["import a", "from shop import cart", "from shop.money import *", "from .money import parse as p", "x = tax_rate", "",
         "def (", "def parse(x):\n    return totalCost", "class Tree:\n    parse = 1\n    def tax_rate(self): ...", "# a tree"]
    ),
    max_size=4,
).map("\n".join)  # fmt: skip
TREES = st.dictionaries(st.sampled_from(PATHS), TEXTS)


def files(texts: dict[str, str]) -> DictFiles:
    made = DictFiles()
    made.texts = dict(texts)
    return made


def answers(code: CodeIndex) -> dict[str, object]:
    """Return the answers to all possible queries."""
    return {
        "paths": (code.paths, list(code.files), code.digest, dict(code.entries), dict(code.faults)),
        "each": [
            (
                code.reading(path),
                code.imports(path),
                code.importers(path),
                code.tests_of(path),
                code.length(path),
                code.text(path),
            )
            for path in code.files
        ],
        "names": [(code.defining(name), code.mentioning(name)) for name in [*NAMES, "Tree.parse", "x", "p"]],
        "words": [dict(code.words(word)) for word in ["parse", "parsing", "tree", "costs", "tax", "taxrate", "shop", "the"]],
    }


@given(st.lists(st.tuples(st.sampled_from(["one", "two"]), TREES), min_size=1, max_size=5), st.integers(1, 4))
def test_answers_depend_on_the_tree_alone(tmp_path: Path, seen: list[tuple[str, dict[str, str]]], crowd: int):
    store = SqliteCodeIndex(tmp_path / f"{time.monotonic_ns()}.db")
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("afresh.storage.sqlite.code_index.MIN_PACKED_CONTENTS", crowd)
        patched.setattr(code_sweep, "MAX_LOOSE_CONTENTS", crowd)
        patched.setattr(code_sweep, "MAX_SMALL_SEGMENTS", crowd)
        for tree, texts in seen:
            assert answers(refresh_code_index(files(texts), tree, store)) == answers(build_code_index(files(texts)))
    store.close()


def test_what_no_tree_holds_is_forgotten_in_the_end_and_what_one_holds_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    now = [0.0]
    store = SqliteCodeIndex(tmp_path / "code.db", now=lambda: now[0])
    monkeypatch.setattr(code_sweep, "MAX_LOOSE_CONTENTS", 0)
    monkeypatch.setattr(code_sweep, "MAX_STALE_CONTENTS", 0)
    monkeypatch.setattr(taking, "FILES_PER_BATCH", 2)
    kept = files({"a.py": "kept = 1\n", "b.py": "also = kept\n"})
    refresh_code_index(kept, "kept", store)
    for day in range(6):
        now[0] += 90_000.0
        code = refresh_code_index(files({"a.py": f"made_{day} = 1\n", "c.py": f"old_{day} = kept\n"}), "moving", store)
    assert store.saying(IndexTerm.MENTION, "made_5")
    assert not store.saying(IndexTerm.MENTION, "made_0")
    assert code.mentioning("kept") == ["c.py"]
    assert answers(refresh_code_index(kept, "kept", store)) == answers(build_code_index(kept))
    with sqlite3.connect(tmp_path / "code.db") as connection:
        assert connection.execute("SELECT count(*) FROM content").fetchone()[0] < 10
        assert connection.execute("SELECT count(*) FROM loose").fetchone()[0] <= 2


def test_only_what_changed_is_read_and_only_what_is_new_understood(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    understood: list[str] = []
    take = taking.read_indexed_content
    monkeypatch.setattr(
        taking, "read_indexed_content", lambda path, text, fault="": understood.append(path) or take(path, text, fault)
    )
    store, tree = SqliteCodeIndex(tmp_path / "code.db"), Counted(files({"a.py": "a = 1", "b.py": "b = 1", "c.txt": ""}))
    refresh_code_index(tree, "tree", store)
    assert (sorted(tree.reads), understood) == (["a.py", "b.py"], ["a.py", "b.py"])
    tree.reads.clear()
    refresh_code_index(tree, "tree", store)
    assert not tree.reads
    tree.write("b.py", "a = 1")
    refresh_code_index(tree, "tree", store)
    refresh_code_index(files(tree.texts), "another", store)
    assert (tree.reads, understood) == (["b.py"], ["a.py", "b.py"])
    tree.write("b.py", "b = 2")
    assert refresh_code_index(tree, "tree", SqliteCodeIndex(tmp_path / "code.db")).mentioning("b") == ["b.py"]
    assert understood == ["a.py", "b.py", "b.py"]


def test_a_new_mark_alone_is_not_written_down_unless_there_are_many():
    kept: list[str] = []

    class Noting(MemoryCodeStore):
        def keep(self, tree, listing):
            kept.append(tree)
            super().keep(tree, listing)

    class Restless(DictFiles):
        def stamps(self):
            return {path: f"{path} {len(kept)} {time.monotonic_ns()}" for path in self.paths()}

    few, many, store = Restless(**{"a.py": "x = 1"}), Restless(**{f"m{n}.py": "" for n in range(20)}), Noting()
    for tree in (few, few, many, many):
        refresh_code_index(tree, "few" if tree is few else "many", store)
    assert kept == ["few", "many", "many"]
    few.write("b.md", "")
    refresh_code_index(few, "few", store)
    assert kept[3:] == ["few"]
    assert refresh_code_index(few, "few", store).paths == ("a.py", "b.md")


class Counted(DictFiles):
    def __init__(self, given: DictFiles) -> None:
        self.texts, self.reads = given.texts, list[str]()

    def read(self, path: str) -> str:
        self.reads.append(path)
        return super().read(path)


@pytest.mark.parametrize("damage", ["noise", "short", "other", "tables", "rows"])
def test_a_damaged_store_is_thrown_away_and_made_again(tmp_path: Path, damage: str):
    place, tree = tmp_path / "code.db", files({f"m{n}.py": f"import m{n + 1}\nname_{n} = shared\n" for n in range(50)})
    store = SqliteCodeIndex(place)
    refresh_code_index(tree, "tree", store)
    store.close()
    spoil(place, damage)
    store = SqliteCodeIndex(place)
    assert answers(refresh_code_index(tree, "tree", store)) == answers(build_code_index(tree))
    assert answers(refresh_code_index(tree, "tree", store)) == answers(build_code_index(tree))
    store.close()
    again = Counted(tree)
    code = refresh_code_index(again, "tree", SqliteCodeIndex(place))
    assert not again.reads
    assert answers(code) == answers(build_code_index(tree))


def spoil(place: Path, how: str) -> None:
    for beside in place.parent.glob(place.name + "-*"):
        beside.unlink()
    if how == "noise":
        place.write_bytes(place.read_bytes()[:4096] + os.urandom(60_000))
    elif how == "short":
        place.write_bytes(b"x")
    else:
        spoiled = {
            "other": "PRAGMA application_id = 7",
            "tables": "DROP TABLE posting",
            "rows": "UPDATE posting SET run = x'7b'",
        }
        with sqlite3.connect(place) as connection:
            connection.execute(spoiled[how])


def test_a_view_outlives_its_store(tmp_path: Path):
    tree = files({"a.py": "import b\nx = shared\n", "b.py": "shared = 1\n"})
    store = SqliteCodeIndex(tmp_path / "code.db")
    code = refresh_code_index(tree, "tree", store)
    store.close()
    (tmp_path / "code.db").write_bytes(os.urandom(9_000))
    assert answers(code) == answers(build_code_index(tree))


def test_who_comes_second_takes_what_the_first_has_kept(tmp_path: Path):
    first, second = SqliteCodeIndex(tmp_path / "code.db"), SqliteCodeIndex(tmp_path / "code.db")
    taken = taking.read_indexed_content("a.py", "x = 1\n")
    kept = []
    found = second.add({"00" * 16: lambda: kept.append(first.add({"00" * 16: lambda: taken})) or taken})
    assert found == kept[0]
    assert second.saying(IndexTerm.MENTION, "x") == {found["00" * 16].number: 1}


def test_what_another_process_kept_is_found_by_one_that_looked_before(tmp_path: Path):
    tree = files({"a.py": "x = 1\n"})
    first, second = SqliteCodeIndex(tmp_path / "code.db"), SqliteCodeIndex(tmp_path / "code.db")
    assert refresh_code_index(tree, "tree", first).mentioning("x")
    tree.write("a.py", "y = 1\n")
    refresh_code_index(tree, "tree", second)
    assert refresh_code_index(tree, "tree", first).mentioning("y") == ["a.py"]


def test_without_room_for_a_store_there_is_a_view_all_the_same():
    class Full(MemoryCodeStore):
        def add(self, wanted):
            raise NeedsPerson("no room left", next="free some", safe="all")

    tree = files({"a.py": "x = 1\n"})
    assert answers(refresh_code_index(tree, "tree", Full())) == answers(build_code_index(tree))


def test_a_text_that_changed_since_corrects_the_view_and_not_the_store(tmp_path: Path):
    tree, store = files({"a.py": "x = 1\n", "b.py": "import a\n"}), SqliteCodeIndex(tmp_path / "code.db")
    code = refresh_code_index(tree, "tree", store)
    tree.write("a.py", "y = 2\n")
    assert code.text("a.py") == "y = 2\n"
    assert answers(code) == answers(build_code_index(tree))
    assert answers(refresh_code_index(tree, "tree", store)) == answers(build_code_index(tree))


def test_a_view_is_kept_while_its_tree_is_the_same(tmp_path: Path):
    tree, store = files({"a.py": "x = 1\n", "b.py": "import a\n"}), SqliteCodeIndex(tmp_path / "code.db")
    code = refresh_code_index(tree, "tree", store)
    assert refresh_code_index(tree, "tree", store) is code
    assert refresh_code_index(files(tree.texts), "tree", store) is not code
    tree.write("a.py", "y = 2\n")
    assert answers(refresh_code_index(tree, "tree", store)) == answers(build_code_index(tree))
    tree.write("c.md", "")
    assert refresh_code_index(tree, "tree", store).paths == ("a.py", "b.py", "c.md")


def test_what_cannot_be_read_is_listed_with_the_reason(tmp_path: Path):
    class Refusing(DictFiles):
        def read(self, path: str) -> str:
            if path == "a.py":
                raise ModelMistake("a.py is a binary file of 9 bytes")
            if path == "b.py":
                raise OSError(13, "Permission denied")
            return super().read(path)

    tree = Refusing()
    tree.texts = {"a.py": "", "b.py": "", "c.py": "x = (\n", "d.py": "x = 1\n"}
    code = refresh_code_index(tree, "tree", SqliteCodeIndex(tmp_path / "code.db"))
    assert dict(code.faults) == {
        "a.py": "cannot be read: a binary file of 9 bytes",
        "b.py": "cannot be read: Permission denied",
        "c.py": "does not parse",
    }


def test_churn_and_entries_are_told():
    code = build_code_index(
        files({"a.py": 'if __name__ == "__main__":\n    pass\n', "b.py": ""}), churn={"a.py": FileChurn(3, 9.0)}
    )
    assert (code.churn("a.py"), code.churn("b.py")) == (FileChurn(3, 9.0), FileChurn())
    assert dict(code.entries) == {"a.py": 'if __name__ == "__main__"'}


def many(turn: int) -> dict[str, str]:
    return {f"m{n}.py": f"import m{n + 1}\nname_{n}_{n % 7 and turn} = shared\n" for n in range(36)}


def refreshing(place: Path, tree: str, begin: "multiprocessing.synchronize.Barrier") -> None:  # type: ignore[name-defined]
    store = SqliteCodeIndex(place)
    begin.wait()
    for turn in range(4):
        assert answers(refresh_code_index(files(many(turn)), tree, store)) == answers(build_code_index(files(many(turn))))


def test_processes_that_refresh_at_once_are_all_right(tmp_path: Path):
    context = multiprocessing.get_context("fork")
    begin = context.Barrier(3)
    started = [context.Process(target=refreshing, args=(tmp_path / "code.db", tree, begin)) for tree in ("one", "one", "two")]
    for process in started:
        process.start()
    for process in started:
        process.join(600)
    assert [process.exitcode for process in started] == [0, 0, 0]
    assert answers(refresh_code_index(files(many(3)), "one", SqliteCodeIndex(tmp_path / "code.db"))) == answers(
        build_code_index(files(many(3)))
    )


@pytest.mark.parametrize("statement", range(1, 26, 4))
def test_killed_at_any_statement_the_store_is_right(tmp_path: Path, statement: int):
    def dying() -> None:
        done = [0]
        opened = SqliteCodeIndex(tmp_path / "code.db")
        with opened._database.reading() as connection:
            connection.set_trace_callback(lambda text: done.append(text) or len(done) <= statement or os._exit(9))
        refresh_code_index(files(many(1)), "tree", opened)

    refresh_code_index(files(many(0)), "tree", SqliteCodeIndex(tmp_path / "code.db"))
    child = multiprocessing.get_context("fork").Process(target=dying)
    child.start()
    child.join(600)
    store = SqliteCodeIndex(tmp_path / "code.db")
    assert answers(refresh_code_index(files(many(1)), "tree", store)) == answers(build_code_index(files(many(1))))


def test_memory_lets_go_of_what_no_tree_holds(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("afresh.code.index.update_index.MAX_SPARE_CONTENTS", 2)
    store = MemoryCodeStore()
    for turn in range(6):
        code = refresh_code_index(files({"a.py": f"name_{turn} = shared\n", "b.py": "kept = 1\n"}), "tree", store)
    assert answers(code) == answers(build_code_index(files({"a.py": "name_5 = shared\n", "b.py": "kept = 1\n"})))
    assert store.saying(IndexTerm.MENTION, "name_5")
    assert not store.saying(IndexTerm.MENTION, "name_0")
