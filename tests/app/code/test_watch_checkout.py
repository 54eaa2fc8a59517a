"""A watcher over a real repository, with the real watchfiles. Each test waits for an effect, never for a time."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

import afresh
from afresh.app.code.explore_code import IndexedCheckout, find_indexed_checkout, open_checkout_code
from afresh.app.code.watch_checkout import IndexUpdate, lock_checkout, needs_index_update, watch_checkout
from afresh.errors import NeedsPerson, NotPossible

DEADLINE = 60
HOLD = """
import sys, time
from pathlib import Path
from afresh.app.code.explore_code import find_indexed_checkout
from afresh.app.code.watch_checkout import lock_checkout
with lock_checkout(find_indexed_checkout(Path(sys.argv[1]))):
    print("held", flush=True)
    time.sleep(600)
"""
SOURCE = str(Path(afresh.__file__).parents[1])


@dataclass
class Watched:
    """What a watcher in another thread has told so far."""

    home: IndexedCheckout
    told: list[IndexUpdate] = field(default_factory=list)
    news: threading.Condition = field(default_factory=threading.Condition)
    fault: BaseException | None = None

    def tell(self, flush: IndexUpdate) -> None:
        with self.news:
            self.told.append(flush)
            self.news.notify_all()

    def run(self, stop: threading.Event) -> None:
        try:
            watch_checkout(self.home, self.tell, stop)
        except BaseException as fault:
            with self.news:
                self.fault = fault
                self.news.notify_all()

    def until(self, holds: Callable[[], bool]) -> None:
        with self.news:
            assert self.news.wait_for(lambda: bool(self.fault) or holds(), DEADLINE), self.told
        if self.fault:
            raise self.fault

    def read(self) -> set[str]:
        return {path for flush in self.told[1:] for path in flush.read}

    def gone(self) -> set[str]:
        return {path for flush in self.told[1:] for path in flush.gone}


def git(root: Path, *arguments: str) -> None:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", "-c", "init.defaultBranch=main"]
    subprocess.run(["git", *who, *arguments], cwd=root, check=True, capture_output=True)


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    root = tmp_path / "repo"
    root.mkdir()
    (root / "a.py").write_text("def one():\n    return 1\n")
    (root / ".gitignore").write_text("build/\n")
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "first")
    return root


@pytest.fixture
def watched(root: Path) -> Iterator[Watched]:
    pytest.importorskip("watchfiles")
    found, stop = Watched(find_indexed_checkout(root)), threading.Event()
    thread = threading.Thread(target=found.run, args=(stop,))
    thread.start()
    try:
        found.until(lambda: bool(found.told))
        yield found
    finally:
        stop.set()
        thread.join(DEADLINE)
        assert not thread.is_alive()


def names(root: Path) -> set[str]:
    code = open_checkout_code(root)
    return {symbol.name for path in code.files for symbol in code.reading(path).symbols}


def test_a_change_is_read_as_it_comes(root: Path, watched: Watched):
    assert watched.told[0].read == ("a.py",)
    (root / "a.py").write_text("def two():\n    return 2\n")
    watched.until(lambda: "a.py" in watched.read())
    assert names(root) == {"two"}


def test_folders_that_come_and_go_are_followed(root: Path, watched: Watched):
    (root / "deep" / "er").mkdir(parents=True)
    (root / "deep" / "er" / "b.py").write_text("def b(): ...\n")
    watched.until(lambda: "deep/er/b.py" in watched.read())
    (root / "deep" / "er" / "b.py").unlink()
    (root / "deep" / "er").rmdir()
    watched.until(lambda: "deep/er/b.py" in watched.gone())
    (root / "deep" / "c.py").write_text("def c(): ...\n")
    watched.until(lambda: "deep/c.py" in watched.read())
    assert names(root) == {"one", "c"}


def test_a_branch_with_many_files_is_one_change_or_few(root: Path, watched: Watched):
    git(root, "checkout", "-qb", "many")
    for number in range(600):
        (root / f"m{number}.py").write_text(f"def f{number}(): ...\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "many")
    watched.until(lambda: len(watched.read()) >= 600)
    git(root, "checkout", "-q", "main")
    watched.until(lambda: len(watched.gone()) >= 600)
    assert names(root) == {"one"}
    before = len(watched.told)
    git(root, "checkout", "-q", "many")
    watched.until(lambda: sum(len(flush.read) for flush in watched.told[before:]) >= 600)
    assert len(watched.told) - before < 60


def test_what_is_ignored_is_not_told(root: Path, watched: Watched):
    (root / "build").mkdir()
    (root / "build" / "made.py").write_text("def made(): ...\n")
    (root / ".git" / "odd.py").write_text("x = 1\n")
    (root / "last.py").write_text("def last(): ...\n")
    watched.until(lambda: "last.py" in watched.read())
    assert watched.read() == {"last.py"}


def test_what_is_no_code_is_not_told(root: Path, watched: Watched):
    (root / "notes.txt").write_text("hello\n")
    (root / "last.py").write_text("def last(): ...\n")
    watched.until(lambda: "last.py" in watched.read())
    assert watched.read() == {"last.py"}


def test_a_repository_that_goes_away_ends_it(root: Path, watched: Watched):
    root.rename(root.parent / "elsewhere")
    with pytest.raises(NotPossible, match="is gone"):
        watched.until(lambda: False)


def test_a_second_watcher_is_refused_and_told_by_whom(root: Path):
    home = find_indexed_checkout(root)
    with lock_checkout(home), pytest.raises(NotPossible, match=f"process {os.getpid()}"), lock_checkout(home):
        pass


def test_the_lock_of_one_that_was_killed_is_taken_over(root: Path):
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(root)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": SOURCE}
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(NotPossible, match=f"process {process.pid}"), lock_checkout(find_indexed_checkout(root)):
            pass
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    with lock_checkout(find_indexed_checkout(root)):
        pass


def test_the_command_tells_each_change_and_ends_cleanly(root: Path):
    pytest.importorskip("watchfiles")
    command = [sys.executable, "-m", "afresh.cli.main", "watch", "--index", "--json"]
    paths = os.pathsep.join([SOURCE, os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": paths}
    )
    assert process.stdout is not None and process.stderr is not None
    try:
        assert json.loads(process.stdout.readline())["files"] == 1
        (root / "b.py").write_text("def b(): ...\n")
        assert json.loads(process.stdout.readline())["read"] == ["b.py"]
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) == 0
        assert process.stderr.read() == b""
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()


def test_without_the_package_the_way_to_it_is_told(root: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(NeedsPerson) as told:
        watch_checkout(find_indexed_checkout(root), lambda flush: None)
    assert "[watch]'" in told.value.next


@pytest.mark.parametrize(
    ("changed", "counts"),
    [
        ((), False), (("build/made.py",), False), (("a.py",), True), (("new.py",), True), (("build/x", "b.py"), True),
        (("build/.gitignore",), True),
    ],
)  # fmt: skip
def test_only_what_git_would_not_ignore_makes_it_look(root: Path, changed: tuple[str, ...], counts: bool):
    assert needs_index_update(find_indexed_checkout(root), frozenset(changed), open_checkout_code(root)) is counts


def test_looking_at_a_repository_leaves_nothing_in_it(root: Path):
    before = sorted(path for path in root.rglob("*") if ".git/" not in str(path))
    assert names(root) == {"one"}
    assert sorted(path for path in root.rglob("*") if ".git/" not in str(path)) == before
