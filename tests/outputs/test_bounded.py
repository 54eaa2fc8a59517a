"""Reading an output takes time proportional to its length, whatever it contains."""

import importlib
import pkgutil
import re
from re import _constants as codes  # pyright: ignore[reportAttributeAccessIssue]
from re import _parser  # pyright: ignore[reportAttributeAccessIssue]

import pytest

import afresh.outputs
from afresh.outputs.read_output import read_output

REPEATS = (codes.MAX_REPEAT, codes.MIN_REPEAT)
PARTED = {r"(?:[A-Z_]+=\S+\s+)*", r"(?:-[cC]\s+\S+\s+|--no-pager\s+)*", r"(?:\d+ [a-z ]+?(?:, )?)+"}
"""Nested repeats that can match in only one way, because blanks or digits separate the rounds."""
READERS = afresh.outputs
NASTY = [
    "a",
    "a.",
    "a/",
    "a.b:1:",
    "1:",
    "a b ",
    " ",
    "= ",
    "_ ",
    "(",
    "at ",
    "E ",
    "FAILED a::b - ",
    "x:(",
    "0x0",
    "ab_",
    "a-1-",
    "panic: x [recovered",
    "  ● ",
    "SUBFAIL a ",
    "PASSED  ",
    "1 passed, ",
    "A.",
    " (",
    "python",
    "/tmp/",
    "# x: command ",
]
BEGUN = [
    "",
    "test ",
    "\tat ",
    "FAILED ",
    "SUBFAILED ",
    "--> ",
    "_ ",
    "= ",
    "thread 'a' panicked at '",
    " FAIL  ",
    "panic: ",
    '  File "',
]


def patterns():
    for module in pkgutil.iter_modules(READERS.__path__, f"{READERS.__name__}."):
        for name, value in vars(importlib.import_module(module.name)).items():
            for one in value if isinstance(value, tuple | dict) else [value]:
                found = one[1] if isinstance(one, tuple) and len(one) == 2 else one
                if isinstance(found, re.Pattern):
                    yield pytest.param(found.pattern, id=f"{module.name}.{name}")


def endless(parsed, inside=False):
    """Whether an unlimited repeat contains another one, so that a text could be divided between them in many ways."""
    for code, value in parsed:
        if code in REPEATS:
            open_ended = value[1] is codes.MAXREPEAT
            if (inside and open_ended) or endless(value[2], inside or open_ended):
                return True
        inner = [value[3]] if code is codes.SUBPATTERN else value[1] if code is codes.BRANCH else []
        if any(endless(one, inside) for one in inner):
            return True
    return False


@pytest.mark.parametrize("pattern", list(patterns()))
def test_no_pattern_can_try_one_text_in_more_and_more_ways(pattern):
    for parted in PARTED:
        pattern = pattern.replace(parted, "")
    assert not endless(_parser.parse(pattern))


def test_the_guard_finds_a_repeat_of_repeats():
    assert (
        endless(_parser.parse(r"^(?:a+)*$"))
        and endless(_parser.parse(r"(\w+\s?)+x"))
        and not endless(_parser.parse(r"a+b+(c{1,9})*"))
    )


@pytest.mark.parametrize("begun", BEGUN)
def test_long_lines_of_the_worst_kind_are_read_to_the_end(begun):
    """Nested repeats would take practically forever on these lines."""
    for nasty in NASTY:
        text = "$ x\nexit 1\n" + "\n".join([f"{begun}{nasty * 1_000}!"[:3_000]] * 3)
        assert read_output("git status; git log; grep -rn x; cat x.log", text).phrase
