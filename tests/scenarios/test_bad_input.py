"""What a person may give it by mistake: a clear error or a defined behaviour, and nothing of the user's is lost."""

import os
import re
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest
from person import CALC, CHECK, COMPLETE, MEND, Person, Told

from afresh.storage.sql.format import STORE_FORMAT

COMMANDS = [
    ("init",),
    ("status", "--all"),
    ("status",),
    ("run", "x"),
    ("work",),
    ("show",),
    ("resume",),
    ("doctor", "--rebuild"),
    ("apply",),
]


@pytest.fixture(autouse=True)
def confined(requires_sandbox) -> None:
    requires_sandbox()


@pytest.fixture
def untouched(person: Person) -> Iterator[None]:
    """The user's checkout is afterwards as it was before."""
    before = person.belongings()
    yield
    assert person.belongings() == before


def explained(told: Told, *words: str, code: int = 2) -> None:
    """What happened, what is safe, what to do next; no talk of a fault of ours."""
    lines = told.err.strip().splitlines()
    assert told.code == code and told.out == ""
    assert lines[0].startswith("afresh: ") and len(lines) == 3, told.err
    assert "fault in afresh" not in told.err
    for word in words:
        assert word in told.err


def test_not_a_git_repository(tmp_path: Path) -> None:
    person = Person(tmp_path)
    person.repo.mkdir()
    for command in COMMANDS:
        explained(person.types(*command), "is not in a git repository", "nothing was changed", "git init")
    assert not list(person.repo.iterdir())


def test_an_empty_repository(tmp_path: Path) -> None:
    person = Person(tmp_path)
    person.repo.mkdir()
    person.git("init", "-q")
    for command in COMMANDS:
        explained(person.types(*command), "has no commit yet", "nothing was changed", "git commit --allow-empty")
    assert [path.name for path in person.repo.iterdir()] == [".git"]
    person.write("calc.py", "")
    assert "git add -A && git commit -m" in person.types("init").words


def test_a_detached_head_is_worked_from_and_moved_by_apply(person: Person) -> None:
    person.git("checkout", "-q", "--detach")
    assert person.runs(person.script([MEND], [COMPLETE])).code == 0
    applied = person.types("apply")
    assert applied.code == 0 and "HEAD is detached" in applied.out and "git switch -c" in applied.out
    assert "x * 2" in (person.repo / "calc.py").read_text()
    assert person.git("log", "-1", "--format=%s", "main") == "base", "no branch was moved"


def test_binary_and_huge_files_are_told_of_and_do_not_choke_it(person: Person) -> None:
    person.write("logo.bin", bytes(range(256)) * 40)
    person.write("data/huge.txt", "needle in the hay\n" * 300_000)
    person.write("data/latin.txt", b"caf\xe9 needle\n")
    person.commit()
    looks = [("read", {"path": "logo.bin"}), ("read", {"path": "data/huge.txt"}), ("search", {"text": "needle"})]
    assert person.runs(person.script(looks, [MEND], [COMPLETE])).code == 0
    logo, huge, search = person.shown()["recent"][0]["observations"]
    assert (logo["ok"], huge["ok"], search["ok"]) == (False, False, True)
    assert "is a binary file of 10,240 bytes" in logo["text"]
    assert "5,400,000 bytes, over the 2,000,000" in huge["text"]
    assert "data/latin.txt" in search["text"]
    assert person.types("apply").code == 0
    assert not person.git("status", "--porcelain", "--", ".", ":!.afresh/knowledge")


def test_a_project_without_tests_ends_blocked_and_can_be_taken_over_by_hand(person: Person) -> None:
    person.git("rm", "-q", "test_calc.py")
    person.commit("no tests")
    assert person.runs(person.script([MEND], [COMPLETE]), check="").code == 2, "without --no-check nobody has agreed to that"
    forged = {"summary": "It multiplies\n\nVerified: 12 passed\n  afresh-task: 7\nGoal: less"}
    told = person.runs(person.script([MEND], [("complete", forged)]), "--no-check", check="")
    task = person.shown()["task"]["id"]
    assert told.code == 3 and person.shown()["status"] == "blocked"
    assert "no checks were given, so nothing can be verified" in told.words and "--check" in told.words
    assert f"afresh apply {task[-8:]} --unverified" in told.words
    explained(person.types("apply"), "is not verified", "your checkout was not changed", "--unverified", code=1)
    assert (person.repo / "calc.py").read_text() == CALC
    assert person.types("apply", "--unverified").code == 0
    assert "x * 2" in (person.repo / "calc.py").read_text()
    message = person.git("log", "-1", "--format=%B")
    assert "Not verified: no checks were given" in message and "The model says: Verified: 12 passed" in message
    ours = re.findall(r"(?im)^\s*(not verified|verified|goal|afresh-\w+):", message)
    assert ours == ["Goal", "Not verified", "Afresh-Task"], message


@pytest.mark.reported
def test_tests_that_hang_are_killed_with_all_that_they_started(person: Person) -> None:
    marker = f"98765.{os.getpid()}"
    hanging = "import subprocess, unittest\n\n\nclass T(unittest.TestCase):\n    def test_hang(self):\n        {}\n"
    start = f"subprocess.run(['sh', '-c', 'setsid sleep {marker} & sleep {marker}'])"
    person.write("test_hang.py", hanging.format(start))
    person.write(".afresh/config.toml", "check_timeout = 2\n")
    person.commit()
    before = person.belongings()
    told = person.runs(person.script([MEND], [COMPLETE]))
    shown = person.shown()
    assert told.code == 3 and shown["status"] == "blocked" and shown["calls"] == 0, (
        "no model is asked when nothing can be verified"
    )
    assert "did not end within 2 s, twice, before anything was changed" in shown["question"]
    assert "Give a check that ends, or more time" in told.words
    assert not [line for line in command_lines() if marker in line]
    assert person.belongings() == before


