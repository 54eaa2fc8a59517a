"""A result for each call of the last step: complete where that fits, and what is hidden is named."""

import re
from dataclasses import replace

from afresh.context.sources.last_step import gather_lines_read, render_results, shorten_actions
from afresh.core.action import Action, Observation
from afresh.core.change import Hunk
from afresh.core.context_item import Note
from afresh.core.context_policy import ContextPolicy
from afresh.core.event import ChangeKeptOrReverted
from afresh.core.line_region import Region
from afresh.core.reducer import apply_event
from afresh.core.state import State
from afresh.core.states.memory_state import MemoryState
from afresh.core.step_record import StepRecord
from afresh.core.task import Task
from afresh.core.tokens import EstimatingCounter
from afresh.memory.gathered_context import GatheredContext
from support.fakes import DictFiles

COUNT = EstimatingCounter()
FILE = "\n".join(f"value_{number} = {number}" for number in range(1, 101))
READ = Observation(
    Action("read", {"path": "a.py"}), True, "a.py: lines 10-20 of 100", "r" * 32, 24, 11, (Region("a.py", 10, 20, 7),)
)
EDIT = Observation(Action("edit", {"path": "a.py"}), True, "a.py: line 3 replaced (now lines 3-5)\n- x\n+ y", "e" * 32, 44)
SEARCH = Observation(Action("search", {"text": "x"}), True, "a.py\n  3: x = 1", "s" * 32, 14)


def after(*seen: Observation, kept: bool = True, files: str = FILE, outputs: tuple[Note, ...] = ()) -> GatheredContext:
    state = State(task=Task(id="t", goal="g"), memory=MemoryState(recent=(StepRecord(7, "", seen, "", kept),)))
    return GatheredContext(state, (*gather_lines_read(state, DictFiles(**{"a.py": files})), *outputs))


def texts(memory: GatheredContext, most: int = 2_000) -> list[str]:
    return [result.text for result in render_results(replace(memory, policy=allowing(most)), COUNT)]


def allowing(most: int) -> ContextPolicy:
    """So many tokens of one output, and of all lines that were read."""
    return ContextPolicy(max_turn_tokens=most, max_read_tokens=most)


def test_a_read_gives_exactly_the_lines_that_were_asked_for():
    [text] = texts(after(READ))
    assert text.splitlines()[0] == "a.py: lines 10-20 of 100"
    assert text.splitlines()[1:] == [f"   {number} value_{number} = {number}" for number in range(10, 21)]


def test_a_read_without_room_says_which_lines_are_hidden():
    [text] = texts(after(READ), 80)
    shown = text.splitlines()
    assert COUNT(text) <= 80 and shown[1].endswith("value_10 = 10")
    last = int(shown[-2].split()[0])
    assert shown[-1] == f"[… not shown: a.py {last + 1}-20; `read` them when needed]"


def test_lines_that_were_read_are_shown_as_a_later_change_of_the_reply_left_them():
    text, edit = texts(after(READ, EDIT))
    assert "lines 10-20 of 100 (as it is after the change below)" in text
    assert edit == "a.py: line 3 replaced (now lines 3-5)", "what it wrote is in the call"


def test_an_output_that_is_older_than_a_change_of_its_reply_says_so():
    assert texts(after(SEARCH, EDIT))[0] == f"(before the change below)\n{SEARCH.text}"
    assert texts(after(EDIT, SEARCH))[1] == SEARCH.text


def test_what_a_later_change_of_the_reply_did_not_touch_is_not_stamped():
    """Of several files only the one that was changed; of a folder whatever lies in it; a command may depend on any file."""
    other = replace(EDIT, action=Action("edit", {"path": "./src/b.py"}))
    within = [
        replace(SEARCH, action=Action("search", {"text": "x", "path": path})) for path in ("a.py", "src", "src/b.py", ".", "*.py")
    ]
    listed = replace(SEARCH, action=Action("read", {"path": "docs"}), text="docs: 2 files")
    run = replace(SEARCH, action=Action("run", {"command": "make"}))
    shown = texts(after(*within, READ, listed, run, other))
    assert ["before the change" in text for text in shown[:8]] == [False, True, True, True, True, False, False, True]
    assert not any("after the change" in text for text in shown)
    both = replace(READ, regions=(*READ.regions, Region("b.py", 1, 2, 7)))
    state = after(both, EDIT).state
    files = DictFiles(**{"a.py": FILE, "b.py": FILE})
    [text, _] = texts(GatheredContext(state, tuple(gather_lines_read(state, files))))
    stamped = [line.startswith("a.py") for line in text.splitlines() if "lines" in line and "after the change" in line]
    assert stamped == [True] and "b.py: lines 1-2 of 100\n" in text


def test_a_change_that_was_reverted_says_so_and_one_that_failed_says_why():
    failed = replace(EDIT, ok=False, text="edit: old occurs 2 times in a.py: at lines 3, 9")
    made, other = render_results(after(EDIT, failed, kept=False), COUNT)
    assert made.ok and made.text.endswith("(now lines 3-5) (reverted with the whole reply)")
    assert not other.ok and other.text == failed.text


def test_small_results_stay_whole_and_the_largest_is_cut_in_the_middle():
    printed = "\n".join(f"printed {number}" for number in range(400))
    run = Observation(Action("run", {"command": "x"}), True, "printed 0\n…", "c" * 32, len(printed))
    memory = after(READ, run, SEARCH, outputs=(Note("output", run.block, printed),))
    read, cut, search = texts(memory, 500)
    assert [read, search] == [texts(after(READ))[0], SEARCH.text]
    lines = cut.splitlines()
    gap = next(place for place, line in enumerate(lines) if line.startswith("[…"))
    assert lines[0] == "printed 0" and lines[-1] == "printed 399" and len(lines) - 1 > gap
    assert lines[gap] == f"[… {401 - len(lines)} lines from line {gap + 1} on left out: `read` @cccccccc]"
    assert COUNT(cut) <= 500 < COUNT(printed)


