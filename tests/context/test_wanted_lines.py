"""Which lines of files stay in view: those that were asked for or edited, until they are used, replaced or out of date."""

from afresh.context.excerpt_ranking import PROTECTED_RANK, rank_excerpt, select_protected_excerpts
from afresh.context.sources.excerpts import MAX_IDLE_STEPS, draft_excerpts, gather_excerpts, gather_imports
from afresh.context.wanted_lines import find_import_lines, round_to_definition, select_wanted_parts
from afresh.core.change import Change
from afresh.core.context_item import Excerpt
from afresh.core.context_policy import DEFAULT_CONTEXT_POLICY
from afresh.core.line_region import Region
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.work_state import WorkState
from afresh.core.task import Task
from afresh.core.verdict import CheckRun, Ruling, Verdict
from afresh.memory.gathered_context import GatheredContext
from afresh.policy.phase_limits import is_last_look
from support.fakes import DictFiles
from support.states import replace_in_parts

POLICY = DEFAULT_CONTEXT_POLICY
IMPORTS = "import os\nfrom typing import (\n    Any,\n)\n\n\n"
LONG = (
    IMPORTS
    + "def long_one():\n"
    + "".join(f"    step_{number}()\n" for number in range(8, 130))
    + "\n\ndef other_one():\n    pass\n"
)
LINES = LONG.splitlines()


def after(step: int, *regions: Region, goal: str = "g") -> State:
    return State(task=Task(id="t", goal=goal), work=WorkState(step=step), memory=MemoryState(regions=regions))


def seen(state: State, *changes: Change, told: tuple[Region, ...] = ()) -> list[Excerpt]:
    return list(gather_excerpts(state, DictFiles(**{"a.py": LONG}), changes, told, ()))


def numbers(views: list[Excerpt]) -> set[int]:
    return {number for view in views for number in range(view.first, view.last + 1)}


def test_a_read_shows_the_lines_that_were_asked_for_and_none_beside_them():
    views = seen(after(3, Region("a.py", 40, 53, 3)))
    assert numbers(views) == {*range(40, 54)}
    assert views[0].lines[0].text == "def long_one():", "with the line that names what they are inside of"


def test_a_read_is_rounded_by_a_few_lines_to_the_border_of_a_definition():
    assert round_to_definition(LINES, (9, 20)) == (7, 20)
    assert round_to_definition(LINES, (60, 128)) == (60, 131)
    assert round_to_definition(LINES, (60, 90)) == (60, 90)
    assert round_to_definition(["@one", "def a():", "    pass"], (2, 3)) == (1, 3)


def test_a_gap_that_costs_as_much_to_mark_is_filled():
    assert list(select_wanted_parts(LINES, [(20, 25), (28, 30)], ())) == [(20, 30)]
    assert list(select_wanted_parts(LINES, [(20, 25), (30, 33)], ())) == [(20, 25), (30, 33)]


def test_a_change_is_shown_with_a_few_lines_around_it():
    """A region of a change has the lines around it that a diff shows; what was deleted is a place."""
    changed = after(3, Region("a.py", 45, 56, 3, True))
    patch = "@@ -45,10 +45,12 @@\n a\n b\n c\n d\n e\n+new\n+new\n f\n g\n h\n i\n j\n"
    assert numbers(seen(changed, Change("a.py", "modified", 2, 0, patch))) == {*range(47, 55)}
    assert numbers(seen(changed)) == {*range(45, 57)}


def test_lines_that_were_read_stay_for_some_steps_and_longer_while_the_work_names_them():
    read, most = Region("a.py", 40, 60, 1), MAX_IDLE_STEPS
    assert numbers(seen(after(most, read))) == {*range(40, 61)}
    assert not seen(after(most + 1, read))
    assert numbers(seen(after(most + 1, read, goal="long_one is slow"))) == {*range(40, 61)}


def test_the_imports_of_the_file_in_work_are_shown_unless_they_are_already():
    state, files = after(3, Region("a.py", 50, 51, 3, True)), DictFiles(**{"a.py": LONG})
    [view] = gather_imports(state, files, ())
    assert [line.number for line in view.lines] == [1, 2, 3, 4] and find_import_lines(LINES) == (1, 4)
    assert not list(gather_imports(state, files, seen(after(3, Region("a.py", 1, 60, 3)))))


def test_lines_of_the_last_edit_are_given_up_after_all_else_that_is_worked_on():
    state = after(5, Region("a.py", 7, 90, 2), Region("a.py", 100, 101, 4, True), goal="long_one is slow")
    patch = "--- a/a.py\n+++ b/a.py\n@@ -100,2 +100,2 @@\n-x\n-y\n+    step_101()\n+    step_102()\n"
    views = seen(state, Change("a.py", "modified", 2, 2, patch))
    kept = select_protected_excerpts(views, state, ())
    assert any(view.first <= 100 <= view.last for view in kept)
    ranked = sorted(draft_excerpts(GatheredContext(state, tuple(views))).pieces, key=lambda piece: piece.rank)
    assert "step_101" in ranked[0].text


def test_what_was_read_for_a_change_is_kept_until_its_file_is_changed():
    """Otherwise a prompt that is built anew lacks what the next reply is to edit."""
    read = Region("a.py", 40, 53, 3)
    [view] = seen(after(3, read))

    def is_kept(state: State) -> bool:
        return rank_excerpt(view, state, frozenset()) <= PROTECTED_RANK // 20

    assert is_kept(after(5, read)) and is_kept(after(5, read, Region("b.py", 90, 91, 4, True)))
    assert not is_kept(after(6, read)), "it was not needed for a while"
    assert not is_kept(after(5, read, Region("a.py", 90, 91, 4, True))), "it was used"


def test_what_the_last_step_has_read_comes_before_what_it_has_edited():
    """A reply that edits one file and reads the next needs the second, also where the tests pass and it may complete."""
    state = after(5, Region("a.py", 40, 53, 5), Region("a.py", 90, 95, 5, True))
    patch = "@@ -89,2 +89,4 @@\n a\n+new\n+new\n b\n"
    read, edited = seen(state, Change("a.py", "modified", 2, 0, patch))
    kept = select_protected_excerpts([read, edited], state, [])
    assert edited in kept
    verdict = Verdict(Ruling.PASS, "all pass", (CheckRun("pytest", 0, passed=1),))
    green = replace_in_parts(state, verdict=verdict, changed=("a.py",))
    assert is_last_look(green) and not is_last_look(state)
    for one in (state, green):
        first, second = draft_excerpts(GatheredContext(one, (read, edited))).pieces
        assert first.item is read and first.rank < second.rank