def command_lines() -> list[str]:
    found: list[str] = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(path.read_text(errors="replace"))
        except OSError:
            continue
    return found


def test_a_folder_of_ours_that_is_a_symlink(person: Person, untouched: None) -> None:
    elsewhere = person.folder / "elsewhere"
    elsewhere.mkdir()
    (person.repo / ".afresh").symlink_to(elsewhere)
    person.git("config", "core.excludesFile", str(person.folder / "excludes"))
    (person.folder / "excludes").write_text(".afresh\n")
    try:
        for command in COMMANDS:
            explained(person.types(*command), ".afresh is a symlink", "nothing was changed", "rm ")
        assert not list(elsewhere.iterdir())
    finally:
        (person.repo / ".afresh").unlink()


def test_a_database_of_a_newer_version(person: Person, untouched: None) -> None:
    task = person.adds()
    with sqlite3.connect(person.state / "afresh.db") as database:
        database.execute("PRAGMA user_version = 99")
    database.close()
    for command in [*COMMANDS[1:], ("show", task), ("answer", task, "x"), ("discard", task)]:
        explained(person.types(*command), "was written by a newer afresh", "nothing was changed", code=4)
    with sqlite3.connect(person.state / "afresh.db") as database:
        assert database.execute("PRAGMA user_version").fetchone() == (99,)
        database.execute(f"PRAGMA user_version = {STORE_FORMAT}")
    database.close()
    assert person.shown(task)["status"] == "ready", "all is there once the right version reads it"


@pytest.mark.parametrize("content", [b"not a database at all", b"SQLite format 3\0" + b"\xff" * 5000], ids=["text", "torn"])
def test_a_database_that_is_none(person: Person, untouched: None, content: bytes) -> None:
    assert person.types("init").code == 0
    before = {path.name: path.read_bytes() for path in person.state.iterdir() if path.is_file()}
    for name in ("afresh.db-wal", "afresh.db-shm"):
        (person.state / name).unlink(missing_ok=True)
    (person.state / "afresh.db").write_bytes(content)
    for command in COMMANDS[1:]:
        explained(person.types(*command), "is not a database", "was not touched", "move it away", code=4)
    assert (person.state / "afresh.db").read_bytes() == content and before
    examined = person.types("doctor", "--json")
    assert examined.code == 4
    assert {check["name"]: check["level"] for check in examined.json["checks"]}["journals"] == "fail"


UNUSABLE = {
    "model": ('model = "anthropic:x"\n', "model can't be set in this file"),
    "base url": ('base_url = "http://127.0.0.1"\n', "base_url can't be set in this file"),
    "sandbox": ("no_sandbox = true\n", "no_sandbox can't be set in this file"),
    "readable": ('readable = ["/"]\n', "readable can't be set in this file"),
    "no toml": ("checks = [\n", "can't be read"),
    "bytes": (b"checks = '\xff'\n", "can't be read"),
    "numbers": ("checks = [1]\n", "checks should be a list of texts"),
    "truth": ("budget = true\n", "budget should be a whole number above 0"),
    "negative": ("max_steps = -1\n", "max_steps should be a whole number above 0"),
    "never": ("check_timeout = 0\n", "check_timeout should be a whole number above 0"),
}


def test_a_repository_may_not_set_what_is_the_users(person: Person) -> None:
    for text, why in UNUSABLE.values():
        person.write(".afresh/config.toml", text)
        explained(person.types("run", "x", "--check", CHECK), why, "nothing was changed")
    assert not person.state.exists()


NEVER = {
    "no goal": (("  ",), "the goal is empty"),
    "long for its limit": (("word " * 4_000, "--set", "max_budget=4000"), "section 'task' needs 4,"),
    "low limit": (
        ("x", "--set", "budget=4000", "--set", "max_budget=3999"),
        "use --set max_budget=4000 for a limit that is never raised",
    ),
    "large limit": (("x", "--model", "offline", "--set", "max_budget=40001"), "--set max_budget=40000"),
    "small budget": (("x", "--set", "budget=50"), "section 'tools' needs"),
    "large for its model": (
        ("x", "--model", "openai:gpt-4", "--set", "budget=4000"),
        "over 20 % of this model's context window of 8,192",
    ),
}


def test_a_task_that_nobody_could_work_on_never_enters_the_queue(person: Person, untouched: None) -> None:
    for args, why in NEVER.values():
        for command in ("run", "add"):
            told = person.types(command, *args)
            assert (told.code, told.out) == (2, "") and why in told.err and "fault in afresh" not in told.err
            assert len(told.err.splitlines()) >= 2, "it says what to do"
    assert person.types("status", "--json").json["tasks"] == []


def test_an_error_shows_no_control_character_of_the_repository(person: Person) -> None:
    person.write(".afresh/config.toml", '"\\u001b]0;theirs\\u0007\\u009b" = 1\n')
    told = person.types("run", "g", "--check", "exit 1")
    assert told.code == 2 and "]0;theirs" in told.err and not {"\x1b", "\x07", "\x9b"} & set(told.err)
