"""Random small programs with every kind of statement that an extraction must handle, and a trace of what they do."""

import re
import warnings
from dataclasses import dataclass, field
from random import Random
from types import CodeType
from typing import Any

from hypothesis import strategies as st

NAMES = ("a", "b", "c", "d")
INPUTS = (
    (0, 1, (1, 2)), (3, -1, ()), (1, 0, (0, 3, 2)), (-2, 5, (4,)), (2, 2, (2, 2)), (0, 0, ()), (5, 3, (1, 0, 1, 0)),
    (1, 2, (-1, 4)), (4, 1, (3,)), (-1, -1, (0, 0, 5)),
)  # fmt: skip
PRELUDE = """\
import sys
from contextlib import suppress
from warnings import warn

def blame(text):
    warn(text, UserWarning, stacklevel=3)
def caller():
    return sys._getframe(2).f_code.co_name
"""
CALLER = "def call(f, *inputs): return f(*inputs)"
RECURSION_DEPTH = 40


class Exhausted(Exception):
    pass


@dataclass
class Machine:
    """What the programs may call: `note` records, `tick` ends a loop that runs too long."""

    trace: list[str] = field(default_factory=list)
    ticks: int = 0

    def note(self, *values: Any) -> int:
        shown = [value() if callable(value) else value for value in values]
        self.trace.append(repr(shown))
        return len(self.trace)

    def tick(self) -> None:
        self.ticks += 1
        if self.ticks > 25:
            raise Exhausted


def behaviours(text: str, sends: bool = False) -> list[tuple[str, list[str]]]:
    """Return the result of the program's `f` for each input, with its trace. With `sends`, generators get sent values and an
    exception.
    """
    code = compile(text, "program", "exec")
    return [_behaviour(code, inputs, sends) for inputs in INPUTS]


def _behaviour(code: CodeType, inputs: tuple[Any, ...], sends: bool) -> tuple[str, list[str]]:
    machine = Machine()
    scope: dict[str, Any] = {"__name__": "program", "note": machine.note, "tick": machine.tick}
    outside: dict[str, Any] = {"__name__": "caller"}
    exec(compile(CALLER, "caller", "exec"), outside)
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        result = _result(code, scope, outside["call"], inputs, sends)
    blamed = [f"{one.message} in {one.filename}" for one in seen if one.category is UserWarning]
    return result, [*machine.trace, *blamed]


def _result(code: CodeType, scope: dict[str, Any], call: Any, inputs: tuple[Any, ...], sends: bool) -> str:
    try:
        exec(code, scope)
        inputs = (*inputs[:2], iter(inputs[2])) if "f_reads_a_stream" in scope else inputs
        result = call(scope["f"], *inputs)
        if hasattr(result, "__next__"):
            result = sent(result) if sends else list(result)
        if callable(result):
            result = result()
        return repr([result, list(inputs[2])])
    except Exception as error:
        return type(error).__name__


def sent(generator: Any) -> list[Any]:
    """Return all that a generator yields when values are sent to it and one exception is thrown into it."""
    found = []
    try:
        found.append(next(generator))
        while len(found) < 40:
            found.append(generator.throw(ValueError) if len(found) == 5 else generator.send(len(found)))
    except StopIteration as end:
        found.append(end.value)
    finally:
        generator.close()  # or the garbage collector ends it in the middle of another program, whose warnings are recorded
    return found


