"""Small programs that a change once broke. Each runs before and after every change that would be made to it, good or not."""

import warnings
from textwrap import dedent, indent

import pytest
from cuts import list_cuts

from afresh.code.python_source import parse_python

WORDS = ("one", "two", "three", "four", "five", "six")
REST = "\n".join(f"if options.get('{word}'):\n    options['{word}'] += 1" for word in WORDS)


def fill(text: str) -> str:
    """Return the program with decisions in place of `REST`, so that each function is over the limit."""
    lines: list[str] = []
    for line in dedent(text).lstrip("\n").splitlines():
        lines += [line] if line.strip() != "REST" else indent(REST, line[: -len("REST")]).splitlines()
    return "\n".join(lines) + "\n"


def observe(text: str) -> object:
    """Return what the program's `observe` returns; an error counts as a result."""
    scope: dict[str, object] = {"__name__": "program"}
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            exec(compile(text, "program.py", "exec"), scope)
            result: object = scope["observe"]()  # type: ignore[operator]
        except Exception as error:
            result = type(error).__name__
    return result, [(str(one.message), one.filename) for one in seen]


def check(text: str) -> int:
    text = fill(text)
    source = parse_python("program.py", text)
    assert source is not None
    expected, changes = observe(text), [cut for function in source.functions for cut in list_cuts(source, function)]
    for head, changed in changes:
        assert observe(changed) == expected, f"{head}\n{changed}"
    return len(changes)


VARIABLE_ARGUMENTS_IN_A_CLASS = """
    class Store:
        def update(*args, **options):
            self, values = args[0], args[1:]
            # Store the values
            for value in values:
                if value:
                    if len(args) > 1:
                        self.kept = [*getattr(self, "kept", []), value]
            REST
            return options
    def observe():
        store = Store()
        return store.update(1, 0, 2, one=1), store.kept
"""
CALLED_IN_ITS_CLASS_BODY = """
    class Colour:
        def _make(names, options={"one": 1}):
            table = {}
            # Add the names
            for name in names:
                if name:
                    if len(names) > 1:
                        table[name] = len(names)
            REST
            return table
        COLOURS = _make(["red", "", "blue"])
    def observe():
        return Colour.COLOURS
"""
HIDES_A_METHOD_OF_A_BASE = """
    from configparser import ConfigParser
    class Settings(ConfigParser):
        def load(self, options, rows):
            # Read defaults
            for row in rows:
                if row:
                    if len(rows) > 1:
                        self.rows = [row]
            REST
            return options
    def observe():
        return dict(Settings({"rate": "5", "empty": ""}).defaults())
"""
POSITIONAL_STACKLEVEL = """
    import warnings
    def load(options, rows):
        if rows:
            if len(rows) > 1:
                warnings.warn("old", DeprecationWarning, 2)
        REST
        return options
    exec(compile("def call_load(): return load({'one': 1}, [1, 2])", "caller.py", "exec"))
    def observe():
        return call_load()
"""
HELPER_WITH_STACKLEVEL = """
    import warnings
    def warn_old(text):
        warnings.warn(text, DeprecationWarning, stacklevel=3)
    def load(options, rows):
        if rows:
            if len(rows) > 1:
                warn_old("old")
        REST
        return options
    exec(compile("def call_load(): return load({'one': 1}, [1, 2])", "caller.py", "exec"))
    def observe():
        return call_load()
"""
HELPER_OF_A_HELPER_WITH_STACKLEVEL = (
    HELPER_WITH_STACKLEVEL.replace("stacklevel=3", "stacklevel=4")
    .replace("def load(", "def warn_twice(text):\n        warn_old(text)\n    def load(")
    .replace('warn_old("old")', 'warn_twice("old")')
)
LOGGING_WITH_STACKLEVEL = """
    import logging
    lines = []
    class Keep(logging.Handler):
        def emit(self, record):
            lines.append((record.funcName, record.getMessage()))
    log = logging.getLogger("program")
    log.addHandler(Keep())
    def load(options, rows):
        if rows:
            if len(rows) > 1:
                log.warning("old", stacklevel=2)
        REST
        return options
    def observe():
        lines.clear()
        return load({'one': 1}, [1, 2]), list(lines)
"""
LOOKS_AT_THE_STACK = """
    import {module}
    def load(options, rows):
        caller = ""
        if rows:
            if len(rows) > 1:
                caller = {look}
        REST
        return options, caller
    def observe():
        return load({{"one": 1}}, [1, 2])
"""
LOOKS = [
    ("inspect", "inspect.stack()[1].function"),
    ("inspect", "inspect.currentframe().f_back.f_code.co_name"),
    ("sys", "sys._getframe(1).f_code.co_name"),
    ("traceback", "traceback.extract_stack()[-2].name"),
    ("traceback", "len(list(traceback.walk_stack(None)))"),
    ("sys", "sorted(locals())"),
]
SUPER_IN_A_METHOD = """
    class Base:
        def load(self, rows):
            return list(rows)
    class Reader(Base):
        def load(self, rows, options={"one": 1}):
            found = []
            if rows:
                if len(rows) > 1:
                    found = super().load(rows)
                    found.append(__class__.__name__)
            REST
            return found
    class Other(Reader):
        pass
    def observe():
        return Other().load([1, 2])
"""
RECURSION = """
    import sys
    def merge(one, options):
        found = {}
        for key, value in one.items():
            if isinstance(value, dict):
                if key:
                    found[key] = merge(value, options)
        REST
        return found
    def observe():
        deepest = {}
        for _ in range(60):
            deepest = {"key": deepest}
        frame, depth = sys._getframe(), 0
        while frame:
            frame, depth = frame.f_back, depth + 1
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(depth + 75)
        try:
            return bool(merge(deepest, {"one": 1}))
        finally:
            sys.setrecursionlimit(before)
"""


@pytest.mark.parametrize(
    "program",
    [
        VARIABLE_ARGUMENTS_IN_A_CLASS,
        CALLED_IN_ITS_CLASS_BODY,
        HIDES_A_METHOD_OF_A_BASE,
        POSITIONAL_STACKLEVEL,
        HELPER_WITH_STACKLEVEL,
        HELPER_OF_A_HELPER_WITH_STACKLEVEL,
        LOGGING_WITH_STACKLEVEL,
        *(LOOKS_AT_THE_STACK.format(module=module, look=look) for module, look in LOOKS),
        SUPER_IN_A_METHOD,
        RECURSION,
    ],
)
def test_a_program_does_the_same_after_every_change(program):
    check(program)
