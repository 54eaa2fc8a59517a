"""Each tool as the model uses it."""

import json

import pytest

from afresh.actions.tools.registry import TOOLS
from afresh.code.code_insight import CodeInsight
from afresh.core.archived_block import Block, block_id_from_text
from afresh.core.ceiling_state import LargerCeilingRequested
from afresh.core.decision import Decision
from afresh.core.event import DecisionMade, PlanSet, QuestionAsked
from afresh.core.fact import FactKind
from afresh.core.strategy_state import PlanItem
from afresh.core.task import Check, Task
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from afresh.testing.fakes import DictFiles, EmptyInsight, TableSandbox
from afresh.testing.states import make_state

BY_NAME = {tool.schema.name: tool for tool in TOOLS}


class Archive:
    def __init__(self, *texts):
        self.blocks = [Block(block_id_from_text(text), text) for text in texts]

    def read(self, name):
        found = [block.text for block in self.blocks if block.id.startswith(name)]
        if len(found) != 1:
            raise KeyError(name)
        return found[0]

    def find(self, prefix, task):
        return [block.id for block in self.blocks if block.id.startswith(prefix)]


def make_context(files=None, table=None, archive=None, insight=None, **fields):
    task = Task(id="t", goal="g", checks=(Check("pytest -q"), Check("ruff check")))
    return ToolContext(
        make_state(task, **fields),
        files or DictFiles(),
        TableSandbox(table or {}),
        archive or Archive(),
        insight or EmptyInsight(),
    )


def use(name, on, **args):
    return BY_NAME[name].run(args, on)


def test_reading_leaves_a_region_and_does_not_repeat_the_text():
    seen = use("read", make_context(DictFiles(**{"a.py": "one\ntwo\nthree\n"}), step=4), path="a.py", start=2)
    assert "two" not in seen.text
    assert [(r.path, r.start, r.end, r.step) for r in seen.regions] == [("a.py", 2, 3, 5)]


def test_reading_past_the_end_says_how_long_the_file_is():
    with pytest.raises(ModelMistake, match="only 1 lines"):
        use("read", make_context(DictFiles(**{"a.py": "one\n"})), path="a.py", start=9)


def test_search_is_capped_per_file_and_says_how_many_more():
    files = DictFiles(**{"a.py": "needle\n" * 50, "b.py": "x\ndef needle(): pass\n"})
    text = use("search", make_context(files), text="needle").text
    assert "… 35 more: 16, 17, " in text
    assert "b.py\n  2: def needle(): pass" in text


def test_search_shows_hits_in_their_order_keeps_definitions_and_says_where_the_others_are():
    lines = [f"needle {number}" for number in range(1, 41)] + ["def needle(): pass"]
    text = use("search", make_context(DictFiles(**{"a.py": "\n".join(lines)})), text="needle").text.splitlines()
    assert text[:3] == ["a.py", "  1: needle 1", "  2: needle 2"] and text[-2] == "  41: def needle(): pass"
    assert text[-1] == "  … 11 more: 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40"


def test_search_falls_back_to_ignoring_case_and_says_so():
    assert "ignoring case" in use("search", make_context(DictFiles(**{"a.py": "Needle"})), text="needle").text


def test_search_stays_within_the_given_folder():
    files = DictFiles(src__a="needle", tests__b="needle")
    assert "tests/b" not in use("search", make_context(files), text="needle", path="src").text


SHAPES = {
    "docs/shapes.md": "area() is the square\n",
    "pkg/shape.py": "def area(side):\n    return side * side\n",
    "pkg/plan.py": "from pkg.shape import area\n\n\ndef cost(side):\n    # area counts\n    return 3 * area(side)\n",
}


@pytest.mark.parametrize("path", [".", "./", "./src", "src/", "src//a.py", "./src/*.py"])
def test_search_understands_a_path_however_it_is_spelt(path):
    files = DictFiles(**{"src/a.py": "needle", "tests/b.py": "needle"})
    found = use("search", make_context(files), text="needle", path=path).text
    assert "src/a.py" in found and ("tests/b.py" in found) is (path in (".", "./"))


def test_search_where_no_file_lies_is_a_mistake_and_no_miss():
    with pytest.raises(ModelMistake, match="no file lies under 'scr'; without `path` all are searched"):
        use("search", make_context(DictFiles(**{"src/a.py": "needle"})), text="needle", path="scr")


def test_search_for_a_name_tells_where_it_is_defined_then_who_uses_it_then_what_else_says_it():
    text = use("search", make_context(DictFiles(**SHAPES), insight=CodeInsight()), text="area").text
    assert text.splitlines() == [
        "defined:", "pkg/shape.py", "  1: def area(side)",
        "used:", "pkg/plan.py", "  6: return 3 * area(side)  (in cost)",
        "besides:", "docs/shapes.md", "  1: area() is the square",
        "pkg/plan.py", "  1: from pkg.shape import area", "  5: # area counts",
    ]  # fmt: skip