class Writer:
    """Writes random statements. All choices come from `random`, so that hypothesis can shrink a failing program."""

    def __init__(self, random: Random) -> None:
        self.pick, self.number = random.choice, random.randint

    def atom(self) -> str:
        return self.pick((*NAMES, *NAMES, "0", "1", "2"))

    def expression(self) -> str:
        """Return an expression without products: a number that is squared in a loop would take forever."""
        kind, one, two = self.number(0, 8), self.atom(), self.atom()
        name = self.pick(NAMES)
        special = {0: f"(({name} := {one}) or 2)", 1: f"sum([{one} + i for i in xs])", 2: f"note({one})", 3: f"{one} // {two}"}
        return special.get(kind, one if kind < 6 else f"{one} {self.pick('+-&')} {two}")

    def test(self) -> str:
        kind, name = self.number(0, 6), self.pick(NAMES)
        special = {0: f"not {name}", 1: f"{name} and ({self.pick(NAMES)} := {self.atom()})", 2: self.expression()}
        return special.get(kind, f"{self.atom()} {self.pick(('<', '==', '>='))} {self.atom()}")

    def simple(self, in_loop: bool) -> str:
        one, two, value = self.pick(NAMES), self.pick(NAMES), self.expression()
        lines = [f"{one} = {value}"] * 8 + [f"note({one})"] * 6 + [f"{one} += {value}", f"{one}, {two} = {value}, 1"]
        lines += [f"note(lambda: {one})", f"keep.append(lambda: {one})", "note(*keep)", f"note(list({one} for i in xs))"]
        lines += [f"return {value}", "return True", "return", "raise ValueError", f"{one}: int = {value}"]
        lines += [f"del {one}"] * (self.number(0, 5) == 0)
        lines += [self.pick(FRAMES).format(one)] * (self.number(0, 3) == 0)
        return self.pick(lines + ["continue", "continue", "break"] * in_loop)

    def block(self, depth: int, in_loop: bool) -> list[str]:
        return [line for _ in range(self.number(1, 4)) for line in self.statement(depth, in_loop)]

    def statement(self, depth: int, in_loop: bool) -> list[str]:
        kinds = (self.branch, self.branch, self.branch, self.loop, self.loop, self.trial, self.choice, self.closure, self.flag)
        if depth == 0 or self.number(0, 2) == 0:
            return [self.simple(in_loop)]
        return self.pick(kinds)(depth - 1, in_loop)

    def branch(self, depth: int, in_loop: bool) -> list[str]:
        lines = [f"if {self.test()}:", *self.body(depth, in_loop)]
        if self.number(0, 3) == 0:
            lines += [f"elif {self.test()}:", *self.body(depth, in_loop)]
        if self.number(0, 2) == 0:
            lines += ["else:", *self.body(depth, in_loop)]
        return lines

    def loop(self, depth: int, in_loop: bool) -> list[str]:
        heads = [f"for {self.pick(NAMES)} in xs:", f"for {self.pick(NAMES)} in xs:", f"while {self.test()}:"]
        heads += ["while True:"] * (self.number(0, 3) == 0)
        lines = [self.pick(heads), "    tick()", *self.body(depth, True)]
        return lines + (["else:", *self.body(depth, in_loop)] if self.number(0, 5) == 0 else [])

    def trial(self, depth: int, in_loop: bool) -> list[str]:
        if self.number(0, 4) == 0:
            return ["with suppress(ValueError, NameError):", *self.body(depth, in_loop)]
        lines = ["try:", *self.body(depth, in_loop)]
        name = self.pick(("e", "e", *NAMES))
        lines += [f"except (ValueError, NameError) as {name}:", f"    note(type({name}))", *self.body(depth, in_loop)]
        lines += ["else:", *self.body(depth, in_loop)] if self.number(0, 4) == 0 else []
        return lines + (["finally:", *self.body(depth, False)] if self.number(0, 4) == 0 else [])

    def choice(self, depth: int, in_loop: bool) -> list[str]:
        first, last = indented(self.body(depth, in_loop)), indented(self.body(depth, in_loop))
        pattern = self.pick(("_", "x", self.pick(NAMES), "2"))
        return [f"match {self.atom()}:", "    case 1:", *first, f"    case {pattern}:", *last]

    def flag(self, depth: int, in_loop: bool) -> list[str]:
        one, two = self.pick(NAMES), self.pick(NAMES)
        test = self.pick((f"{two} > 1", f"note({two}) > 2", f"{two} == next(shared, 0)", f"not {two}"))
        ends = ["        break"] if self.number(0, 1) else []
        over = self.pick(("xs", "shared", f"[{one}, 1, 2]"))
        return [f"{one} = False", f"for {two} in {over}:", f"    if {test}:", f"        {one} = True", *ends, f"note({one})"]

    def closure(self, depth: int, in_loop: bool) -> list[str]:
        one, two = self.pick(NAMES), self.pick(NAMES)
        if self.number(0, 9) == 0:
            return ["def change():", f"    nonlocal {one}", f"    {one} = 7", "    return 7", "keep.append(change)"]
        return [f"def inner({one}=1):", f"    return {one}, {two}", self.pick(("keep.append(inner)", "note(inner)"))]

    def body(self, depth: int, in_loop: bool) -> list[str]:
        comment = ["    # the heart of it"] if self.number(0, 5) == 0 else []
        return comment + indented(self.block(depth, in_loop))


