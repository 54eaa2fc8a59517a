import json
import re
import sys
from dataclasses import replace

from item_samples import text_of
from trees import Texts, state, tangled, tree

from afresh.code.code_insight import CodeInsight
from afresh.code.context_items.repo_map import MAX_MAP_CHARACTERS
from afresh.core.archived_block import block_id_from_text
from afresh.core.line_region import Region
from support.states import replace_in_parts


def suggestions(files, current, insight=None):
    return [look for look in (insight or CodeInsight()).looks(current, files) if look.kind == "suggestion"]


def test_a_suggestion_is_named_by_the_block_that_will_hold_it():
    files = tree(src__a=tangled("f"))
    [first, *_] = suggestions(files, state())
    head, edits, names = first.text.split("\n")
    assert block_id_from_text(first.text).startswith(first.subject) and len(first.subject) == 12
    assert head.startswith("extract ") and " of f in src/a.py " in head and ": complexity 12 -> " in head
    assert names == "_add_low_values" and " into NAME(value, seen) -> None: " in head
    assert [sorted(edit) for edit in json.loads(edits)] == [["new", "old", "path"]] * len(json.loads(edits))


def test_every_function_gets_its_best_suggestion():
    files = tree(src__a=tangled("f"), src__b=tangled("g"), src__c=tangled("h"))
    found = suggestions(files, state())
    assert [look.text.split(" of ")[1].split()[0] for look in found] == ["f", "g", "h"]


def test_what_failed_is_not_offered_again_and_the_next_is_unlike_it():
    files = tree(src__a=tangled("f"))
    tried: list[str] = []
    while found := suggestions(files, state(failed=tuple(tried))):
        assert found[0].subject not in tried
        tried.append(found[0].subject)
    assert 2 <= len(tried) <= 12


def test_a_suggestion_keeps_its_id_when_lines_above_it_move():
    before = suggestions(tree(src__a=tangled("f")), state())
    after = suggestions(tree(src__a="import os\n\n\n" + tangled("f")), state())
    assert [look.subject for look in before] == [look.subject for look in after]


def test_the_answer_does_not_depend_on_what_was_asked_before():
    files, used = tree(src__a=tangled("f"), src__b=tangled("g", 15)), CodeInsight()
    for current in (state(), state(failed=(suggestions(files, state())[0].subject,)), state(goal="mend src/b.py")):
        assert used.looks(current, files) == CodeInsight().looks(current, files)


def test_an_unchanged_tree_is_read_but_not_parsed_again(monkeypatch):
    files, insight = tree(src__a=tangled("f"), src__b=tangled("g")), CodeInsight()
    first = insight.looks(state(), files)
    monkeypatch.setattr("afresh.code.python_source.parse_python", lambda path, text: 1 / 0)
    assert insight.looks(state(), files) == first
    assert insight.measure(state(), files) == 2
    assert not insight.tests_for(["src/a.py"], files)


def test_violations_are_counted_in_scope_and_outside_tests():
    files = tree(src__a=tangled("f"), src__deep__b=tangled("g"), tests__test_a=tangled("test_h"), c=tangled("k", 10))
    count = CodeInsight().measure
    assert count(state(), files) == 2
    assert count(state("mend `src/a.py`, please"), files) == 1
    assert count(state("mend ./src/deep/."), files) == 1
    assert count(state("mend src/."), files) == 2
    assert count(state("mend src/unknown.py"), files) == 2
    assert count(state(type="write_tests"), files) == 0


def test_only_tasks_about_complexity_see_violations():
    files = tree(src__a=tangled("f"))
    assert [look.kind for look in CodeInsight().looks(state(type="implement_feature"), files)] == ["outline"]
    kinds = [look.kind for look in CodeInsight().looks(state(type="refactor"), files)]
    assert kinds[:3] == ["outline", "violations", "suggestion"]


def test_files_that_cannot_be_understood_are_named_and_do_no_harm():
    files = Texts({
        "good.py": tangled("f"), "bad.py": "def f(:\n", "null.py": "x = '\x00'\n", "other.py": "\0",
        "huge.py": "x = 1\n" * 200_000, "notes.txt": "hello", "deep.py": "(" * 500 + ")" * 500, "empty.py": "",
    })  # fmt: skip
    [outline, violations, *_] = CodeInsight().looks(state(), files)
    for path in (
        "bad.py (does not parse)",
        "null.py (does not parse)",
        "other.py (cannot be read",
        "huge.py (1,200,000 characters",
    ):
        assert path in text_of(outline)
    assert "f good.py:1 complexity 12" in violations.text


