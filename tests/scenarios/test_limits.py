"""Limits of calls: thousands of changed files, orders that just fit, higher limits, and the same figures on every screen."""

import re
from typing import Any

import pytest
from person import COMPLETE, MEND, SHELL_CHECK, Person, Step

from afresh.app.project import open_project
from afresh.core.event import CallRequested


def audits(person: Person, task: str) -> list[Any]:
    return [one.event.audit for one in open_project(person.repo).store.journal(task) if isinstance(one.event, CallRequested)]


def migrate(person: Person, files: int, commands: int, edits: int) -> None:
    """Renames in so many files by so many commands, further edits, and the result applied: prompts stay as large as they were."""
    paths = [f"src/part_{number // 100:02}/module_{number:04}.py" for number in range(files)]
    for number, path in enumerate(paths):
        person.write(path, f"def old_{number}(value):\n    return value + {number}\n")
    person.commit("many files")
    size = files // commands
    seds: list[Step] = [
        ("run", {"command": f"find src -name '*.py' | sort | sed -n '{one + 1},{one + size}p' | xargs sed -i s/old_/new_/"})
        for one in range(0, files, size)
    ]
    picked = [37 * number % files for number in range(edits)]
    later: list[Step] = [
        ("edit", {"path": paths[one], "old": f"value + {one}\n", "new": f"{one} + value\n"}) for one in dict.fromkeys(picked)
    ]
    looks: list[Step] = [
        ("read", {"path": "@changes", "start": 3, "lines": 2}),
        ("search", {"path": "@changes", "text": paths[-1]}),
    ]
    model = person.script(*[[step] for step in (*seds, *later)], looks, [COMPLETE])
    goal, check = "Rename old_N to new_N everywhere in src", "! grep -rq old_ src"
    told = person.types("run", goal, "--type", "refactor", "--check", check, "--model", model, "--set", "max_steps=200", "--json")
    assert told.code == 0, told.err
    task, sent = told.json["task"], [audit.tokens for audit in audits(person, told.json["task"])]
    assert len(sent) == len(seds) + len(later) + 2, sent
    flat = sent[2 if commands == 1 else 9 :]
    assert max(flat[:-1]) <= 1.1 * min(flat[:-1]), sent
    assert sent[-1] - sent[-2] < 450, "the last prompt has two looks more, 400 tokens of it"
    last = person.types("context", "show", task, "--step", str(len(sent))).out
    assert f"{files:,} files; `read` @changes lists all" in " ".join(last.split()) and "src/part_00/: 100 files" in last
    assert "[@changes: 2 of " in last and f"{paths[-1]} modified +1 −1" in " ".join(last.split())
    assert person.types("context", "verify", task).code == 0
    shown = person.types("show", task).out
    assert len(shown.splitlines()) < 120, "no screen lists them all"
    applied = person.types("apply", task)
    assert applied.code == 0, applied.err
    assert all("def new_" in (person.repo / path).read_text() for path in paths)


@pytest.mark.journey
def test_a_migration_of_hundreds_of_files_has_flat_prompts(person: Person) -> None:
    migrate(person, 700, commands=1, edits=5)


@pytest.mark.torture
def test_a_migration_of_5000_files_in_100_commands_has_flat_prompts(person: Person) -> None:
    migrate(person, 5_000, commands=100, edits=10)


def test_a_goal_that_add_accepts_fits_its_first_prompt(person: Person) -> None:
    limits = ("--set", "budget=4000")

    def accepted(words: int) -> bool:
        told = person.types("add", "mend double. " + "Mind it. " * words, "--check", SHELL_CHECK, *limits, "--json")
        if told.code:
            assert "highest limit, 4,000 tokens a call" in told.err, told.err
        return told.code == 0

    low, high = 10, 2_000
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if accepted(middle) else (low, middle)
    goal = "mend double. " + "Mind it. " * low
    done = person.runs(person.script([MEND], [COMPLETE]), *limits, "--json", goal=goal, check=SHELL_CHECK)
    assert done.json["status"] == "done", done.out
    assert {audit.budget for audit in audits(person, done.json["task"])} == {4_000}, "an ordered limit is never exceeded"


