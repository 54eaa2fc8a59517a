"""The bench on recorded runs: what is counted as needed, and how sessions are made of runs."""

import sys
from pathlib import Path

from afresh.memory.summarise import MAX_SUMMARY_TOKENS

sys.path.append(str(Path(__file__).parents[2] / "bench"))

from recorded import LENGTHS, make_sessions, measure_compactions, window
from recorded_runs import DEFAULT_CACHE_RATES, FIXED_TOKENS, chains, count, last, tallies


def step(action: str, seen: str = "", tool: str = "bash", thought: str = ""):
    return {"thought": thought, "action": {"tool": tool, "text": action}, "observation": seen}


def run(name: str, *steps, task: str = "mend it", **more):
    return {"id": name, "task": task, "steps": list(steps), **more}


def tally(recorded, contexts, ceiling: int = 1_000):
    return last(tallies(recorded, contexts, ceiling))


def test_only_what_an_earlier_step_had_and_the_task_had_not_is_needed():
    recorded = run("a/1", step("ls", "src/one.py src/two.py"), step("cat src/one.py src/two.py"), task="look at src/two.py")
    held, missed = tally(recorded, ["", "src/one.py"]), tally(recorded, ["", ""])
    assert (held.names, held.names_held, missed.names_held) == (1, 1, 0)


def test_a_whole_line_is_needed_as_a_line():
    line = "return total * rate + extra"
    scored = tally(run("a/1", step("cat", line), step(f"write\n  {line}\n")), ["", f"# {line}"])
    assert (scored.lines, scored.lines_held) == (1, 1)


def test_talk_and_the_first_step_are_not_scored_but_their_tokens_count():
    scored = tally(run("a/1", step("cat src/one.py", "src/one.py"), step("see src/one.py", tool="message_user")), ["x" * 40] * 2)
    assert (scored.names, scored.lines, scored.steps, scored.tokens) == (0, 0, 2, 20)


def test_a_context_over_the_ceiling_holds_nothing():
    recorded = run("a/1", step("ls", "src/one.py"), step("cat src/one.py"))
    scored = tally(recorded, ["", "src/one.py" * 10], ceiling=10)
    assert (scored.over, scored.names, scored.names_held, scored.peak) == (1, 1, 0, 25)


def test_what_begins_as_the_call_before_is_paid_less():
    steps = step("one"), step("two")
    alike, other = (tally(run("a/1", *steps), ["a" * 40_000, text], 99_999).paid for text in ("a" * 40_000, "b" * 40_000))
    price = DEFAULT_CACHE_RATES.count_paid_tokens(DEFAULT_CACHE_RATES.estimate_usage(FIXED_TOKENS + 10_000, 0))
    assert alike < 1.2 * price < 1.8 * price < other <= 2 * price


def test_runs_of_one_project_are_joined_in_the_order_of_their_recording():
    late = run("log/a", step("late"), meta={"file": "2026-02-01_10-00-00Z-late.md"})
    early = run("log/b", step("early"), meta={"file": "2026-01-01_10-00-00Z-early.md"})
    (chain,) = chains([late, early], 2)
    assert chain["joined"] == ["log/b", "log/a"]
    assert [one["action"]["text"] for one in chain["steps"]] == ["early", ""]
    assert chain["steps"][1]["observation"] == "mend it"


def test_a_length_that_few_runs_reach_is_filled_with_joined_sessions():
    runs = [run(f"log/{number}", *[step("ls")] * 24) for number in range(12)]
    found = make_sessions(runs)
    assert {length: [len(one["steps"]) for one in some] for length, some in found.items()} == {
        20: [20] * 12,
        100: [100] * 2,
        500: [],
    }
    assert set(found) == set(LENGTHS)


def test_the_window_keeps_to_the_budget():
    recorded = run("a/1", *[step("x" * 90, "y" * 700)] * 30, task="z" * 900)
    assert max(count(context) for context in window(recorded, 300, count)) <= 300


def test_a_session_with_many_compactions_loses_nothing_that_must_stay_and_says_how_many_there_were():
    steps = [step(f"cat src/part_{n}.py", f"value_{n} = {n}\n" * 900, thought="Let me go on.") for n in range(90)]
    figures = measure_compactions({**run("a/1", *steps), "joined": ["a/1"]}, 1_000, compacting=True)
    assert figures["compactions"] >= 6 and figures["lost"] == figures["over"] == 0
    assert 0 < figures["largest_summary"] <= MAX_SUMMARY_TOKENS and figures["put_away"] > 100
    assert measure_compactions({**run("a/1", *steps[:9]), "joined": ["a/1"]}, 1_000, compacting=True)["compactions"] == 0
