"""Wrong uses, as a table: the exit code, what is said, and that nothing is left behind."""

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from person import CHECK, COMPLETE, MEND, Person
from terminal import PATIENCE, Terminal

from afresh.cli.exit_codes import ExitCode
from afresh.core.action import Action
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from support.model_server import ModelServer
from support.provider_faults import HttpFault

USAGE, ANSWER, SETUP, NOT_DONE = ExitCode.WRONG_INPUT, ExitCode.NEEDS_ANSWER, ExitCode.SETUP, ExitCode.NOT_DONE
SCRIPT = "SCRIPT"
"""Stands for a model that is there."""
GOOD = ("-c", "true", "-m", SCRIPT)


@dataclass(frozen=True)
class WrongUse:
    args: tuple[str, ...]
    code: ExitCode
    words: tuple[str, ...]
    config: str = ""
    """The user's config.toml."""
    before: Callable[[Person], None] | None = None


def run(goal: str, *more: str) -> tuple[str, ...]:
    return ("run", goal, *more)


def without_tests(person: Person) -> None:
    person.git("rm", "-q", "test_calc.py")
    person.commit("no tests")


def commit_beside(person: Person, path: str, text: str, *ignored: str) -> None:
    person.write(path, text)
    for name in ignored:
        person.write(name, "exit 0\n")
    person.commit(path)