def block(person: Person) -> str:
    """A task whose instructions have grown beyond what its limit allows."""
    person.write(".afresh/AGENT.md", "Mind the gap.\n")
    task = person.adds("double is wrong", "--set", "budget=4000")
    person.write(
        ".afresh/AGENT.md",
        "".join(f"- rule {number}: mind the gap between platform {number} and the train\n" for number in range(70)),
    )
    told = person.types("resume", task, "--model", person.script([MEND], [COMPLETE]))
    assert told.code == 3, told.out + told.err
    return task


@pytest.mark.parametrize("by", ["answer", "edit"])
def test_a_task_that_no_limit_fits_goes_on_with_a_higher_one(person: Person, by: str) -> None:
    task = block(person)
    question = person.shown(task)["question"]
    offered = re.search(r"raise the limit to ([\d,]+) tokens a call", str(person.shown(task)))
    assert offered and "at most 4,000 tokens a call" in question and "try again" not in str(person.shown(task)["options"])
    needed = offered[1].replace(",", "")
    done = person.types("answer", task, "1") if by == "answer" else person.types("edit", task, "--set", f"max_budget={needed}")
    assert done.code == 0, done.err
    told = person.types("resume", task, "--model", person.script([MEND], [COMPLETE]), "--json")
    assert told.code == 0, told.out + told.err
    assert max(audit.budget for audit in audits(person, task)) <= int(needed)
    assert "raise the limit" not in person.types("context", "show", task, "--step", "1").out, "it is no word about the work"


def test_every_screen_has_the_same_figures(person: Person) -> None:
    look: Step = ("read", {"path": "calc.py"})
    model = person.script([look], [("run", {"command": "seq 2000"})], [MEND], [COMPLETE])
    ran = person.runs(model, "--json", check=SHELL_CHECK).json
    task, calls = ran["task"], audits(person, ran["task"])
    sent, largest, last = sum(one.tokens for one in calls), max(calls, key=lambda one: one.tokens), calls[-1]
    limits = f"{last.budget:,} tokens a call now; set to 4,000, at most 16,000"
    assert ran["tokens"]["input"] == ran["tokens"]["sent"] == sent and ran["tokens"]["calls"] == len(calls)
    shown, text = person.shown(task), person.types("show", task).words
    assert (
        shown["usage"]["input"] == shown["cost"]["input"] == sent
        and f"{len(calls)} calls, {sent:,} tokens in" in text
        and limits in text
    )
    assert (shown["limits"]["ordered"], shown["limits"]["now"], shown["limits"]["highest"]) == (4_000, last.budget, 16_000)
    share = f"{100 * largest.tokens / largest.window:.1f} %"
    assert f"{largest.tokens:,} of {largest.budget:,}" in text and f"{share} of the model's window" in text
    first = re.search(r"([\d,]+) tokens are always included", person.types("context", "show", task, "--step", "1").words)
    assert first and int(first[1].replace(",", "")) <= calls[0].tokens, "no more than were sent"
    session = (person.state / "sessions" / "archive" / f"{task}.md").read_text()
    assert limits in session and f"{sent:,} tokens in" in session
    assert f"{largest.tokens:,} of {largest.budget:,} tokens, {share}" in session
    line = next(one for one in person.types("spend", "--by", "task", "--json").json["lines"] if one["name"] == task)
    cache = person.types("context", "cost", task, "--json").json
    paid = ran["tokens"]["sent_paid"]
    assert line["input"] == sent and f"{sent:,} tokens sent" in text
    assert line["paid"] == paid and f"{paid:,} paid" in text, (line, text)
    assert (sum(one["sent"] for one in cache), sum(one["paid"] for one in cache)) == (sent, paid)
    week = person.types("spend", "--week", "--json").json["now"]
    assert (week["sent"], week["calls"], week["tokens_per_call"]) == (sent, len(calls), round(sent / len(calls)))
    assert week["largest_window_share"] == largest.tokens / largest.window
