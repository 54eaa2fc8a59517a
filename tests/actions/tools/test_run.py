"""A command that only prints files is as good as reading them."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.actions.tools import run
from afresh.actions.tools.run import MAX_PRINTED_LINES, find_printed_regions
from afresh.core.state import State
from afresh.core.states.work_state import WorkState
from afresh.core.task import Task
from afresh.ports.tool import ToolContext
from support.fakes import DictFiles, TableSandbox

FILES = DictFiles(
    **{
        "a.py": "".join(f"line {number}\n" for number in range(1, 51)),
        "src/b.py": "one\ntwo\nthree\n",
        "huge.txt": "x\n" * (MAX_PRINTED_LINES + 1),
        "empty": "",
    }
)
PRINTING = {
    "cat a.py": [("a.py", 1, 50)],
    "cat -n a.py": [("a.py", 1, 50)],
    "cat a.py src/b.py": [("a.py", 1, 50), ("src/b.py", 1, 3)],
    "nl -ba src/b.py": [("src/b.py", 1, 3)],
    "head a.py": [("a.py", 1, 10)],
    "head -n 20 a.py": [("a.py", 1, 20)],
    "head -n20 src/b.py": [("src/b.py", 1, 3)],
    "head -5 a.py": [("a.py", 1, 5)],
    "tail -n 5 a.py": [("a.py", 46, 50)],
    "tail src/b.py": [("src/b.py", 1, 3)],
    "sed -n '10,14p' a.py": [("a.py", 10, 14)],
    "sed -n 3p a.py": [("a.py", 3, 3)],
    'sed -n "40,$p" a.py': [],
    "sed -n 40,90p a.py": [("a.py", 40, 50)],
    "sed -n '3,5p;9p' a.py": [("a.py", 3, 5), ("a.py", 9, 9)],
    "sed -n 3,5p a.py; cat src/b.py": [("a.py", 3, 5), ("src/b.py", 1, 3)],
    "head -2 a.py && sed -n 40,41p a.py\ntail -1 a.py": [("a.py", 1, 2), ("a.py", 40, 41), ("a.py", 50, 50)],
}


@pytest.mark.parametrize("command", PRINTING)
def test_the_lines_that_a_plain_command_prints_are_known(command):
    assert [(one.path, one.start, one.end) for one in find_printed_regions(command, FILES, 3)] == PRINTING[command]


@pytest.mark.parametrize("command", [command for command, found in PRINTING.items() if found and not command.startswith("nl")])
def test_they_are_the_lines_that_the_shell_prints(command, tmp_path: Path):
    for path, text in FILES.texts.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    said = subprocess.run(["sh", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=True).stdout.splitlines()
    regions = find_printed_regions(command, FILES, 3)
    lines = [line for one in regions for line in FILES.texts[one.path].splitlines()[one.start - 1 : one.end]]
    assert [line.lstrip(" 0123456789\t") if " -n a" in command else line for line in said] == lines


OTHER = [
    "cat a.py | head", "cat a.py > b", "cat nowhere.py", "cat ../a.py; ls", "cat $(ls)", "cat *.py", "ls a.py", "cat", "",
    "cat 'a.py", "cat a.py\nls", "cat a.py; ls",
    "cat a.py & cat src/b.py", "cat a.py;; ls", "sed -n '3p;d' a.py",
    "sed -i s/a/b/ a.py", "sed 3p a.py", "cat huge.txt", "cat empty", "python a.py",
    "cat a.py && rm a.py", "head -c 5 a.py", "head -n -5 a.py", "tail -n +5 a.py", "tail -f a.py", "grep -n x a.py",
]  # fmt: skip


@pytest.mark.parametrize("command", OTHER)
def test_any_other_command_keeps_its_output(command):
    assert find_printed_regions(command, FILES, 3) == ()


@given(
    st.text(max_size=40)
    | st.lists(st.sampled_from(["cat", "sed", "-n", "head", "a.py", "3p", "9,2p", "-0", "|", "'", "-n 3"]), max_size=5).map(
        " ".join
    )
)
def test_no_command_makes_it_fail_and_every_region_is_within_its_file(command):
    for one in find_printed_regions(command, FILES, 3):
        assert 1 <= one.start <= one.end <= len(FILES.texts[one.path].splitlines())


def use(command: str, exit: int = 0):
    state = State(task=Task(id="t", goal="g"), work=WorkState(step=4))
    context = ToolContext(state, FILES, TableSandbox({command: (exit, "one\ntwo\nthree")}), None, None)  # type: ignore[arg-type]
    return run.tool.run({"command": command}, context)


def test_running_it_leaves_a_region_and_does_not_repeat_the_text():
    done = use("cat src/b.py")
    assert done.ok and "three" not in done.text and "src/b.py: lines 1-3" in done.text
    assert [(one.path, one.start, one.end, one.step) for one in done.regions] == [("src/b.py", 1, 3, 5)]


def test_one_that_failed_shows_what_it_said():
    done = use("cat src/b.py", 1)
    assert not done.ok and not done.regions and "three" in done.text


def test_a_model_is_told_that_its_temporary_files_are_gone_at_the_next_command() -> None:
    assert "$TMPDIR lasts one call" in run.tool.schema.description