PROVIDER = "openai:gpt-5"
TABLE: dict[str, WrongUse] = {
    # the model
    "no model": WrongUse(run("x", "-c", "true"), SETUP, ("no model is set", "afresh setup", "no task was created")),
    "no key": WrongUse(run("x", "-c", "true", "-m", PROVIDER), SETUP, ("OPENAI_API_KEY is not set", "no task was created")),
    "no key, anthropic": WrongUse(run("x", "-c", "true", "-m", "anthropic:claude-x"), SETUP, ("ANTHROPIC_API_KEY is not set",)),
    "bare openai model": WrongUse(run("x", "-m", "gpt-5"), USAGE, ("did you mean openai:gpt-5?",)),
    "bare claude model": WrongUse(run("x", "-m", "claude-sonnet-4-5"), USAGE, ("did you mean anthropic:claude-sonnet-4-5?",)),
    "provider alone": WrongUse(run("x", "-m", "openai"), USAGE, ("add the name: openai:gpt-5",)),
    "provider and colon": WrongUse(run("x", "-m", "openai:"), USAGE, ("add the name: openai:gpt-5",)),
    "misspelt provider": WrongUse(run("x", "-m", "opnai:gpt-5"), USAGE, ("no such model", "openai:NAME")),
    "model of nobody": WrongUse(run("x", "-m", "foo:bar"), USAGE, ("no such model: 'foo:bar'", "afresh models")),
    "offline for a bug": WrongUse(
        run("x", "-t", "fix_bug", "-c", "true", "-m", "offline"), USAGE, ("offline works only with --type fix_violation",)
    ),
    "offline, added": WrongUse(("add", "x", "-c", "true", "-m", "offline"), USAGE, ("offline works only with",)),
    "no such script": WrongUse(run("x", "-c", "true", "-m", "scripted:none.jsonl"), USAGE, ("none.jsonl",)),
    "mailbox that anybody may write into": WrongUse(
        run("x", "-c", "true", "-m", "mailbox:/tmp"), USAGE, ("anybody on this machine can write", "no task was created")
    ),
    "mailbox in a file": WrongUse(run("x", "-c", "true", "-m", "mailbox:calc.py/b"), USAGE, ("can't be written", "no task")),
    "key over plain http": WrongUse(
        run("x", "-c", "true", "-m", "far"), SETUP, ("unencrypted", "no task was created"),
        config='[models.far]\nprovider = "openai"\nmodel = "m"\nbase_url = "http://far.example/v1"\nkey = "FAR_KEY"\n',
    ),
    "price unknown under an own limit": WrongUse(
        run("x", "-c", "true", "-m", "near"), ANSWER, ("price of openai:m is unknown", "[prices"),
        config='[limits]\ntask = 1\n[models.near]\nprovider = "openai"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n',
    ),
    "thinking without a provider": WrongUse(run("x", *GOOD, "--set", "thinking=2000"), USAGE, ("does not support thinking",)),
    # the goal
    "no goal": WrongUse(("run",), USAGE, ("Missing argument 'GOAL'",)),
    "empty goal": WrongUse(run("  ", *GOOD), USAGE, ("the goal is empty",)),
    "unknown type": WrongUse(run("x", *GOOD, "-t", "fix_bgu"), USAGE, ("fix_bgu", "fix_bug")),
    "no such file to fix": WrongUse(
        run("fix the crash in src/calk.py", "-t", "fix_bug", *GOOD), USAGE, ("src/calk.py is not in this repository", "calc.py")
    ),
    "no such file to simplify": WrongUse(
        run("lower the complexity of src/nosuch.py", "-t", "fix_violation", "-c", "true"), USAGE,
        ("src/nosuch.py is not in this repository", "--force", "no task was created"),
    ),
    "no such folder to simplify": WrongUse(
        ("add", "simplify tools/nosuch/", "-t", "fix_violation", "-c", "true"), USAGE, ("tools/nosuch/ is not in this",)
    ),
    "no such name to refactor": WrongUse(
        run("refactor `duoble`", "-t", "refactor", *GOOD), USAGE, ("duoble is not in this repository", "did you mean double?")
    ),
    "goal of 40 KB": WrongUse(run("word " * 20_000, *GOOD), USAGE, ("does not fit into a prompt",)),
    "goal that is not text": WrongUse(run("caf\udce9", *GOOD), USAGE, ("is not UTF-8",)),
    # the checks
    "check that is not installed": WrongUse(
        run("x", "-c", "no-such-program --all", "-m", SCRIPT), USAGE, ("no-such-program was not found", "no task was created")
    ),
    "check that is not installed, added": WrongUse(("add", "x", "-c", "no-such-program"), USAGE, ("was not found",)),
    "check in an environment that is not there": WrongUse(
        run("x", "-c", ".venv/bin/python -m pytest", "-m", SCRIPT), USAGE, (".venv/bin/python was not found",)
    ),
    "check for a module that is not there": WrongUse(
        run("x", "-c", f"{sys.executable} -m no_such_module -q", "-m", SCRIPT), USAGE,
        ("Python has no module no_such_module", "-m pip install no_such_module"),
    ),
    "check in a later command": WrongUse(run("x", "-c", "true && no-such-program", "-m", SCRIPT), USAGE, ("was not found",)),
    "check for a script that git ignores": WrongUse(
        run("x", "-c", "bash check.sh", "-m", SCRIPT), USAGE, ("in your checkout, but not in the commit", "`copy`"),
        before=lambda person: commit_beside(person, ".gitignore", "check.sh\n", "check.sh"),
    ),
    "check by a file that can't be run": WrongUse(
        run("x", "-c", "./check.sh", "-m", SCRIPT), USAGE, ("./check.sh is not executable", "--chmod=+x check.sh"),
        before=lambda person: commit_beside(person, "check.sh", "exit 0\n"),
    ),
    "check by a package that npx would download": WrongUse(
        run("x", "-c", "npx no-such-runner", "-m", SCRIPT), USAGE, ("node_modules has no no-such-runner", "npm install"),
    ),
    "check for a package script that is not there": WrongUse(
        run("x", "-c", "npm run tset", "-m", SCRIPT), USAGE, ("package.json has no script 'tset'",),
        before=lambda person: commit_beside(person, "package.json", '{"scripts": {"test": "node --test"}}'),
    ),
    "check of the project, added": WrongUse(
        ("add", "x"), USAGE, ("no-such-program was not found",),
        before=lambda person: commit_beside(person, "AGENT.md", "---\nproject: {test_command: no-such-program}\n---\n"),
    ),
    "empty check": WrongUse(run("x", "-c", " ", "-m", SCRIPT), USAGE, ("a check is empty",)),
    "no check": WrongUse(run("x", "-m", SCRIPT), USAGE, ("none was found", "--check", "--no-check"), before=without_tests),
    "no check, added": WrongUse(("add", "x"), USAGE, ("none was found",), before=without_tests),
    "test path outside": WrongUse(run("x", *GOOD, "--allow-test-changes", "../x"), USAGE, ("../x",)),
    # the numbers
    "negative budget": WrongUse(run("x", *GOOD, "--set", "budget=-5"), USAGE, ("should be a whole number from 1 on",)),
    "budget of 0": WrongUse(run("x", *GOOD, "--set", "budget=0"), USAGE, ("should be a whole number from 1 on",)),
    "no steps": WrongUse(run("x", *GOOD, "--set", "max_steps=0"), USAGE, ("should be a whole number from 1 on",)),
    "budget of 100": WrongUse(run("x", *GOOD, "--set", "budget=100", "--set", "max_budget=100"), USAGE, ("does not fit",)),
    "huge budget": WrongUse(run("x", *GOOD, "--set", "budget=100000000"), USAGE, ("20 % of this model's context window",)),
    "highest below the first": WrongUse(
        run("x", *GOOD, "--set", "budget=5000", "--set", "max_budget=4000"), USAGE, ("is below",)
    ),
    # the command line and its surroundings
    "misspelt option": WrongUse(run("x", "--mdoel", "offline"), USAGE, ("--model",)),
    "former option": WrongUse(run("x", "--steps", "5"), USAGE, ("`--steps` is now `--set max_steps=VALUE`",)),
    "former command": WrongUse(("inbox",), USAGE, ("`afresh inbox` is now `afresh answer`",)),
    "misspelt setting": WrongUse(run("x", "--set", "budegt=5"), USAGE, ("no such setting: budegt", "max_steps")),
    "setting without a value": WrongUse(run("x", "--set", "budget"), USAGE, ("is not NAME=VALUE",)),
    "odd word of a setting": WrongUse(run("x", "--set", "loop=spiral"), USAGE, ("react or plan_execute",)),
    "misspelt command": WrongUse(("rnu", "x"), USAGE, ("did you mean 'run'?",)),
    "unknown mode": WrongUse(run("x", *GOOD, "--mode", "yolo"), USAGE, ("autonomous",)),
    "interactive without a terminal": WrongUse(run("x", *GOOD, "--mode", "interactive"), USAGE, ("needs a terminal",)),
    "after nobody": WrongUse(("add", "x", "-c", "true", "--after", "nobody"), USAGE, ("nobody",)),
    "resume of nobody": WrongUse(("resume", "nobody"), USAGE, ("nobody",)),
    "release of nobody": WrongUse(("release", "nobody"), USAGE, ("nobody",)),
    "answer to nobody": WrongUse(("answer", "yes"), NOT_DONE, ("no task has an open question",)),
    "typo in the settings": WrongUse(run("x", *GOOD), USAGE, ("modle", "did you mean model?"), config='modle = "x"\n'),
    "key in the settings": WrongUse(
        run("x", *GOOD), USAGE, ("looks like a key",), config='[models.a]\nprovider = "openai"\nmodel = "m"\nkey = "sk-1234"\n'
    ),
    "setup without a terminal": WrongUse(("setup",), USAGE, ("there is no terminal", "--provider")),
    "setup without an address": WrongUse(
        ("setup", "--provider", "compatible", "--model", "m"), USAGE, ("needs its address", "nothing was written")
    ),
    "setup with a key for a variable": WrongUse(
        ("setup", "--provider", "openai", "--model", "m", "--key-env", "sk-abc"), USAGE, ("never the key itself",)
    ),
    "setup without a key": WrongUse(
        ("setup", "--provider", "anthropic", "--model", "m"), SETUP, ("ANTHROPIC_API_KEY is not set", "nothing was written")
    ),
    "nothing listens": WrongUse(
        ("models", "check", "near"), SETUP, ("after 1 retries",),
        config='[models.near]\nprovider = "vllm"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n',
    ),
}  # fmt: skip