FRAMES = (
    "blame('{0}')", "warn('{0}', UserWarning, 2)", "note(caller())", "note(sys._getframe().f_code.co_name[:1])", "f_again({0})",
    "note(sorted(locals()))",
)  # fmt: skip
"""Statements whose effect depends on how many frames are above them."""


def indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def program(lines: list[str], style: str) -> str:
    text = _program(lines, style)
    # tick: endless recursion would end at the interpreter's limit, which one frame more reaches earlier
    again = "def f_again(a):\n    tick()\n    return f(a - 1, 0, ()) if isinstance(a, int) and 0 < a < 5 else 0\n"
    stream = "f_reads_a_stream = True\n" if style == "stream" else ""
    return text + (again if "f_again" in text else "") + stream


def _program(lines: list[str], style: str) -> str:
    lines = ["shared = iter([2, 0, 3, 1])", *lines]
    if style == "packed":
        host = ["class K:", "    def g(*args, **kw):", "        self, a, b, xs = args", "        keep = []"]
        rest = ["def f(a, b, xs):", "    return K().g(a, b, xs)"]
        return PRELUDE + "\n".join([*host, *indented(indented(lines)), *rest]) + "\n"
    if style == "class body":
        host = ["class K:", "    def g(a, b, xs):", "        keep = []"]
        rest = ["    try:", "        MADE = g(3, 1, (1, 2))", "    except Exception as error:", "        MADE = type(error)"]
        return (
            PRELUDE + "\n".join([*host, *indented(indented(lines)), *rest, "def f(a, b, xs):", "    return K.g(a, b, xs)"]) + "\n"
        )
    if style == "method":
        host = ["class K:", "    def g(self, a, b, xs):", "        keep = []"]
        self_lines = [line.replace("note(", "self.out(", 1) for line in lines]
        rest = ["    def out(self, *values):", "        return note(*values)", "def f(a, b, xs):", "    return K().g(a, b, xs)"]
        return PRELUDE + "\n".join([*host, *indented(indented(self_lines)), *rest]) + "\n"
    if style == "nested":
        host = ["def f(a, b, xs):", "    keep = []", "    c = 4", "    def g(d):"]
        return PRELUDE + "\n".join([*host, *indented(indented(lines)), "    return g(b)"]) + "\n"
    extra = ["yield a"] if style == "generator" else []
    if style == "generator":
        lines = [re.sub(r"^(\s*)note\((\w)\)$", r"\1note((yield \2))", line) for line in lines]
    return PRELUDE + "\n".join(["def f(a, b, xs):", "    keep = []", *indented([*extra, *lines])]) + "\n"


STYLES = ("plain", "plain", "plain", "method", "nested", "generator", "packed", "class body", "stream")


def random_program(random: Random) -> str:
    bound = [f"{name} = {number}" for number, name in enumerate(NAMES) if name not in "ab" and random.randint(0, 3)]
    return program([*bound, *Writer(random).block(3, False)], random.choice(STYLES))


programs = st.builds(random_program, st.randoms(use_true_random=False))