def test_search_for_a_name_stays_within_the_given_folder():
    text = use("search", make_context(DictFiles(**SHAPES), insight=CodeInsight()), text="area", path="docs").text
    assert text.splitlines() == ["docs/shapes.md", "  1: area() is the square"]


def test_search_for_what_is_no_name_of_a_definition_is_a_search_for_text():
    text = use("search", make_context(DictFiles(**SHAPES), insight=CodeInsight()), text="side * side").text
    assert text.splitlines() == ["pkg/shape.py", "  2: return side * side"]


def test_edit_replaces_exactly_one_place():
    files = DictFiles(**{"a.py": "x = 1\ny = 2\n"})
    use("edit", make_context(files), path="a.py", old="y = 2", new="y = 3")
    assert files.texts["a.py"] == "x = 1\ny = 3\n"


@pytest.mark.parametrize(
    ("old", "said"),
    [("x", "occurs 2 times.*lines 1, 2"), ("y = 22", "nearest is line 3: 'y = 2'"), ("zzz", "copy it exactly")],
)
def test_an_edit_that_cannot_be_placed_changes_nothing_and_says_what_is_near(old, said):
    files = DictFiles(**{"a.py": "x = 1\nx = 2\ny = 2\n"})
    with pytest.raises(ModelMistake, match=said):
        use("edit", make_context(files), path="a.py", old=old, new="q")
    assert files.texts["a.py"] == "x = 1\nx = 2\ny = 2\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("y = 2", "y = 3\nz = 4", "a.py: line 2 replaced (now lines 2-3)"),
        ("x = 1\ny = 2\n", "", "a.py: lines 1-2 removed"),
        ("", "z = 4", "a.py: line 3 appended"),
    ],
)
def test_an_edit_says_which_lines_it_replaced_and_where_the_new_ones_are(old, new, said):
    here = make_context(DictFiles(**{"a.py": "x = 1\ny = 2\n"}))
    assert use("edit", here, path="a.py", old=old, new=new).text.splitlines()[0] == said


def test_an_edit_of_nothing_appends_after_the_last_line():
    files = DictFiles(**{"a.py": "x = 1"})
    use("edit", make_context(files), path="a.py", old="", new="y = 2\n")
    assert files.texts["a.py"] == "x = 1\ny = 2\n"


def test_write_says_whether_it_made_or_replaced_the_file():
    here = make_context(DictFiles())
    assert "made a.py" in use("write", here, path="a.py", content="x\n").text
    assert "replaced a.py" in use("write", here, path="a.py", content="y\n").text


def test_run_reports_the_exit_code_and_is_not_ok_when_it_is_not_zero():
    here = make_context(table={"false": (1, "oops")})
    assert (use("run", here, command="false").ok, use("run", here, command="false").text) == (False, "$ false\nexit 1\noops")


def test_test_runs_every_check_or_only_the_named_tests():
    here = make_context(table={"pytest -q": (0, "3 passed"), "ruff check": (1, "bad"), "pytest -q tests/a.py": (0, "1 passed")})
    assert not use("test", here).ok
    assert use("test", here, which="tests/a.py").ok
    assert here.sandbox.ran == ["pytest -q", "ruff check", "pytest -q tests/a.py"]


def test_names_given_to_test_cannot_smuggle_in_another_command():
    here = make_context()
    use("test", here, which="tests/a.py; rm -rf x")
    assert here.sandbox.ran == ["pytest -q 'tests/a.py;' rm -rf x"]


def test_remember_makes_a_note_about_a_subject():
    (fact,) = use("remember", make_context(step=2), subject="parser", note="tabs are kept").facts
    assert (fact.kind, fact.subject, fact.text, fact.step) == (FactKind.NOTE, "parser", "tabs are kept", 3)


def test_recall_gives_the_part_that_was_asked_about():
    text = "\n".join([*(f"line {n}" for n in range(50)), "KeyError: colour", *(f"line {n}" for n in range(50, 100))])
    told = use("recall", make_context(archive=Archive(text)), id=block_id_from_text(text)[:8], about="the KeyError").text
    assert "KeyError: colour" in told
    assert len(told.splitlines()) < 20


def test_recall_of_an_unknown_block_says_where_ids_stand():
    with pytest.raises(ModelMistake, match="Archived outputs"):
        use("recall", make_context(), id="deadbeef")


def test_plan_keeps_order_and_what_is_done():
    (event,) = use("plan", make_context(), items=["[x] look", "[ ] mend", "tell"]).events
    assert event == PlanSet((PlanItem("look", True), PlanItem("mend"), PlanItem("tell")))