@pytest.fixture
def config(person: Person, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(person.folder / "config"))
    monkeypatch.setenv("XDG_DATA_HOME", str(person.folder / "data"))
    monkeypatch.setenv("FAR_KEY", "sk-far")
    path = person.folder / "config" / "afresh" / "config.toml"
    path.parent.mkdir(parents=True)
    return path


def traces(person: Person) -> tuple[str, ...]:
    """What a task leaves in a repository: worktrees, branches, files; in any repository, without our own commands."""
    worktrees = person.git("worktree", "list", "--porcelain").count("worktree ")
    return (str(worktrees), person.git("for-each-ref"), person.git("status", "--porcelain", "-uall"))


ALIKE = [name for name, use in TABLE.items() if not use.before]
"""These begin in the same repository."""
GROUPS = [*(tuple(ALIKE[start::4]) for start in range(4)), *((name,) for name, use in TABLE.items() if use.before)]


@pytest.mark.parametrize("names", GROUPS, ids=lambda names: names[0])
def test_a_wrong_use_is_explained_and_leaves_nothing_behind(person: Person, config: Path, names: tuple[str, ...]) -> None:
    script = person.script([MEND], [COMPLETE])
    if make := TABLE[names[0]].before:
        make(person)
    before = traces(person)
    for use in map(TABLE.__getitem__, names):
        config.write_text(use.config)
        told = person.types(*(script if word == SCRIPT else word for word in use.args))
        assert told.code == use.code, f"{use.args}: {told.err}"
        assert not [word for word in use.words if word not in told.words], told.words
        assert "bug in afresh" not in told.words and config.read_text() == use.config
    assert traces(person) == before
    config.write_text("")
    assert person.types("status", "--json").json["tasks"] == []


