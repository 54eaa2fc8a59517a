"""Targets are found by what the task says, not by words that happen to be names somewhere."""

from dataclasses import replace
from textwrap import dedent

import pytest
from hypothesis import given
from hypothesis import strategies as st
from item_samples import text_of
from trees import Texts

from afresh.code.code_insight import CodeInsight
from afresh.code.context_items.match_text import FilesAtHand, find_files_at_hand, find_named_definitions
from afresh.code.context_items.target_definitions import find_targets
from afresh.code.context_items.work_focus import build_work_focus
from afresh.code.index.code_index import build_code_index
from afresh.code.ranking.query import find_implied_files
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.step_record import StepRecord
from afresh.core.task import Task
from support.states import make_state

COMMAND = '''
    """`tool {name}`: {about}."""

    import click


    @click.command()
    @click.option("--{option}", help="Which {option} is shown.")
    def command({option}):
        """Show {about}."""
        click.echo({option})
        return None
'''
TREE = {
    "src/tool/cli/__init__.py": "",
    "src/tool/cli/list.py": dedent(COMMAND.format(name="list", about="the queue", option="most")),
    "src/tool/cli/find.py": dedent(COMMAND.format(name="find", about="where a symbol is", option="kind")),
    "src/tool/cli/show-all.py": dedent(COMMAND.format(name="show-all", about="all of it", option="level")),
    "src/tool/cli/stop.py": dedent(COMMAND.format(name="stop", about="how it ends", option="when")),
    "src/tool/domain/task.py": "class Status:\n    READY = 'ready'\n    DONE = 'done'\n",
    "src/tool/models/provider.py": "STATUSES = (429, 500)\n\n\ndef retried(answer):\n    return answer in STATUSES\n",
    "src/tool/engine/pack.py": "class Choice:\n    def taken(self):\n        return 1\n",
    "src/tool/engine/read.py": "def read(path):\n    return open(path)\n",
    "src/tool/parts/read.py": "def run(path):\n    return path\n",
    "src/tool/testing/sandbox.py": "class TableSandbox:\n    def add(self, tests):\n        self.a = tests\n        return 1\n",
    "src/tool/testing/files.py": "class DictFiles:\n    def add(self, tests):\n        self.tests = tests\n        return 1\n",
    "src/tool/testing/clock.py": "class Clock:\n    def add(self, tests):\n        self.tests = tests\n        return 1\n",
    "bench/violations.py": "def tool(root, option):\n    return option\n",
} | {
    f"src/tool/other/m{n}.py": f'"""Given an option, says m{n}."""\n\n\ndef option_{n}(given):\n    return given\n'
    for n in range(8)
}
SHAPE = {"src/tool/engine/shape.py": "def option(words, names):\n    return words\n\n\ndef given(test):\n    return test\n"}
GOAL = "Add an option --status to the cli list: it may be given more than once; an unknown one is refused. Add tests."


def begun(goal: str = GOAL, **fields) -> State:
    return make_state(Task(id="t", goal=goal), **fields)


def about(state: State, tree: dict[str, str]) -> list[tuple[str, str, str]]:
    code = build_code_index(Texts(dict(tree)))
    return [(one.path, one.symbol.name, one.why) for one in build_work_focus(code, state).targets]


def test_a_file_that_the_task_speaks_of_by_folder_and_name_is_what_it_is_about():
    found = about(begun(), TREE | SHAPE)
    assert found[0] == ("src/tool/cli/list.py", "command", "in a file that the task is about")
    assert ("src/tool/domain/task.py", "Status", "what an option in the task is called after") in found


def test_plain_words_of_a_task_are_no_symbols_where_they_are_words():
    assert not {"src/tool/engine/shape.py", "bench/violations.py"} & {path for path, _, _ in about(begun(), TREE | SHAPE)}


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("let `cli show-all` end", "src/tool/cli/show-all.py"),
        ("the part `read` should say how many lines there are", "src/tool/parts/read.py"),
        ("the read part says how many lines there are", "src/tool/parts/read.py"),
    ],
)
def test_a_file_is_meant_by_how_it_is_spoken_of(text, path):
    assert find_implied_files(build_code_index(Texts(dict(TREE))), text) == [path]