def test_items_of_the_plan_are_marked_by_their_numbers():
    held = (PlanItem("look", True), PlanItem("mend"), PlanItem("tell"))
    outcome = use("plan", make_context(plan=held), items=["[x] 2"])
    assert outcome.events == (PlanSet((PlanItem("look", True), PlanItem("mend", True), PlanItem("tell"))),)
    assert outcome.text == "marked; next: tell"
    assert use("plan", make_context(plan=held), items=["[x] 2", "[x] 3"]).text == "marked; all are done"
    assert use("plan", make_context(), items=["[x] 2"]).events == (PlanSet((PlanItem("2", True),)),), "there is no plan to mark"
    with pytest.raises(ModelMistake, match="there is no item 4"):
        use("plan", make_context(plan=held), items=["[x] 4"])


def test_a_plan_that_could_crowd_out_everything_else_is_refused():
    with pytest.raises(ModelMistake, match="13 items, 12 are the most"):
        use("plan", make_context(), items=["x"] * 13)


def test_an_item_of_a_plan_that_is_too_long_is_cut_and_the_plan_is_kept():
    outcome = use("plan", make_context(), items=["look", "y" * 300])
    assert outcome.text == "plan set; cut to 200 characters: item 2"
    assert [len(item.text) for event in outcome.events for item in event.items] == [4, 200]


def test_ask_blocks_with_the_question_and_its_options():
    (event,) = use("ask", make_context(), question="Which?", options=["a", "b"]).events
    assert event == QuestionAsked("Which?", ("a", "b"))


@pytest.mark.parametrize(
    "args",
    [{"question": " "}, {"question": "x" * 601}, {"question": "Which?", "options": ["a"] * 7},
     {"question": "Which?", "options": ["a", " "]}, {"question": "Which?", "options": ["x" * 201]},
     {"question": "Which?", "options": [{"option": "a"}]}],
)  # fmt: skip
def test_a_question_that_no_later_window_could_hold_is_not_asked(args):
    with pytest.raises(ModelMistake, match="ask"):
        use("ask", make_context(), **args)


def test_decide_puts_a_choice_on_record_with_its_reason():
    told = use("decide", make_context(step=2), subject="parser", decision="by  hand", why="no new dependency", confidence=1)
    (event,) = told.events
    assert event == DecisionMade(Decision("by hand", "model", "no new dependency", 3, "parser", 1.0)) and told.text == "decided"
    (event,) = use("decide", make_context(), subject="parser", decision="by hand", why="so").events
    assert event.decision.confidence is None


def test_decide_tells_what_no_longer_holds_and_leaves_the_users_word_alone():
    held = (Decision("a table", "model", "so", 1, "Parser"), Decision("keep them", "person", "", 1, "Rename all?"))
    here = make_context(decisions=held)
    assert use("decide", here, subject="parser", decision="by hand", why="so").text == "decided; no longer: a table"
    with pytest.raises(ModelMistake, match="the user has decided that: keep them"):
        use("decide", here, subject="rename all?", decision="rename", why="nicer")


@pytest.mark.parametrize(
    "args",
    [{"subject": " "}, {"decision": ""}, {"why": "x" * 241}, {"subject": "x" * 61}, {"confidence": 1.5}, {"confidence": -1},
     {"confidence": float("nan")}, {"confidence": "high"}],
)  # fmt: skip
def test_a_decision_that_can_not_be_kept_is_refused(args):
    with pytest.raises(ModelMistake, match="decide"):
        use("decide", make_context(), **{"subject": "parser", "decision": "by hand", "why": "so", **args})


def test_complete_is_only_a_claim():
    assert use("complete", make_context(), summary="Done").complete == "Done"


def test_apply_carries_out_an_archived_suggestion():
    suggestion = "extract f\n" + json.dumps([{"path": "a.py", "old": "x = 1", "new": "x = 2"}])
    files = DictFiles(**{"a.py": "x = 1\n"})
    use("apply", make_context(files, archive=Archive(suggestion)), id=block_id_from_text(suggestion)[:12])
    assert files.texts["a.py"] == "x = 2\n"


@pytest.mark.parametrize("text", ["just an output", "title\nnot json", 'title\n{"path": "x"}'])
def test_apply_refuses_a_block_that_is_no_suggestion(text):
    with pytest.raises(ModelMistake, match="no suggestion"):
        use("apply", make_context(archive=Archive(text)), id=block_id_from_text(text)[:12])


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("read", {}, "missing argument path"),
        ("read", {"path": "a", "begin": 1}, "unknown argument begin"),
        ("read", {"path": 3}, "path: should be string"),
        ("plan", {"items": "one"}, "items: should be array"),
    ],
)
def test_arguments_that_do_not_fit_the_schema_are_named(name, args, said):
    with pytest.raises(ModelMistake, match=said):
        BY_NAME[name].run(args, make_context())


def test_asking_for_more_room_needs_a_reason():
    assert use("more_room", make_context(), reason="the other file").events == (LargerCeilingRequested("the other file"),)
    with pytest.raises(ModelMistake, match="say what was left out"):
        use("more_room", make_context(), reason=" ")