RIGHT = {
    "a file to be created": ("add src/calk.py with a doubling function", "implement_feature"),
    "a test to be created": ("fix double and create tests/test_new.py for it", "fix_bug"),
    "a file in a bug report": ("double fails when data/input.py is missing", "fix_bug"),
    "a file that exists": ("fix double in calc.py", "fix_bug"),
    "a command": ("`python tools/x.py --all` prints nothing", "fix_bug"),
    "a version": ("support Python 3.11/3.12 and input/output on Node.js", "fix_bug"),
    "an address": ("see https://example.com/a/b.py for the fault", "fix_bug"),
    "a pattern": ("the glob src/**/*.py finds nothing", "fix_bug"),
    "a new name": ("rename `double` to `twice`", "refactor"),
    "a new module": ("move double from calc.py into src/numbers/double.py", "refactor"),
    "a name of the library": ("`ValueError` should be raised by `double`", "fix_bug"),
}


def test_a_goal_that_names_what_is_to_be_made_is_taken(person: Person, config: Path) -> None:
    for goal, type in RIGHT.values():
        told = person.types("add", goal, "--type", type, "--check", "true")
        assert told.code == 0, told.err


def test_a_check_that_only_a_shell_can_tell_of_is_taken(person: Person, config: Path) -> None:
    for check in (
        "exit 0", "make -n x; [ -f x ] || ./made", "$TOOL x", "A=1 timeout 9 grep x y > z", "PATH=. x", "! no-such-program",
        "no-such-program || exit 0", "command -v no-such-program >x && no-such-program", "timeout -k 5 60 python3 -Bm unittest",
        "env -u A python3 -m unittest", "env -i PATH=$PATH grep x y", ". ./paths.sh && no-such-program",
    ):  # fmt: skip
        assert person.types("add", "double is wrong", "--check", check).code == 0, check


def test_force_starts_with_a_goal_as_it_is(person: Person, config: Path) -> None:
    told = person.types("add", "fix the crash in src/calk.py", "--type", "fix_bug", "--check", "true", "--force")
    assert told.code == 0 and "src/calk.py is not in this repository" in told.err


def test_a_key_that_is_refused_in_mid_run_keeps_the_task_and_says_how_to_go_on(
    person: Person, config: Path, monkeypatch: pytest.MonkeyPatch, requires_sandbox
) -> None:
    requires_sandbox()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    look = Reply("", (Action("read", {"path": "calc.py"}),), Usage(2_000, 40))
    done = Reply("", tuple(Action(tool, dict(args)) for tool, args in (MEND, COMPLETE)), Usage(2_000, 40))
    with ModelServer([look, HttpFault(401, "no such key"), done]) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.openai_url)
        told = person.types("run", "double is wrong", "-t", "fix_bug", "-c", CHECK, "-m", "openai:gpt-5")
        (row,) = person.types("status", "--json").json["tasks"]
        assert told.code == SETUP and f"task {row['task']} and its work are kept" in told.words
        assert f"afresh resume {row['task']}" in told.words
        assert person.types("resume").code == 0


def test_apply_without_a_git_identity_says_what_to_type(person: Person, config: Path, requires_sandbox) -> None:
    requires_sandbox()
    assert person.runs(person.script([MEND], [COMPLETE])).code == 0
    person.write("other.txt", "mine\n")
    person.commit("goes on")
    subprocess.run(["git", "config", "user.useConfigOnly", "true"], cwd=person.repo, check=True)
    told = person.types("apply")
    assert told.code == NOT_DONE and "git config --global user.name" in told.words and "your checkout is as it was" in told.words


@pytest.mark.parametrize(("answer", "code"), [("n", USAGE), pytest.param("y", 0, marks=pytest.mark.journey)])
def test_at_a_terminal_a_task_without_a_check_asks_first(person: Person, config: Path, answer: str, code: int) -> None:
    without_tests(person)
    with Terminal(person.repo, "add", "double is wrong") as at:
        at.sees("the result can't be verified. Go on?")
        at.types(answer)
        assert at.process.wait(PATIENCE) == code
    assert len(person.types("status", "--json").json["tasks"]) == (not code)
