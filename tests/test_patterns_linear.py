"""Every compiled pattern of the product takes time in proportion to its text, whatever that is.

The patterns are found by importing all modules. The texts are made of a pattern's own parse tree: repeats of what each of its
repeats can match, after what stands before it. Measured is CPU time of this thread at two lengths: how it grows, not how long it
takes.
"""

import ast
import importlib
import pkgutil
import re
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from re import _constants as codes  # pyright: ignore[reportAttributeAccessIssue]
from re import _parser  # pyright: ignore[reportAttributeAccessIssue]
from typing import Any

import pytest

import afresh

pytestmark = pytest.mark.journey

TINY, SHORT, LONG = 24, 1_000, 4_000
MAX_GROWTH = 9.0
"""For four times the text: linear would be 4, quadratic 16, cubic 64."""
METHODS = ("match", "fullmatch", "search", "finditer", "findall", "sub", "subn", "split")
SAMPLES = "a1_ .-/:\n\t\"'A(,=#*"
REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT, codes.POSSESSIVE_REPEAT)


def list_patterns() -> dict[str, re.Pattern[Any]]:
    """By where they stand; of a table also the number in it."""
    found: dict[str, re.Pattern[Any]] = {}
    for module in pkgutil.walk_packages(afresh.__path__, "afresh."):
        if module.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            for number, pattern in enumerate(find_patterns(value)):
                if pattern not in found.values():
                    found[f"{module.name}.{name}[{number}]"] = pattern
    return found


def find_patterns(value: Any, depth: int = 0) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif depth < 4:
        inner: Any = ()
        if isinstance(value, dict):
            inner = [*value, *value.values()]
        elif isinstance(value, tuple | list | set | frozenset):
            inner = value
        elif is_dataclass(value) and not isinstance(value, type):
            inner = [getattr(value, field.name, None) for field in fields(value)]
        for one in inner:
            yield from find_patterns(one, depth + 1)


@cache
def used_methods() -> dict[str, set[str]]:
    """By the name of a pattern, or by its module if the name is that of a variable, how the source applies it."""
    used: dict[str, set[str]] = defaultdict(set)
    for path in Path(afresh.__path__[0]).rglob("*.py"):
        module = ".".join(["afresh", *path.relative_to(afresh.__path__[0]).with_suffix("").parts])
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Attribute) and node.attr in METHODS:
                name = getattr(node.value, "id", None) or getattr(node.value, "attr", "")
                if name.isupper():
                    used[name].add(node.attr)
                elif name != "re" and node.attr != "split":  # of a text
                    used[module].add(node.attr)
    return used


def example(items: Any) -> str:
    """A text that the tree matches, about."""
    return "".join(example_of(code, value) for code, value in items)


def example_of(code: Any, value: Any) -> str:
    match code:
        case codes.LITERAL:
            return chr(value)
        case codes.IN:
            return next((one for one in SAMPLES if allows(value, one)), chr(value[0][1]) if value[0][0] is codes.LITERAL else "é")
        case codes.BRANCH:
            return example(value[1][0])
        case codes.SUBPATTERN:
            return example(value[3])
        case codes.ATOMIC_GROUP:
            return example(value)
        case codes.ANY | codes.NOT_LITERAL:
            return "a"
        case _:
            return example(value[2]) * max(value[0], min(value[1], 1)) if code in REPEATS else ""


def allows(members: Any, character: str) -> bool:
    """Whether a class of characters has this one."""
    category = {codes.CATEGORY_SPACE: r"\s", codes.CATEGORY_DIGIT: r"\d", codes.CATEGORY_WORD: r"\w"}
    category |= {codes.CATEGORY_NOT_SPACE: r"\S", codes.CATEGORY_NOT_DIGIT: r"\D", codes.CATEGORY_NOT_WORD: r"\W"}
    negated, found = False, False
    for code, value in members:
        negated |= code is codes.NEGATE
        found |= code is codes.LITERAL and chr(value) == character
        found |= code is codes.RANGE and value[0] <= ord(character) <= value[1]
        found |= code is codes.CATEGORY and bool(re.match(category[value], character))
    return found is not negated


