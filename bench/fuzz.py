"""Feeds damaged text to every parser that reads what others wrote, and counts what it does besides answering or refusing.

Run: python bench/reliability.py --only parsers. Inputs are made from samples by a seeded mutator: pieces are cut,
doubled, swapped and replaced by hostile ones (control characters, deep nesting, huge numbers, broken encodings). A parser may
answer, or raise the error that it documents; anything else is a fault, and so is an input that takes longer than ten seconds.
The twin is a parser that has a fault on purpose: the run must find it.
"""

import json
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from afresh.app.orders.read_issue import parse_issue
from afresh.config.heartbeat_file import parse_heartbeat_plan
from afresh.config.task_lists.checklist import parse_checklist
from afresh.config.task_lists.task_file import parse_task_file
from afresh.config.yaml_reader import InvalidValue, split_front_matter
from afresh.core.event import JournalHead, TaskCreated
from afresh.core.hash_chain import link_events
from afresh.core.lesson import LessonStatus
from afresh.core.redaction import redact_secrets
from afresh.core.task import Task
from afresh.core.text import escape_hidden, replace_lone_surrogates, to_visible_json
from afresh.errors import AfreshError, BadInput, Damaged
from afresh.models.providers.text_tool_calls import reply_from_text
from afresh.outputs.read_output import read_output
from afresh.replay.json_entries import JsonEntry
from afresh.replay.read_runs import RUN_FORMATS
from afresh.storage.export.copy_files import find_chain, parse_order, read_texts
from afresh.storage.export.manifest import JournalExtent
from afresh.storage.export.read_export import parse_entries
from afresh.storage.export.write_export import render_entry_line
from afresh.storage.lessons.lesson_file import parse_lesson
from afresh.verification.manifest_settings import has_changed_settings
from afresh.verification.runner_reports import READERS, read_printed_tests, read_runner_reports
from faults.count import Count, Row, Twin

