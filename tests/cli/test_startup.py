"""`status` and `show` start fast, however many tasks there are: what they import, load and ask is counted, not
seconds."""

import json
import os
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from afresh.app.orders.tasks import TaskOrder, add_task
from afresh.app.project import open_project

COMMANDS = [(*words, *more) for words in (("status",), ("status", "--all"), ("show",)) for more in ((), ("--json",))]
NEVER_NEEDED = (
    "rich",
    "yaml",
    "openai",
    "anthropic",
    "httpx",
    "asyncio",
    "statistics",
    "tree_sitter",
    "pathspec",
    "genai_prices",
)
ROOMS_NOT_NEEDED = ("actions", "code", "context", "journal", "memory", "models", "policy", "runtime", "sandbox", "verification")
FOR_LISTS_NOT_NEEDED = ("core.event", "core.prompt", "core.state", "spending", "storage.sql.journal")
"""`show` loads one state, with all that it is made of."""
MAX_STATEMENTS = 41
SPY = """
import json, sqlite3, sys
asked = []
class Watched(sqlite3.Connection):
    def execute(self, text, *more):
        asked.append(text)
        return super().execute(text, *more)
connect = sqlite3.connect
sqlite3.connect = lambda *args, **more: connect(*args, **more, factory=Watched)
from afresh.cli import main
code = main.run_command_line(sys.argv[1:])
print(json.dumps({"code": code, "modules": sorted(sys.modules), "asked": len(asked)}), file=sys.stderr)
"""


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """With few tasks, and with many."""
    return {count: make_project(tmp_path_factory.mktemp(f"tasks{count}"), count) for count in (3, 60)}


def make_project(root: Path, tasks: int) -> Path:
    (root / "sums.py").write_text("def add(a, b):\n    return a + b\n")
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "first"]):
        subprocess.run([*git, *words], cwd=root, check=True)
    project = open_project(root)
    for number in range(tasks):
        add_task(project, TaskOrder(f"Make sum {number} faster", checks=("true",)))
    return root


@cache
def run_watched(root: Path, *words: str) -> tuple[str, set[str], int]:
    """What the command prints, the modules that it imported, and how many statements it gave SQLite."""
    source = str(Path(__file__).parents[2] / "src")
    variables = os.environ | {"PYTHONPATH": source, "XDG_DATA_HOME": str(root / "data"), "XDG_CONFIG_HOME": str(root / "config")}
    done = subprocess.run([sys.executable, "-c", SPY, *words], cwd=root, env=variables, capture_output=True, text=True)
    told = json.loads(done.stderr.splitlines()[-1])
    assert told["code"] == 0, done.stderr
    return done.stdout, set(told["modules"]), told["asked"]


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_imports_only_what_it_needs_and_asks_as_much_of_many_tasks_as_of_few(
    words: tuple[str, ...], projects: dict[int, Path]
):
    (_, modules, few), (_, _, many) = (run_watched(projects[count], *words) for count in (3, 60))
    rooms = ROOMS_NOT_NEEDED + (() if words[0] == "show" else FOR_LISTS_NOT_NEEDED)
    needless = [*NEVER_NEEDED, *(f"afresh.{room}" for room in rooms)]
    found = [one for one in sorted(modules) if any(one == name or one.startswith(f"{name}.") for name in needless)]
    assert not found, found
    assert few == many <= MAX_STATEMENTS


def test_status_shows_some_of_many_tasks_and_counts_the_rest(projects: dict[int, Path]):
    text, _, _ = run_watched(projects[60], "status")
    assert text.count("Make sum") == 20 and "… 40 more: afresh status --status ready" in text and "60 ready" in text
    assert text.index("Make sum 0 faster") < text.index("Make sum 19 faster"), "the next to be taken come first"
    assert len(json.loads(run_watched(projects[60], "status", "--json")[0])["tasks"]) == 60


def test_show_without_a_name_finds_the_task_that_was_touched_last(projects: dict[int, Path]):
    text, _, _ = run_watched(projects[60], "show")
    assert "Make sum 59 faster" in text.splitlines()[1]
