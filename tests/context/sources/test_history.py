"""Earlier steps in a window: in their order, each line once, what is old is marked, and what is left out is told."""

import re
from dataclasses import replace

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from traces import SPOKEN, Said, passages

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import load_template
from afresh.context.build_prompt import build_prompt, select_offered_tools
from afresh.context.sources.history import MAX_LIVE_TOKENS, NAME_INDEX_TITLE
from afresh.context.sources.history_rows import render_history_rows
from afresh.core.action import Action, Observation
from afresh.core.context_item import Excerpt, Item, SourceLine
from afresh.core.line_region import Region
from afresh.core.prompt import Prompt
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.states.work_state import WorkState
from afresh.core.states.workspace_state import WorkspaceState
from afresh.core.step_history import PassageVoice
from afresh.core.step_record import StepRecord
from afresh.core.task import Check, Task
from afresh.core.tokens import EstimatingCounter
from afresh.memory.gathered_context import GatheredContext, TraceCache
from afresh.memory.history.trace import build_trace
from support.states import make_state

STYLE = load_template("implement_feature")
SCHEMAS = select_offered_tools(STYLE.at("change"), TOOLS)
HEADING = re.compile(r"(\d+)(?:= [0-9a-f]{8}( \(before the last change\))?(?: …)?|(?: [a-z0-9 ]+)?[>:] .*)")


def test_work_on_a_task_has_no_index_of_names():
    """No mind that played the model has ever used it."""
    many = [(number, PassageVoice.OUTPUT, f"what value_{number} is stands here\n" * 3) for number in range(11, 30)]
    window = build_prompt(remembering(many), STYLE, SCHEMAS, 2_450, EstimatingCounter())
    assert NAME_INDEX_TITLE not in window.request.message


def remembering(spoken: list[Said], *looks: Item, **fields) -> GatheredContext:
    held, archive = passages(spoken)
    task = Task(id="t", goal="Make it work", checks=(Check("pytest -q"),))
    state = make_state(task, **{"step": 30, "passages": held, "limit": 60, **fields})
    return GatheredContext(state, looks, build_trace(held, archive.__getitem__))


def made(memory: GatheredContext, budget: int = 4_000) -> Prompt:
    return build_prompt(memory, STYLE, SCHEMAS, budget, EstimatingCounter())


def section(window: Prompt, name: str) -> list[str]:
    return next((part.text.splitlines()[1:] for part in window.sections if part.name == name), [])