def test_the_outline_stays_small_puts_what_matters_first_and_says_what_is_left_out():
    files = Texts(
        {f"src/module_{number:03}.py": "def one(): pass\nclass Two:\n    def three(self): pass\n" for number in range(200)}
    )
    files.texts |= {f"tests/test_{number:03}.py": "def test_it(): pass\n" for number in range(100)}
    current = replace(
        state("mend src/module_150.py", "implement_feature"),
        workspace=replace(state("mend src/module_150.py", "implement_feature").workspace, changed=("src/module_170.py",)),
    )
    current = replace_in_parts(current, regions=(Region("src/module_190.py", 1, 2, 1),))
    text = text_of(CodeInsight().looks(current, files)[0])
    assert len(text) <= MAX_MAP_CHARACTERS
    assert [line.split()[0] for line in text.splitlines()[:4]] == [
        "src/module_150.py", "src/module_170.py", "src/module_190.py", "src:"
    ]  # fmt: skip
    assert "src/module_150.py (3 lines; named in the task): 1 one(), 2 class Two" in text
    assert "src/module_170.py (3 lines; changed)\n" in text and "src/module_190.py (3 lines; read)\n" in text
    assert re.search(r"\nsrc: module_000\.py, module_001\.py, .* and 1\d\d more\ntests: 100 test files$", text)


def test_other_files_stand_before_the_tests_those_that_people_read_first_and_hidden_ones_last():
    files = Texts({"src/one.py": "def one(): pass\n", "tests/test_one.py": "def test_it(): pass\n"})
    files.texts |= {".github/owners.md": "", "docs/guide.rst": "", "data/blob.bin": "", "Makefile": "", "notes/named.bin": ""}
    text = text_of(CodeInsight().looks(state("mend named.bin", "implement_feature"), files)[0])
    assert text.splitlines() == [
        "src: one.py",
        "other files: notes/named.bin, docs/guide.rst, Makefile, data/blob.bin, .github/owners.md",
        "tests: test_one.py",
    ]


def test_what_tools_make_for_tools_is_not_listed():
    files = Texts({"src/one.py": "", "one.egg-info/SOURCES.txt": "", "poetry.lock": "", "web/app.min.js": "", "README.md": ""})
    text = text_of(CodeInsight().looks(state("mend it", "implement_feature"), files)[0])
    assert text.splitlines() == ["src: one.py", "other files: README.md"]


def test_the_tests_of_what_the_task_names_stand_beside_it():
    files = Texts({"pkg/__init__.py": "", "pkg/shape.py": "def area(side): return side * side\n"})
    files.texts |= {f"pkg/other_{number}.py": "def nothing(): pass\n" for number in range(30)}
    files.texts["pkg/tests/tests.py"] = "from pkg.shape import area\n\ndef test_area(): assert area(2) == 4\n"
    lines = text_of(CodeInsight().looks(state("mend `area`", "fix_bug"), files)[0]).splitlines()
    assert lines[0] == "pkg/shape.py (1 lines; holds area): 1 area(side)"
    assert lines[1] == "pkg/tests/tests.py (3 lines; tests shape.py)"


def test_work_grows_no_faster_than_the_number_of_changed_files():
    def count_calls(number: int) -> int:
        sources, calls = [f"src/m_{one}.py" for one in range(number)], 0
        texts = {path: f"def f_{one}():\n    return {one}\n" for one, path in enumerate(sources)}
        files = Texts(texts | {f"tests/test_m_{one}.py": "assert True\n" for one in range(number)})
        regions = tuple(Region(path, 1, 2, 1, changed=True) for path in sources[:16])
        now = state(type="refactor", changed=tuple(sources), regions=regions)

        def count(frame: object, event: str, value: object) -> None:
            nonlocal calls
            calls += event == "call"

        sys.setprofile(count)
        try:
            insight = CodeInsight()
            insight.looks(now, files)
            assert len(insight.tests_for(sources, files)) == number
        finally:
            sys.setprofile(None)
        return calls

    assert count_calls(320) < 5 * count_calls(80)
