"""Lines of AGENT.md and similar files that ask for changes of tests allow them, with file and line."""

from pathlib import Path

import pytest

from afresh.config.instructions.find_instructions import InstructionFiles
from afresh.core.licences.licence_for_tests import ANY_CHANGE, EDITS, LicensedChange
from afresh.core.state import State
from afresh.core.task import WRITE_TESTS_TYPE, Task
from afresh.policy.licence_record import widen_licence

PATHS = ("src/calc.py", "tests/test_calc.py", "tests/snapshots/out.txt", "web/tests/test_page.py", "pyproject.toml")


def read(tmp_path: Path, files: dict[str, str], type: str = "fix_bug") -> tuple[LicensedChange, ...]:
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    for path in PATHS:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    chain = InstructionFiles(tmp_path / "user", tmp_path).chain((type,), (), ("tests", "web/tests"))
    state = State(task=Task(id="t", goal="double is wrong", type=type))
    return tuple(entry for event in widen_licence(state, PATHS, chain) for entry in event.changes)


AGENTS = """# Parcel

Run `make test` before you commit.

## Tests

- Write tests for what you add.
- Snapshots in tests/snapshots come from
  `make snap`: update them when output changes.
"""


def test_a_line_that_asks_for_changes_allows_them_and_names_its_place(tmp_path: Path) -> None:
    [entry] = read(tmp_path, {"AGENTS.md": AGENTS})
    assert (entry.path, entry.ways, entry.by, entry.source) == ("tests/snapshots/", EDITS, "instructions", "AGENTS.md:8")
    assert entry.reason.startswith("“Snapshots in tests/snapshots come from `make snap`") and entry.reason.endswith(
        "(AGENTS.md:8)"
    )


@pytest.mark.parametrize(
    "file", ["AGENT.md", "AGENTS.md", "CLAUDE.md", ".afresh/AGENT.md", "user/AGENT.md", "user/tasks/fix_bug.md"]
)
def test_every_file_of_the_chain_counts(tmp_path: Path, file: str) -> None:
    [entry] = read(tmp_path, {file: "When behaviour changes, update the tests of the module.\n"})
    assert (entry.subject, entry.ways) == ("tests", EDITS) and entry.source.endswith(f"{file}:1")


@pytest.mark.parametrize(
    "text",
    [
        "Write tests.",
        "Never change tests.",
        "Do not modify existing tests; fix the code.",
        "Make sure pytest passes before you commit.",
        "Skip tests which need the network.",
        "Add tests for every change.",
        "Remove obsolete tests.",
    ],
)
def test_general_words_and_standing_leave_to_skip_give_nothing(tmp_path: Path, text: str) -> None:
    assert read(tmp_path, {"AGENT.md": f"{text}\n"}) == ()


def test_a_list_of_paths_in_the_front_matter_allows_any_change_of_them(tmp_path: Path) -> None:
    text = "---\nallow_test_changes:\n  - tests/snapshots\n  - tests/test_calc.py::test_two\n---\nBe brief.\n"
    first, second = read(tmp_path, {"AGENT.md": text})
    assert (first.path, first.ways, first.source) == ("tests/snapshots/", ANY_CHANGE, "AGENT.md:2")
    assert (second.path, second.name) == ("tests/test_calc.py", "test_two")


def test_a_path_outside_the_repository_is_a_fault_with_its_line(tmp_path: Path) -> None:
    text = "---\nallow_test_changes: [../other]\n---\n"
    (tmp_path / "AGENT.md").write_text(text)
    [fault] = InstructionFiles(tmp_path / "user", tmp_path).look(("fix_bug",), ()).faults
    assert fault.line == 2 and "../other" in fault.what


def test_what_a_folder_says_is_allowed_in_that_folder_only(tmp_path: Path) -> None:
    text = "If behaviour changes, adapt the tests accordingly. Also update tests/test_calc.py.\n"
    [entry] = read(tmp_path, {"web/tests/AGENTS.md": text})
    assert entry.path == "web/tests/"


def test_what_a_more_special_file_replaces_allows_nothing(tmp_path: Path) -> None:
    general = "# A\n\n## Tests\n\nUpdate the tests when behaviour changes.\n"
    assert read(tmp_path, {"AGENTS.md": general})
    assert read(tmp_path, {"AGENTS.md": general, "tests/AGENTS.md": "## Tests\n\nNever change them.\n"}) == ()


def test_a_type_that_may_change_tests_anyway_needs_none(tmp_path: Path) -> None:
    assert read(tmp_path, {"AGENTS.md": AGENTS}, WRITE_TESTS_TYPE) == ()