@settings(max_examples=settings.default.max_examples * 3 // 4)
@given(SPOKEN, st.integers(2_400, 6_000))
def test_steps_stand_in_the_order_in_which_they_were_taken(spoken, budget):
    steps = [int(match[1]) for line in section(made(remembering(spoken)), "work") if (match := HEADING.fullmatch(line))]
    assert steps == sorted(steps)


@settings(max_examples=settings.default.max_examples * 3 // 4)
@given(SPOKEN, st.integers(2_400, 6_000))
def test_no_line_stands_twice(spoken, budget):
    shown = [line.strip() for line in section(made(remembering(spoken), budget), "work")]
    told = [line for line in shown if len(line) >= 20 and not HEADING.fullmatch(line)]
    assert len(told) == len(set(told))


@settings(max_examples=settings.default.max_examples * 3 // 4)
@given(SPOKEN, st.lists(st.tuples(st.integers(0, 12), st.sets(st.integers(0, 12))), max_size=3))
@example(
    [
        (1, PassageVoice.OUTPUT, "first_name = 1"),
        (2, PassageVoice.OUTPUT, "second_name = 1"),
        (3, PassageVoice.ACTION, "first_name"),
    ],
    [(2, {0})],
)
def test_a_window_is_the_same_whether_memory_grew_forgot_or_was_read_at_once(spoken, moves):
    held, archive = passages(spoken)
    task, past = Task(id="t", goal="Make it work", checks=(Check("pytest -q"),)), TraceCache()
    for length, gone in [*moves, (len(held), set())]:
        kept = tuple(passage for number, passage in enumerate(held[:length]) if number not in gone)
        state = State(task=task, work=WorkState(step=30), memory=MemoryState(passages=kept, forgotten=len(gone)))
        grown, fresh = past.of(kept, archive.__getitem__), build_trace(kept, archive.__getitem__)
        assert (
            made(GatheredContext(state, (), grown), 2_600).request.text
            == made(GatheredContext(state, (), fresh), 2_600).request.text
        )


def test_work_in_a_tree_takes_no_more_for_earlier_steps_than_its_limit_however_much_room_there_is():
    many = [
        (n, PassageVoice.OUTPUT, "\n".join(f"value_{n}_{row} is in src/module_{row}.py" for row in range(8))) for n in range(90)
    ]
    [work] = [part for part in made(remembering(many, first_snapshot="tree"), 16_000).sections if part.name == "work"]
    assert work.tokens <= MAX_LIVE_TOKENS
    [free] = [part for part in made(remembering(many, first_snapshot=""), 16_000).sections if part.name == "work"]
    assert free.tokens > 2 * work.tokens, "recorded runs have no tree to look at"


def test_single_lines_of_a_long_output_are_not_shown_where_it_can_be_read_again():
    long = "\n".join(f"value_{row} is in src/module_{row}.py" for row in range(60))
    spoken = [(28, PassageVoice.OUTPUT, long), (29, PassageVoice.OUTPUT, "the total of value_7 is 14")]
    live = section(made(remembering(spoken, first_snapshot="tree")), "work")
    assert "the total of value_7 is 14" in live and not any("src/module_" in line for line in live)
    assert any("src/module_" in line for line in section(made(remembering(spoken, first_snapshot="")), "work"))


def test_a_script_that_a_step_tells_of_has_no_second_line():
    script = "run python - <<'P' … and 6 more lines"
    outcome = "run python - <<'P'… → 14 euros in total_price"
    seen = Observation(Action("run", {"command": "python - <<'P'…"}), True, "x")
    recent = (StepRecord(29, "", (seen,), outcome, True), StepRecord(30, "", (), "", True))
    spoken = [(29, PassageVoice.ACTION, script), (29, PassageVoice.OUTPUT, "unit_price = 7 euros\ntotal_price = 14 euros")]
    told = section(made(remembering(spoken, recent=recent)), "work")
    assert [line for line in told if "<<'P'" in line] == [f"29> {outcome}"] and "unit_price = 7 euros" in told


def test_short_lines_between_results_are_shown_in_work_in_a_tree():
    results = "first_{0} = 'some_value_{0}'\n'[a] and {0} more'\nother_{0} = 'other_value_{0}'"
    memory = remembering([(n, PassageVoice.OUTPUT, results.format(f"result_{n}")) for n in range(1, 29)], first_snapshot="tree")
    assert "…" not in section(made(memory, 4_000), "work")


def test_a_hit_of_a_search_is_not_shown_again_where_files_show_its_line():
    line = SourceLine(818, "        self._replace_at(idx, new_key, value)")
    shown = Excerpt("file", "tomlkit/container.py", 818, 818, (), (line,))
    hits = "tomlkit/container.py\n  818: self._replace_at(idx, new_key, value)  (in Container._replace)\n"
    hits += "  901: other_name(idx)  (in Container.put)"
    told = section(made(remembering([(28, PassageVoice.OUTPUT, hits)], shown)), "work")
    assert any("901: other_name" in row for row in told) and not any("818:" in row for row in told)


def test_an_output_says_where_all_of_it_is_and_what_it_left_out():
    text = "\n".join(f"value_{number} stands in src/module_{number}.py" for number in range(400))
    window = made(remembering([(3, PassageVoice.OUTPUT, text), (4, PassageVoice.ACTION, "run grep -rn value_7 src/module_7.py")]))
    held, _ = passages([(3, PassageVoice.OUTPUT, text)])
    shown = section(window, "work")
    assert any(held[0].block[:8] in line for line in shown) and any("…" in line for line in shown)
    gone = [one for one in window.omissions if one.section == "work"]
    assert re.fullmatch(r"\d+ lines of outputs, steps 3 to 3", gone[0].what) and gone[0].tokens > 0


def test_outputs_from_before_the_last_change_are_marked_as_old_and_others_are_not():
    spoken = [
        (2, PassageVoice.OUTPUT, "first_name is wrong"),
        (3, PassageVoice.ACTION, "edit parcel.py"),
        (5, PassageVoice.OUTPUT, "second_name is right"),
    ]
    memory = remembering(spoken, last_change=3)
    headings = [match for line in section(made(memory), "work") if (match := HEADING.fullmatch(line))]
    assert [(int(match[1]), bool(match[2])) for match in headings] == [(2, True), (3, False), (5, False)]


def test_what_stands_elsewhere_in_the_window_is_not_shown_again():
    line = "src/parcel/pricing.py: billable_kilograms(2000) gave 3"
    shown = Observation(Action("run", {"command": "x"}), True, line)
    spoken = [(29, PassageVoice.OUTPUT, line), (30, PassageVoice.OUTPUT, f"{line}\nsome_other_name = 1")]
    window = made(remembering(spoken, recent=(StepRecord(30, "", (shown,), "", True),)))
    assert window.request.message.count(line) == 1 and "some_other_name" in window.request.message


def test_what_memory_let_go_is_told_with_where_it_is():
    window = made(remembering([(3, PassageVoice.OUTPUT, "first_name = 1")], forgotten=12))
    assert ("12 passages of old steps", "no longer in memory, kept in the archive") in [
        (one.what, one.reason) for one in window.omissions
    ]


def test_without_steps_there_is_no_such_section():
    window = made(remembering([]))
    assert not section(window, "work") and not [one for one in window.omissions if one.section == "work"]


def test_a_template_that_wants_no_work_gets_none_and_the_record_says_so():
    hidden = replace(STYLE, phases=(), shares=tuple(share for share in STYLE.at("change").shares if share.section != "work"))
    memory = remembering([(3, PassageVoice.OUTPUT, "first_name = 1")])
    assert not section(build_prompt(memory, hidden, SCHEMAS, 4_000, EstimatingCounter()), "work")


def test_an_action_says_how_it_ended_and_where_its_output_is_when_none_of_it_is_shown():
    dull = "-\n" * 100
    held, archive = passages(
        [(3, PassageVoice.ACTION, "run first_name"), (3, PassageVoice.OUTPUT, dull), (4, PassageVoice.ACTION, "run second_name")]
    )
    ends = (replace(held[0], ended="failed"), held[1], replace(held[2], ended="ok"))
    state = State(
        task=Task(id="t", goal="Make it work", checks=(Check("pytest -q"),)),
        work=WorkState(step=30),
        memory=MemoryState(passages=ends),
    )
    shown = section(made(GatheredContext(state, (), build_trace(ends, archive.__getitem__))), "work")
    assert shown == [f"3 failed {held[1].block[:8]}> run first_name", "4 ok> run second_name"]


def test_the_id_of_an_output_stands_with_the_output_where_lines_of_it_are_shown():
    text = "\n".join(f"value_{number} stands here" for number in range(9))
    held, _ = passages([(3, PassageVoice.OUTPUT, text)])
    shown = section(made(remembering([(3, PassageVoice.ACTION, "run first_name"), (3, PassageVoice.OUTPUT, text)])), "work")
    assert shown[:2] == ["3> run first_name", f"3= {held[0].block[:8]}"]


def test_what_was_printed_after_the_change_in_the_same_reply_is_not_old():
    held, archive = passages([(3, PassageVoice.OUTPUT, "first_name is wrong"), (3, PassageVoice.OUTPUT, "second_name is right")])
    held = (held[0], replace(held[1], late=True))
    state = State(
        task=Task(id="t", goal="Make it work", checks=(Check("pytest -q"),)),
        work=WorkState(step=30),
        memory=MemoryState(passages=held),
        workspace=WorkspaceState(last_change=3),
    )
    shown = section(made(GatheredContext(state, (), build_trace(held, archive.__getitem__))), "work")
    assert [line.endswith("(before the last change)") for line in shown if "=" in line] == [True, False]


CODE = Excerpt(
    "file",
    "src/label.py",
    33,
    34,
    ("f",),
    (SourceLine(33, "    if parcel.weight > 20_000:"), SourceLine(34, "        heavy_parcels.append(parcel)", changed=True)),
)


def test_search_hits_and_printed_lines_that_stand_under_files_are_not_shown_again():
    line = "heavy_parcels.append(parcel)"
    forms = [
        f"  34: {line}",
        f"34:        {line}",
        f"src/label.py:34:        {line}",
        f"    34\t        {line}",
        f"        {line}",
    ]
    for form in forms:
        spoken = [(20, PassageVoice.OUTPUT, f"{form}\nsome_other_name = 1"), (21, PassageVoice.ACTION, "run third_name")]
        window = made(remembering(spoken, CODE, regions=(Region("src/label.py", 33, 34, 9),)))
        assert window.request.message.count(line) == 1 and "some_other_name" in window.request.message, form


def test_a_line_that_stands_elsewhere_with_its_number_is_not_shown_again():
    shown = Observation(Action("run", {"command": "x"}), True, "src/a.py:7:    billable_kilograms(2000)\n   8\tmany_names = 3")
    spoken = [(20, PassageVoice.OUTPUT, "    billable_kilograms(2000)\nmany_names = 3\nsome_other_name = 1")]
    window = made(remembering(spoken, recent=(StepRecord(30, "", (shown,), "", True),)))
    assert window.request.message.count("billable_kilograms(2000)") == 1 and window.request.message.count("many_names = 3") == 1
    assert "some_other_name" in window.request.message


def test_what_the_earlier_steps_tell_is_not_told_again_under_work():
    told = "run cat nowhere.py → cat: nowhere.py: No such file or directory (failed)"
    spoken = [
        (20, PassageVoice.ACTION, "run cat nowhere.py"),
        (20, PassageVoice.OUTPUT, "cat: nowhere.py: No such file or directory\nsome_name = 1"),
    ]
    recent = (StepRecord(20, "", (), told, True), StepRecord(30, "", (), "", True))
    shown = section(made(remembering(spoken, recent=recent)), "work")
    assert [line for line in shown if "nowhere.py" in line] == [f"20> {told}"] and "some_name = 1" in shown


@pytest.mark.parametrize(("form", "marks"), [("{0:4}: value_{0} = {0}  # kept", 0), ("value_{0} = {0}  # kept for later", 3)])
def test_gaps_between_numbered_lines_are_told_by_their_numbers_and_others_by_a_mark(form: str, marks: int):
    [entry] = remembering([(9, PassageVoice.OUTPUT, "\n".join(map(form.format, range(1, 14))))]).trace.entries
    lines = list(render_history_rows([(entry, row) for row in entry.rows[::4]], 0, {}, 16))
    assert lines.count("…") == marks and len(lines) == 4 + marks


def test_a_numbered_line_is_not_shown_beside_the_same_line_without_its_number():
    hits = "\n".join(f"  {number}: first_value_{number} = second_value_{number}" for number in range(1, 40))
    plain = "\n".join(f"first_value_{number} = second_value_{number}" for number in range(1, 40))
    lines = section(made(remembering([(9, PassageVoice.OUTPUT, hits), (10, PassageVoice.OUTPUT, plain)]), 4_000), "work")
    bare = [line.split(": ", 1)[-1].strip() for line in lines if "_value_" in line]
    assert bare and len(bare) == len(set(bare))