def test_where_many_files_fit_none_is_meant():
    files = {f"a{number}/{name}.py": "" for number in range(2) for name in ("read", "stop")}
    assert not find_implied_files(build_code_index(Texts(files)), "`read` is slow") and not find_implied_files(
        build_code_index(Texts({**files, **{f"x/a0/{name}.py": "" for name in ("read", "stop")}})), "read a0"
    )


def test_the_nearest_is_beside_the_file_that_the_task_is_about():
    looks = CodeInsight().looks(begun(), Texts(TREE | SHAPE), {"similar"})
    [subject] = [look.subject for look in looks if look.kind == "similar"]
    assert subject.endswith(" command, one of 3 files in src/tool/cli") and "list.py" not in subject


def thinking(thought: str) -> State:
    own = Region("src/tool/cli/list.py", 1, 12, 1, changed=True)
    record = StepRecord(1, thought, (), "", True)
    return replace(
        begun(),
        memory=replace(begun().memory, recent=(record,), regions=(own,)),
        workspace=replace(begun().workspace, changed=("src/tool/cli/list.py",)),
    )


def test_names_of_a_thought_are_looked_for_in_what_the_work_has_touched_and_imports():
    own = TREE["src/tool/cli/list.py"].replace("import click\n", "import click\nfrom tool.engine.read import read\n")
    tree = TREE | {"src/tool/cli/list.py": f"{own}\n\nSTATUSES = ('ready', 'done')\n"}
    code = build_code_index(Texts(tree))
    thought = "Now I use Choice of click with STATUSES, and `read` for the rest."
    found = [
        (one.path, one.symbol.name) for one in find_targets(code, thinking(thought)) if one.why == "named in your last thought"
    ]
    assert found == [("src/tool/cli/list.py", "STATUSES"), ("src/tool/engine/read.py", "read")]


def test_what_is_written_like_code_is_found_wherever_it_is():
    found = [
        place.path
        for place in find_named_definitions(
            build_code_index(Texts(dict(TREE))), "then retried() and TableSandbox", FilesAtHand(strict=True)
        )
    ]
    assert found == ["src/tool/models/provider.py", "src/tool/testing/sandbox.py"]


def test_the_source_tree_begins_with_what_the_task_is_about_and_its_folder_comes_before_others():
    tree = TREE | {f"src/tool/aside/m{n}.py": "x = 1\n" for n in range(30)} | {"bench/more.py": "y = 1\n"}
    [outline] = [text_of(look) for look in CodeInsight().looks(begun(), Texts(tree)) if look.kind == "outline"]
    lines = outline.splitlines()
    assert lines[0].startswith("src/tool/cli/list.py (") and "what the task speaks of" in lines[0]
    folders = [line.partition(":")[0] for line in lines if line.startswith(("src/tool/aside:", "src/tool/cli:", "bench:"))]
    assert folders == [one for one in ("src/tool/cli", "src/tool/aside", "bench") if one in folders] and len(folders) >= 2


@given(st.text(st.sampled_from("ab`-. _(A\n"), max_size=60), st.lists(st.sampled_from(sorted(TREE)), max_size=3))
def test_any_text_is_asked_in_peace_and_nothing_is_meant_that_is_not_there(text, at):
    code = CODE
    assert all(place.path in code.files for place in find_named_definitions(code, text, find_files_at_hand(code, at)))
    assert set(find_implied_files(code, text)) <= set(code.files)


CODE = build_code_index(Texts(dict(TREE)))


def test_generated_definitions_are_no_targets_and_not_on_the_map():
    pytest.importorskip("tree_sitter")
    made = "// @generated\nexport function total(n) {\n  return n;\n}\n"
    tree = {"src/made.js": made, "src/cart.js": "export function sum(n) {\n  return n;\n}\n"}
    state = begun("`total` and `sum` are wrong")
    code = build_code_index(Texts(tree))
    assert [one.path for one in find_targets(code, state)] == ["src/cart.js"]
    written = build_code_index(Texts(tree | {"src/made.js": made.removeprefix("// @generated\n")}))
    assert {one.path for one in find_targets(written, state)} == {"src/cart.js", "src/made.js"}, "the twin"