FULL, SHORT, TWIN_INPUTS = 1_000_000, 20_000, 9_000
HOSTILE = (
    "\x00", "\x1b[2J", "\x9b", "\u202e", "\U000e0041", "\ud800", "\ufeff", "\r\n", "\u2028", "---\n", "```", "[" * 300, "{" * 300,
    "[" * 3_000, "9" * 5_000,
    '{"a":' * 60, "1e999999", "-" * 200, "9" * 400, "NaN", "null", "&a [*a,*a]", "!!python/object:x y", "\\u0000", "'" * 40,
    "FAILED ", "=== ", "Traceback (most recent call last):\n", 'File "x", line 99999999999', "::", "%s%n", "../" * 40, "\t" * 80,
)  # fmt: skip
FRONT_MATTER = '---\nid: KO-1\ntitle: "A title"\nkind: pattern\ntags: [a, b]\nuses: 3\n---\n# A title\n\nWhen x, do y.\n'
REPLY = json.dumps({"thought": "look", "actions": [{"tool": "edit", "args": {"path": "a.py", "old": "x", "new": "y"}}]})
PYTEST = (
    "$ pytest -q\nexit 1\n=== FAILURES ===\n___ test_five ___\n\n    def test_five():\n>       assert double(5) == 10\n"
    "E       assert 7 == 10\n\n"
    "test_a.py:4: AssertionError\n=== short test summary info ===\nFAILED test_a.py::test_five - assert 7 == 10\n"
    "1 failed, 2 passed in 0.1s\n"
)
OTHERS = (
    "Traceback (most recent call last):\n  File \"a.py\", line 3, in <module>\n    f()\nValueError: no\n",
    "src/a.ts(3,5): error TS2322: Type 'x' is not assignable\n", "error[E0382]: borrow of moved value\n --> src/a.rs:3:5\n",
    "--- FAIL: TestX (0.00s)\n    a_test.go:9: got 1\nFAIL\n", "a.py:3:1: E501 line too long\nFound 1 error.\n",
    "On branch main\nChanges not staged for commit:\n\tmodified:   a.py\n", " FAIL  a.test.js\n  ● adds › two\n    Expected: 4\n",
)  # fmt: skip
RUNS = tuple(
    json.dumps(run)
    for run in (
        {
            "instance_id": "a-1",
            "trajectory": [{"action": "ls", "observation": "a.py", "thought": "look", "response": "ls"}],
            "info": {},
        },
        {"task": "fix it", "steps": [{"thought": "look", "action": "ls", "observation": "a.py", "tool": "run"}], "id": "a-1"},
        {
            "type": "assistant",
            "sessionId": "s",
            "message": {"content": [{"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "ls"}}]},
        },
        {
            "type": "user",
            "sessionId": "s",
            "message": {"content": [{"type": "tool_result", "tool_use_id": "t", "content": "a.py"}]},
        },
        {
            "type": "response_item",
            "payload": {"type": "function_call", "name": "shell", "call_id": "c", "arguments": '{"command": ["ls"]}'},
        },
        {"messages": [{"role": "user", "content": "fix"}, {"role": "assistant", "content": "```bash\nls\n```"}], "info": {}},
        {
            "id": 1,
            "source": "agent",
            "action": "run",
            "args": {"command": "ls"},
            "message": "look",
            "timestamp": "2026-01-01T00:00:00",
        },
    )
)
CONFIGURATION = '[tool.pytest.ini_options]\naddopts = "-q"\ntestpaths = ["tests"]\n[tool.ruff]\nline-length = 100\n'
PACKAGE = json.dumps({"name": "a", "scripts": {"test": "jest"}, "jest": {"bail": 1}, "mocha": ["x"]})
CARGO = '[package]\nname = "a"\nautotests = false\n[lib]\ntest = true\n[profile.test]\nopt-level = 1\n[[test]]\nname = "t"\n'
GO_EVENTS = '{"Action":"run","Package":"p","Test":"T"}\n{"Action":"fail","Package":"p","Test":"T","Elapsed":0.1}\n'
JEST = json.dumps(
    {
        "testResults": [
            {
                "name": "a.js",
                "status": "failed",
                "message": "m",
                "assertionResults": [
                    {"status": "failed", "title": "t", "fullName": "a t", "ancestorTitles": ["a"], "failureMessages": ["no"]}
                ],
            }
        ]
    }
)
TAP = "TAP version 13\nok 1 - adds\nnot ok 2 - keeps\n  ---\n  message: no\n  ...\n1..2\n"
ISSUE = json.dumps({"number": 7, "title": "Tabs are refused", "body": "since 2.0", "url": "https://example.org/issues/7"})
ISSUE_TEXT = "title:\tTabs are refused\nnumber:\t7\nurl:\thttps://example.org/issues/7\n--\nsince 2.0\n"
TASK_FILE = json.dumps(
    {
        "tasks": [
            {"goal": "a", "name": "one", "priority": 3, "labels": ["x"], "due": "3d", "needs": []},
            {"goal": "b", "needs": ["one"]},
        ]
    }
)
CHECKLIST = "- [ ] make it\n  as it was\n  - [ ] test it\n    ```\n    - [ ] no item\n    ```\n- [x] done\n1. [ ] last\n"
HEARTBEAT = "---\nevery: 30m\nactive: 08:00-20:00\nlimit: 900\n---\n- [ ] tests pass: `pytest -q`\n- new commits\n"
JOURNAL = "".join(map(render_entry_line, link_events("one", JournalHead(), 1.0, [TaskCreated(Task(id="one", goal="g"))])))
BLOCKS = '{"id":"' + "0" * 32 + '","text":null}\n{"id":"x","text":"y"}\n'


MAX_CHARACTERS = 8_000
SLOW_SECONDS = 10.0


def mutate(sample: str, chance: random.Random) -> str:
    """The sample with one to eight changes."""
    text = sample
    for _ in range(chance.randint(1, 8)):
        start = chance.randint(0, len(text))
        end = min(len(text), start + chance.choice((0, 1, 1, 2, 8, 40)))
        piece = chance.choice(
            (chance.choice(HOSTILE), text[end : end + 20] * 2, chr(chance.randint(0, 0x2FF)), "", text[start:end][::-1])
        )
        text = (text[:start] + piece + text[end:])[:MAX_CHARACTERS]
    return text


@dataclass(frozen=True, slots=True)
class Parser:
    read: Callable[[str], object]
    samples: tuple[str, ...]
    refuses: tuple[type[Exception], ...] = ()
    """Errors that it documents."""
    make: Callable[[str, random.Random], str] = mutate


def read_recorded_run(text: str) -> object:
    """By every importer that knows it, as `afresh replay` does."""
    try:
        entry = JsonEntry("line 1", json.loads(text))
    except (ValueError, RecursionError):
        return None
    return [list(form.read([entry, entry], "run.json")) for form in RUN_FORMATS if form.knows(entry.value)]


def damage_json(sample: str, chance: random.Random) -> str:
    """Valid JSON with up to four values replaced by others of any kind: damaged text would seldom be JSON at all."""
    plain = json.loads(sample)
    for _ in range(chance.randint(1, 4)):
        place, key = _choose_place(plain, chance)
        if place is not None:
            others = (
                None,
                True,
                -1,
                1e308,
                "",
                chance.choice(HOSTILE),
                [],
                {},
                [[]],
                {"type": "x"},
                [place],
                {"content": [1, None]},
            )
            place[key] = json.loads(json.dumps(chance.choice(others)))
    return json.dumps(plain)


def _choose_place(plain: Any, chance: random.Random) -> tuple[Any, Any]:
    place, key = None, None
    while isinstance(plain, dict | list) and plain and (place is None or chance.random() < 0.7):
        place, key = plain, chance.choice(list(plain) if isinstance(plain, dict) else range(len(plain)))
        plain = place[key]
    return place, key


def damage_either(sample: str, chance: random.Random) -> str:
    """Damaged values for half of the inputs, damaged text for the others."""
    return damage_json(sample, chance) if sample[0] == "{" and chance.random() < 0.5 else mutate(sample, chance)


def read_journal_copy(text: str) -> object:
    data = text.encode("utf-8", "surrogatepass")
    head, length = find_chain(data)
    path = Path("journals/one.jsonl")
    return list(parse_entries(data[:length], path, "one", JournalExtent(head.seq, head.hash))), parse_order(data)


def parse_own_fault(text: str) -> object:
    """The twin: it trips over what it should refuse."""
    return text.index("t") if "\x00" in text else None


PARSERS = {
    "front matter": Parser(split_front_matter, (FRONT_MATTER,), (InvalidValue,)),
    "lesson": Parser(
        lambda text: parse_lesson(text.encode("utf-8", "surrogatepass"), "KO-1-a.md", LessonStatus.DRAFT), (FRONT_MATTER,)
    ),
    "actions": Parser(reply_from_text, (REPLY, f"I look first.\n```json\n{REPLY}\n```\n")),
    "tool output": Parser(lambda text: read_output("pytest -q", text), (PYTEST, *OTHERS)),
    "recorded run": Parser(read_recorded_run, RUNS, (AfreshError,), make=damage_json),
    "configuration": Parser(lambda text: has_changed_settings("pyproject.toml", text, None, ()), (CONFIGURATION,)),
    "package.json": Parser(lambda text: has_changed_settings("package.json", text, None, ()), (PACKAGE,), make=damage_either),
    "Cargo.toml": Parser(lambda text: has_changed_settings("Cargo.toml", text, None, ()), (CARGO,)),
    "printed tests": Parser(read_printed_tests, (GO_EVENTS, *OTHERS)),
    "reports": Parser(lambda text: read_runner_reports(dict.fromkeys(READERS, text)), (JEST, TAP), make=damage_either),
    "issue": Parser(lambda text: parse_issue(text, "-"), (ISSUE, ISSUE_TEXT), (BadInput,), damage_either),
    "task file": Parser(lambda text: parse_task_file(text, "-", 1e9, own=True), (TASK_FILE,), (BadInput,), damage_either),
    "checklist": Parser(lambda text: parse_checklist(replace_lone_surrogates(text), "-"), (CHECKLIST,), (BadInput,)),
    "heartbeat": Parser(lambda text: parse_heartbeat_plan(replace_lone_surrogates(text)), (HEARTBEAT,), (BadInput,)),
    "journal copy": Parser(read_journal_copy, (JOURNAL,), (Damaged,)),
    "archive copy": Parser(lambda text: read_texts(text.encode("utf-8", "surrogatepass")), (BLOCKS,)),
    "secrets": Parser(redact_secrets, (PYTEST + "key=ghp_" + "a" * 36,)),
    "shown text": Parser(lambda text: (escape_hidden(text), to_visible_json(text)), (PYTEST,)),
}


def try_parser(name: str, parser: Parser, inputs: int, chance: random.Random) -> list[str]:
    """Feed it so many inputs; what went wrong."""
    faults: list[str] = []
    for _ in range(inputs):
        text, began = parser.make(chance.choice(parser.samples), chance), time.monotonic()
        try:
            parser.read(text)
        except parser.refuses:
            pass
        except Exception as fault:
            faults.append(f"{name}: {type(fault).__name__}: {fault} for {text[:200]!r}")
        if time.monotonic() - began > SLOW_SECONDS:
            faults.append(f"{name}: {time.monotonic() - began:.1f} s for {text[:200]!r}")
    return faults


def fuzz_parsers(inputs: int, seed: int, twin: bool = False) -> tuple[dict[str, int], list[str]]:
    """Inputs by parser, and what went wrong."""
    chosen = PARSERS | ({"twin": Parser(parse_own_fault, ("x",))} if twin else {})
    share, counts, faults = -(-inputs // len(chosen)), dict[str, int](), list[str]()
    for name, parser in chosen.items():
        faults += try_parser(name, parser, share, random.Random(f"{seed} {name}"))
        counts[name] = share
    return counts, faults


def measure(count: Count) -> list[Row]:
    """What bench/reliability.py counts as `parsers`."""
    counts, faults = fuzz_parsers(count.tries("parsers", FULL, SHORT), count.seed)
    for fault in faults:
        count.note("parsers", lost=fault)
    found = fuzz_parsers(TWIN_INPUTS, count.seed, twin=True)[1]
    caught = sum(fault.startswith("twin:") for fault in found)
    twins = (Twin("a parser that trips over NUL", TWIN_INPUTS // (len(counts) + 1), caught),)
    return [Row("damaged text for parsers", sum(counts.values()), len(faults), twins, by_kind=counts)]