def test_one_or_two_lines_are_never_hidden_whole_and_none_where_naming_them_costs_as_much():
    names = "\n".join(["notes: 45 files", ", ".join(f"some-note-{number}.yaml" for number in range(45)), "end"])
    listed = Observation(Action("read", {"path": "notes"}), True, names, "c" * 32, len(names))
    [cut] = texts(after(listed), COUNT(names) - 60)
    gone = re.search(r"\n\[… (\d+) of (\d+) characters left out: `read` @cccccccc\]\n", cut)
    assert gone and int(gone[2]) == len(names) and int(gone[1]) + len(cut) - len(gone[0]) == len(names)
    assert cut.startswith("notes: 45 files\nsome-note-0.yaml") and int(gone[1]) < len(names) // 3, "most of it is shown"
    assert texts(after(listed), COUNT(names) - 5) == [names]


def test_lines_that_several_reads_asked_for_share_their_tokens():
    one, other = texts(after(READ, replace(READ, regions=(Region("a.py", 30, 90, 7),))), 300)
    assert one == texts(after(READ))[0] and "`read` them" in other and COUNT(one) + COUNT(other) <= 300


def test_as_many_reads_as_possible_are_whole():
    reads = [replace(READ, regions=(Region("a.py", first, last, 7),)) for first, last in ((1, 40), (41, 70), (71, 100))]
    most = sum(COUNT(text) for text in texts(after(*reads))[1:]) + 60
    shown = texts(after(*reads), most)
    assert ["`read` them" in text for text in shown] == [True, False, False] and sum(map(COUNT, shown)) <= most


def test_lines_that_were_read_are_cut_between_definitions():
    code = "\n".join(f"def part_{number}(value):\n" + "    value += 1\n" * 20 for number in range(4))
    whole = replace(READ, regions=(Region("a.py", 1, 88, 7),))
    [text] = texts(after(whole, files=code), COUNT(texts(after(whole, files=code))[0]) - 80)
    shown = text.splitlines()
    assert shown[-2].strip() == "66" and shown[-1] == "[… not shown: a.py 67-87; `read` them when needed]"


def test_one_line_without_end_is_cut_inside():
    run = Observation(Action("run", {"command": "x"}), True, "word " * 4_000, "c" * 32, 20_000)
    [text] = texts(after(run), 100)
    assert COUNT(text) <= 100 and text.startswith("word word") and "`read` @cccccccc" in text


def test_a_note_is_answered_in_a_line_and_no_step_gives_no_result():
    note = Observation(Action("note", {"subject": "a"}), True, "noted\nmore", "n" * 32, 10)
    assert texts(after(note)) == ["noted"]
    assert render_results(GatheredContext(State(task=Task(id="t", goal="g"))), COUNT) == ()


def test_lines_read_before_a_change_of_the_reply_move_with_it_and_those_read_after_it_stay():
    region, late = Region("a.py", 10, 20, 7), Region("a.py", 40, 50, 7)
    seen = (READ, EDIT, replace(READ, regions=(late,)))
    memory = MemoryState(recent=(StepRecord(7, "", seen, "", True),), regions=(region, late))
    kept = ChangeKeptOrReverted(7, True, "tree", hunks=(Hunk("a.py", 3, 1, 3, 3),))
    moved = apply_event(kept, State(task=Task(id="t", goal="g"), memory=memory)).memory
    assert [one.regions[0].start for one in moved.recent[-1].observations if one.regions] == [12, 40]
    assert [(one.start, one.end) for one in moved.regions if not one.changed] == [(12, 22), (40, 50)]


def test_the_command_is_not_repeated_before_its_output():
    run = Observation(Action("run", {"command": "ls"}), True, "$ ls\nexit 0\na.py", "c" * 32, 18)
    assert texts(after(run)) == ["exit 0\na.py"]
    script = replace(
        run, action=Action("run", {"command": "python - <<X\nprint(1)\nX"}), text="$ python - <<X … and 2 more lines\nexit 0\n1"
    )
    assert texts(after(script)) == ["exit 0\n1"], "however the command is shortened"
    assert texts(after(replace(run, text="$ ls\na.py"))) == ["$ ls\na.py"], "without its end it may be no echo"


def test_a_long_script_that_ran_is_repeated_in_part_and_one_that_failed_or_was_reverted_whole():
    script = "\n".join(f"print({number})" for number in range(60))
    run, edit = Action("run", {"command": script}), Action("edit", {"path": "a.py", "old": script, "new": script})
    done = Observation(run, True, "exit 0", "c" * 32, 6)
    [short] = shorten_actions([run], StepRecord(7, "", (done,), "", True))
    lines = short.args["command"].split("\n")
    assert lines[0] == "print(0)" and lines[-1] == "print(59)" and "[… 48 lines not repeated]" in lines
    assert shorten_actions([run], StepRecord(7, "", (replace(done, ok=False),), "", True)) == (run,)
    assert shorten_actions([run], StepRecord(7, "", (done,), "", False)) == (run,)
    [receipt] = shorten_actions([edit], StepRecord(7, "", (replace(done, action=edit),), "", True))
    ends = ["print(0)", "print(1)", "print(2)", "[… 54 lines not repeated]", "print(57)", "print(58)", "print(59)"]
    assert receipt.args["new"].split("\n") == receipt.args["old"].split("\n") == ends, "its result says which lines they are"
    assert shorten_actions([edit], StepRecord(7, "", (replace(done, action=edit, ok=False),), "", True)) == (edit,)
