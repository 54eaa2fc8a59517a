"""Writes the golden journals anew: `PYTHONPATH=tests/scenarios .venv/bin/python tests/golden/make_golden.py`.

Whoever changes what a journal holds does this once, and raises `STORE_FORMAT` if the former version would misread it.
"""

import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from person import CALC, COMPLETE, MEND, TEST, Person

from afresh.core.event import EVENT_CLASS_BY_TAG, JournalHead
from afresh.core.hash_chain import link_events

HERE = Path(__file__).parent
FIRST_REPLIES = (
    [
        ("plan", {"items": ["look", "mend", "complete"]}),
        ("read", {"path": "calc.py"}),
        ("read", {"path": "my dir/with blank.py"}),
    ],
    [("search", {"text": "double"}), ("run", {"command": "python3 -m unittest -v; ls"})],
    [("note", {"subject": "calc", "text": "multiply", "why": "the name says so"}), ("note", {"text": "double adds two"})],
    [("edit", {"path": "calc.py", "old": "x + 2", "new": "x + 3"})],
    [("write", {"path": "calc.py", "text": "no such tool"})],
    [("ask", {"question": "May I?", "options": ["yes: go on", "no: stop"]})],
    [
        MEND,
        ("edit", {"path": "empty.txt", "new": ""}),
        ("run", {"command": "printf '\\000' > x.bin; chmod +x test_calc.py"}),
    ],
    [COMPLETE],
)
SECOND_REPLIES = (
    [("complete", {"summary": "nothing"})],
    [("delegate", {"goal": "add a test", "type": "write_tests"})],
    [("edit", {"path": "calc.py", "old": "return", "new": "return "})],
    [("ask", {"question": "Is this nicer?"})],
)


def fill(kind: Any, numbers: Iterator[int], name: str = "") -> Any:
    """A value of this type in which nothing has its default."""
    origin, arguments = get_origin(kind), get_args(kind)
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return kind(**{one.name: fill(hints[one.name], numbers, one.name) for one in fields(kind)})
    if origin is tuple:
        inner = arguments[:1] if arguments[-1] is Ellipsis else arguments
        return tuple(fill(one, numbers, name) for one in inner)
    if origin in (Union, UnionType):
        return fill(next(one for one in arguments if one is not type(None)), numbers, name)
    if isinstance(origin or kind, type) and issubclass(origin or kind, Mapping):
        return {name: fill(arguments[-1] if arguments else str, numbers, name)}
    if isinstance(kind, type) and issubclass(kind, Enum):
        return list(kind)[-1]
    values = {bool: True, int: next(numbers), float: next(numbers) + 0.5, str: f"{name} {next(numbers)} \u00e9\U0001f600\x01"}
    return values.get(kind, name)


def write_every_kind() -> None:
    numbers = count(2)
    events = [fill(kind, numbers) for kind in EVENT_CLASS_BY_TAG.values()]
    entries = link_events("every-kind", JournalHead(0, ""), 1794831244.5, events)
    lines = [json.dumps({"body": entry.body, "hash": entry.hash}) for entry in entries]
    (HERE / "every_kind.jsonl").write_text("".join(line + "\n" for line in lines), "utf-8")


def write_story(folder: Path) -> None:
    """Two tasks: one done, after a change that was reverted and a question; one at work, of which a change was undone."""
    os.environ |= {"XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "config")}
    person = Person(folder, check="python3 -m unittest -v")
    person.repo.mkdir()
    person.git("init", "-q", "-b", "main")
    for path, text in {"calc.py": CALC, "test_calc.py": TEST, "my dir/a b.py": "BLANK = ''\n"}.items():
        person.write(path, text)
    person.commit()
    model = person.script(*FIRST_REPLIES, name="a")
    told = [
        person.types("memory", "add", "always use tabs"),
        person.runs(model),
        person.types("answer", "double-is-wrong", "1"),
        person.types("resume"),
        person.runs(person.script(*SECOND_REPLIES, name="b"), goal="make calc.py nicer"),
        person.types("undo", "make-calc-py-nicer"),
    ]
    shutil.rmtree(HERE / "story")
    told.append(person.types("export", str(HERE / "story")))
    for one in told:
        print(one.code, one.words[:300], file=sys.stderr)


if __name__ == "__main__":
    write_every_kind()
    with TemporaryDirectory(prefix="afresh-golden-") as place:
        write_story(Path(place))