def list_repeats(items: Any, before: str = "") -> Iterator[tuple[str, Any]]:
    """Each long repeat, with a text that leads to it."""
    for code, value in items:
        if code in REPEATS:
            if value[1] is codes.MAXREPEAT or value[1] > 50:
                yield before, value[2]
            yield from list_repeats(value[2], before)
        inner = value[1] if code is codes.BRANCH else [value[3]] if code is codes.SUBPATTERN else []
        inner = [value] if code is codes.ATOMIC_GROUP else [value[1]] if code in (codes.ASSERT, codes.ASSERT_NOT) else inner
        for one in inner:
            yield from list_repeats(one, before)
        before += example_of(code, value)


def list_units(body: Any) -> Iterator[str]:
    yield example(body)
    for code, value in body:
        if code is codes.IN:
            yield from (one for one in SAMPLES if allows(value, one))
        elif code is codes.BRANCH:
            yield from map(example, value[1])
        elif code is codes.SUBPATTERN:
            yield from list_units(value[3])


def make_texts(pattern: re.Pattern[Any]) -> list[tuple[str, str]]:
    """What a text begins with, and what is then repeated."""
    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    tree = _parser.parse(source, pattern.flags & ~re.UNICODE)
    whole = example(tree)
    texts = [("", whole), ("", whole[: len(whole) // 2]), ("", "a"), ("", " "), ("", "\n"), ("", "_")]
    for before, body in list_repeats(tree):
        for unit in list_units(body):
            texts += [("", unit), (before, unit), ("", before + unit), (before, unit + "\n")]
    return [text for text in dict.fromkeys(texts) if text[1]]


def list_calls(pattern: re.Pattern[Any], place: str) -> list[Callable[[Any], object]]:
    """How it is applied: by its own name, or in its module if it stands in a table; if neither tells, anywhere in a text."""
    module, _, name = place.partition("[")[0].rpartition(".")
    used = used_methods().get(name) or used_methods().get(module) or {"finditer"}
    calls: list[Callable[[Any], object]] = [
        getattr(pattern, method) for method in ("match", "fullmatch", "search") if method in used
    ]
    return [*calls, lambda text: [*pattern.finditer(text)]] if used - {"match", "fullmatch", "search"} else calls


def measure(call: Callable[[Any], object], text: Any) -> float:
    began = time.thread_time()
    call(text)
    return time.thread_time() - began


@cache
def get_noticeable_seconds() -> float:
    """Of CPU, on this machine; what takes less on the longer text is not worth a look. A linear pattern takes a tenth of it."""
    text = "\n" * LONG
    return min(measure(re.compile(r"^\s*x", re.MULTILINE).search, text) for _ in range(5)) / 2


def find_slow_text(pattern: re.Pattern[Any], place: str) -> str:
    """A text for which the time grows by more than in proportion."""
    for before, unit in make_texts(pattern):
        texts = [f"{before}{(unit * (size // len(unit) + 1))[:size]}\0" for size in (TINY, SHORT, LONG, 2 * LONG)]
        is_bytes = isinstance(pattern.pattern, bytes)
        tiny, short, long, longer = (text.encode("latin-1", "replace") if is_bytes else text for text in texts)
        for call in list_calls(pattern, place):
            if min(measure(call, tiny) for _ in range(2)) > get_noticeable_seconds():  # exponential: the others would never end
                return f"{before!r} + {unit!r} * {TINY // len(unit)}"
            if measure(call, long) < get_noticeable_seconds():
                continue
            taken = min(measure(call, long) for _ in range(3))
            if taken < get_noticeable_seconds() or taken < MAX_GROWTH * min(measure(call, short) for _ in range(5)):
                continue
            if min(measure(call, longer) for _ in range(3)) > 3 * taken:  # seen twice: on a busy machine once is an accident
                return f"{before!r} + {unit!r} * {LONG // len(unit)}: {taken:.3f} s"
    return ""


def test_every_pattern_takes_time_in_proportion_to_its_text() -> None:
    patterns = list_patterns()
    assert len(patterns) > 500
    slow = {place: text for place, pattern in patterns.items() if (text := find_slow_text(pattern, place))}
    assert not slow, "\n".join(f"{place}: {patterns[place].pattern!r}\n    {text}" for place, text in slow.items())


@pytest.mark.parametrize(
    "pattern", [r"[\w./-]*\w\.\w+", r"^\s*x", r"/\*.*?\*/", r"a.*b.*c", r"(\d+) failed", r"(\w+)*!", r"([\w./-]+\.\w+):(\d+)"]
)
def test_a_pattern_that_is_not_linear_is_found(pattern: str) -> None:
    assert find_slow_text(re.compile(pattern, re.MULTILINE | re.DOTALL), "")
