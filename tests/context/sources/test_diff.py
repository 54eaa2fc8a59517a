"""Which difference a review is about."""

import re
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from item_samples import text_of

from afresh.context.sources.diff import (
    find_reviewed_diff,
    find_reviewed_regions,
    gather_last_look,
    gather_review_diff,
    render_last_look,
)
from afresh.core.change import Change
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.task import Task
from afresh.core.tokens import EstimatingCounter
from afresh.memory.gathered_context import GatheredContext
from afresh.workspace.commit_history import GitCommitHistory
from afresh.workspace.repository import Repository

BOTH = frozenset({"diff", "history"})


class Yard:
    """A real repository: three commits on main, one more on a branch."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.git("init", "-q", "-b", "main", ".")
        for number in (1, 2, 3):
            (folder / "price.py").write_text("".join(f"def part_{one}():\n    return {one}\n\n\n" for one in range(number)))
            (folder / "tests.md").write_text(f"{number}\n")
            self.commit(f"Price, part {number}")
        self.base = self.git("rev-parse", "HEAD")
        self.git("checkout", "-q", "-b", "feature/quick")
        (folder / "quick.py").write_text("fast = True\n")
        self.commit("Quick")
        self.git("checkout", "-q", "main")
        self.past = GitCommitHistory(Repository.find(folder))

    def git(self, *arguments: str) -> str:
        who = ("-c", "user.name=n", "-c", "user.email=n@example.org", "-c", "commit.gpgSign=false")
        return subprocess.run(
            ["git", *who, *arguments], cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout.strip()

    def commit(self, subject: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", subject)

    def state(self, goal: str) -> State:
        return State(task=Task(id="t", goal=goal, type="code_review"), workspace=WorkspaceState(base=self.base))

    def looks(self, goal: str) -> Sequence[tuple[str, str, str]]:
        return [(look.kind, look.subject, text_of(look)) for look in gather_review_diff(self.state(goal), self.past, BOTH)]


@pytest.fixture(scope="module")
def yard(tmp_path_factory: pytest.TempPathFactory) -> Yard:
    return Yard(tmp_path_factory.mktemp("yard"))


@pytest.mark.parametrize(
    ("goal", "said", "first"),
    [
        ("Review HEAD~2..HEAD, please", "HEAD~2..HEAD", "price.py (modified, +8 −0, HEAD~2..HEAD)"),
        ("Review the last two commits.", "the last 2 commits", "price.py (modified, +8 −0, the last 2 commits)"),
        ("Is the latest change sound?", "the last commit", "price.py (modified, +4 −0, the last commit)"),
        ("Review branch feature/quick", "branch feature/quick", "quick.py (added, +1 −0, branch feature/quick)"),
        ("Review main...feature/quick", "main...feature/quick", "quick.py (added, +1 −0, main...feature/quick)"),
    ],
)
def test_the_order_names_a_difference_and_the_product_comes_before_texts(yard: Yard, goal: str, said: str, first: str):
    found = find_reviewed_diff(goal, yard.base, yard.past)
    assert found and found.said == said
    assert next(subject for kind, subject, _ in yard.looks(goal) if kind == "diff") == first


def test_a_commit_is_held_against_the_one_before_it(yard: Yard):
    [(_, subject, text), *_] = yard.looks(f"Review {yard.base[:10]}")
    assert subject == f"price.py (modified, +4 −0, commit {yard.base[:10]})"
    assert text.splitlines()[0].startswith("@@ ") and "+def part_2():" in text


@pytest.mark.parametrize("goal", ["Review price.py for faults", "Review deadbeef12", "Look at branch nowhere", "-x..-y", ""])
def test_what_names_no_difference_shows_none(yard: Yard, goal: str):
    assert not [kind for kind, *_ in yard.looks(goal) if kind == "diff"]


def test_history_is_that_of_the_files_under_review(yard: Yard):
    [history] = [text for kind, _, text in yard.looks("Review price.py for faults") if kind == "history"]
    assert [line.partition(" Price, ")[2] for line in history.splitlines()] == ["part 3", "part 2", "part 1"]
    assert not gather_review_diff(yard.state("Review price.py"), yard.past, frozenset({"files"})), (
        "only where a template has a place for it"
    )
    assert not gather_review_diff(yard.state("Review price.py"), None, BOTH)


def test_head_is_where_the_task_began_wherever_the_checkout_is(yard: Yard):
    yard.git("checkout", "-q", "feature/quick")
    try:
        assert next(subject for kind, subject, _ in yard.looks("the last commit") if kind == "diff").startswith("price.py")
    finally:
        yard.git("checkout", "-q", "main")


def test_lines_that_the_difference_has_written_are_what_the_work_is_about(yard: Yard):
    assert Region("price.py", 9, 12, 0) in find_reviewed_regions(yard.state("the last commit"), yard.past)
    assert not find_reviewed_regions(yard.state("Review branch feature/quick"), yard.past), "its lines are not those of the tree"


def test_the_last_look_has_code_before_tests_before_the_rest_and_says_what_it_leaves_out():
    patch = "".join(f"\n+value_{number} = {number}" for number in range(25))
    paths = ("NEWS", "b/notes.yaml", "tests/test_a.py", "z/last.py")
    changes = [Change(path, "modified", 25, 0, f"@@ -0,0 +1,25 @@{patch}") for path in paths]
    memory, count = GatheredContext(State(task=Task(id="t", goal="g")), tuple(gather_last_look(changes))), EstimatingCounter()
    whole = render_last_look(memory, 9_000, count)
    heads = [line.partition(" ")[0] for line in whole.splitlines() if "(modified" in line]
    assert heads == ["z/last.py", "tests/test_a.py", "NEWS", "b/notes.yaml"] and "left out" not in whole
    part = render_last_look(memory, count(whole) // 2, count)
    assert count(part) <= count(whole) // 2 and part.startswith("## Changes so far, in part\nz/last.py (modified, +25 −0)\n@@ ")
    hidden = re.search(r"\n… (\d+) more lines\nleft out, without room: NEWS \(modified, \+25 −0\), b/notes.yaml .*$", part)
    assert hidden and part.count("value_") == 50 - int(hidden[1])
    assert render_last_look(memory, 100, count) == "", "no change can be read in a few lines"
