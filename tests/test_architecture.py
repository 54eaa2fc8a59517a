"""The architecture, as a test: who may import whom, how large things may grow, and what they may be called."""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path, PurePosixPath
from textwrap import dedent

import pytest

ROOT = Path(__file__).parents[1] / "src" / "afresh"
SEAMS = ("core", "errors", "ports")
FLOW = ("core", "outputs", "memory", "runtime", "journal", "policy", "context", "actions", "verification", "loop")
"""The pure rooms, in the order in which they may know each other: each knows those to its left, and the seams."""
DOOR = "afresh.models.call"
"""The one way to a model, for the rooms of the flow."""
EDGES = {
    "models": set[str](),
    "sandbox": set[str](),
    "code": set[str](),
    "workspace": set[str](),
    "spending": set[str](),
    "config": {"workspace"},
    "storage": {"workspace", "config", "spending"},
}
"""Rooms that do input and output: each knows the seams, and these."""
ABOVE = {
    "views": {"memory", "context"},
    "testing": set[str](),
    "replay": {"memory", "context", "config", "spending"},
    "app": {*FLOW, *EDGES, "views", "testing", "replay"},
    "cli": {"views", "app", "replay"},
}
DRAWN = {"code", "config", "context", "models", "spending", "storage"}
"""Rooms whose values cli/render draws."""
SHIPPED_SAMPLE = "sample"
"""A project for the demo to work on: package data, with faults on purpose."""

DOES_INPUT_OR_OUTPUT = {"os", "io", "pathlib", "subprocess", "sqlite3", "socket", "shutil", "tempfile", "glob", "http", "urllib"}
HEAVY = {"anthropic", "openai", "genai_prices", "yaml", "rich", "asyncio", "httpx", "httpx2", "starlette", "sqlite3", "keyring"}
HEAVY |= {"tree_sitter", *(f"tree_sitter_{name}" for name in ("javascript", "typescript", "go", "rust", "java", "c_sharp"))}
MAY_BE_HEAVY = {"sqlite3": ("storage/sqlite", "code/coverage_file")}
"""A heavy module may be imported at module level only here."""

SAYS_NOTHING = re.compile(r"manager|helper|util|handler|processor", re.IGNORECASE)

EXCEPTIONS: dict[str, str] = {
    "cli/options.py: cli imports afresh.config.templates.load_template.list_task_types": "the choices of --type, without opening a project",
    "config/settings_file.py: config imports afresh.models.choose_model.check_model_names": "a table of models is refused where it is read",
    "config/templates/template_shape.py: config imports afresh.actions.tools.registry.TOOLS": "a template may name only tools that exist",
}
"""A violation, word for word as the test prints it, and the reason why it may stay."""


# What a file is made of


def layer(path: PurePosixPath) -> str:
    return path.with_suffix("").parts[0]


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def imported(node: ast.AST, path: PurePosixPath) -> list[str]:
    """The dotted names that a node imports, by statement or by a call with a written-out name."""
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    if isinstance(node, ast.ImportFrom):
        package = ("afresh", *path.parts[:-1])[: len(path.parts) + 1 - node.level] if node.level else ()
        base = ".".join((*package, *([node.module] if node.module else [])))
        return [f"{base}.{name.name}" for name in node.names]
    if isinstance(node, ast.Call) and node.args and getattr(node.func, "attr", getattr(node.func, "id", "")) in DYNAMIC:
        words = node.args[0].values[0] if isinstance(node.args[0], ast.JoinedStr) and node.args[0].values else node.args[0]
        return [words.value] if isinstance(words, ast.Constant) and isinstance(words.value, str) else []
    return []


DYNAMIC = {"import_module", "__import__"}


def run_on_import(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every statement that runs when the module is imported: not the bodies of functions, not what only type checkers see."""
    for statement in body:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(statement, ast.If) and "TYPE_CHECKING" in ast.unparse(statement.test):
            yield from run_on_import(statement.orelse)
            continue
        yield statement
        for field in ("body", "orelse", "finalbody", "handlers"):
            for child in getattr(statement, field, []):
                yield from run_on_import(child.body if isinstance(child, ast.ExceptHandler) else [child])


# The rules: each gives back what is wrong


def may_import(path: PurePosixPath) -> set[str] | None:
    """Rooms that a file may know besides its own; None if it is in no room."""
    own = layer(path)
    if own in ("errors", "__init__"):
        return set()
    if own == "ports":
        return {"core", "errors"}
    if own in FLOW:
        left = {*FLOW[: FLOW.index(own)]}
        return left | ({"errors"} if own == "core" else {*SEAMS})
    if own in EDGES:
        return {*SEAMS} | EDGES[own]
    if own in ABOVE:
        return {*SEAMS} | ABOVE[own] | (DRAWN if path.parts[:2] == ("cli", "render") else set())
    return None


def rooms_follow_the_flow(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    own, allowed = layer(path), may_import(path)
    if allowed is None:
        yield f"{own}: no such room; say in FLOW, EDGES or ABOVE what it may import"
        return
    for node in ast.walk(tree):
        for name in imported(node, path):
            there = name.split(".")[1] if name.startswith("afresh") else ""
            if not there or there == own or (own in FLOW and name.startswith(DOOR)):
                continue
            if ((ROOT / there).exists() or (ROOT / f"{there}.py").exists()) and there not in allowed:
                yield f"{own} imports {name}"


def core_is_pure(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    if layer(path) != "core":
        return
    for node in ast.walk(tree):
        for name in imported(node, path):
            top = name.split(".")[0]
            if top in DOES_INPUT_OR_OUTPUT:
                yield f"imports {top}, which does I/O"
            elif top != "afresh" and top not in sys.stdlib_module_names:
                yield f"imports {top}, which is not of the standard library"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in {"open", "print", "input"}:
            yield f"calls {node.func.id}"


def heavy_modules_wait(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    for node in run_on_import(tree.body):
        for name in imported(node, path):
            top = name.split(".")[0]
            if top in HEAVY and not str(path).startswith(MAY_BE_HEAVY.get(top, ())):
                yield f"imports {top} at module level"


def files_fit_in_the_head(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    lines = max((getattr(node, "end_lineno", 0) for node in tree.body), default=0)
    if lines > 300:
        yield f"has {lines} lines, 300 are the ceiling"


def functions_fit_on_a_screen(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    for node in functions(tree):
        lines = (node.end_lineno or 0) - node.lineno + 1
        if lines > 40:
            yield f"{node.name} has {lines} lines, 40 are the ceiling"


def constructors_are_small(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    for owner in classes(tree):
        for node in owner.body:
            if isinstance(node, ast.FunctionDef) and node.name == "__init__":
                count = len(node.args.posonlyargs) + len(node.args.args) + len(node.args.kwonlyargs) - 1
                if count > 6:
                    yield f"{owner.name} takes {count} parameters, 6 are the ceiling"


def seams_are_narrow(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    for owner in classes(tree):
        if any(re.search(r"\bProtocol\b", ast.unparse(base)) for base in owner.bases):
            count = sum(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in owner.body)
            if count > 5:
                yield f"{owner.name} has {count} methods, 5 are the ceiling"


def names_say_something(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    for name in [*path.parts, *(owner.name for owner in classes(tree))]:
        if SAYS_NOTHING.search(name):
            yield f"{name} does not say what it is"


def models_are_asked_at_one_door(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    """What is asked elsewhere is in no books and under no ceiling. Adapters may wrap one another, contracts may try them."""
    if path.parts[0] in ("models", "testing"):
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "propose":
            yield f"line {node.lineno} asks a model past models/call.py"


CONVENTIONS = {"main", "command", "tool", "contexts"}
"""Found by their name: entry points, click's commands, each tool's value, what recorded runs are replayed with."""
SUBCOMMANDS = {
    "show", "diff", "cache", "why", "block", "verify", "approve", "reject", "edit", "search", "export", "share", "read", "reply",
    "add", "correct", "forget", "check", "key", "reset",
}  # fmt: skip
"""What click calls a subcommand after its function."""
BY_FORMAT = {"knows", "read"}
"""Each format of recorded runs has these."""
BY_WIRE = {"body", "stream", "error", "error_event", "listing"}
"""Each wire format of the test server has these."""
PARTICIPLE = re.compile(
    r"^(?!(?:need|feed|embed|read|seed|speed|exceed|proceed|string|bring|ring|sing|ping|spring)$)[a-z]+(?:ed|ing)$"
)
CONVERTER = re.compile(r"_(?:from|to)_")


def one_word_is_allowed(path: PurePosixPath, name: str) -> bool:
    place = path.as_posix()
    return (
        name in CONVENTIONS
        or (path.parts[0] == "cli" and name in SUBCOMMANDS)
        or (place.startswith("replay/formats") and name in BY_FORMAT)
        or (place.startswith("testing/wire") and name in BY_WIRE)
        or place == "sandbox/escape_attempts.py"
    )


def public_functions(tree: ast.Module) -> list[str]:
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")]


def public_names_are_verb_and_object(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    for name in public_functions(tree):
        if "_" not in name.strip("_") and not one_word_is_allowed(path, name):
            yield f"{name} is one word: say what is done to what"
        elif PARTICIPLE.match(name.split("_")[0]) and not CONVERTER.search(name) and not one_word_is_allowed(path, name):
            yield f"{name} begins with a participle: say what is done"


def one_constant_a_line(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    for owner in [tree, *classes(tree)]:
        for node in owner.body:
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                yield f"line {node.lineno} assigns {len(node.targets[0].elts)} constants at once"


Rule = Callable[[PurePosixPath, ast.Module], Iterator[str]]
RULES: list[Rule] = [
    rooms_follow_the_flow,
    core_is_pure,
    heavy_modules_wait,
    files_fit_in_the_head,
    functions_fit_on_a_screen,
    constructors_are_small,
    seams_are_narrow,
    names_say_something,
    models_are_asked_at_one_door,
    public_names_are_verb_and_object,
    one_constant_a_line,
]


@cache
def sources() -> list[tuple[PurePosixPath, ast.Module]]:
    paths = [PurePosixPath(file.relative_to(ROOT).as_posix()) for file in sorted(ROOT.rglob("*.py"))]
    return [(path, ast.parse((ROOT / path).read_text("utf-8"))) for path in paths if path.parts[0] != SHIPPED_SAMPLE]


@cache
def violations(rule: Rule) -> list[str]:
    return [f"{path}: {wrong}" for path, tree in sources() for wrong in rule(path, tree)]


def named(rule: Rule) -> str:
    return rule.__name__


@pytest.mark.parametrize("rule", RULES, ids=named)
def test_the_source_keeps_the_rule(rule: Rule):
    broken = [wrong for wrong in violations(rule) if wrong not in EXCEPTIONS]
    assert not broken, "\n".join(broken)


def test_every_exception_is_still_needed():
    assert set(EXCEPTIONS) <= {wrong for rule in RULES for wrong in violations(rule)}


# Broken twins: each rule can fail

MANY = ", ".join(f"p{n}" for n in range(7))
METHODS = "\n".join(f"    def m{n}(self): ..." for n in range(6))
TWINS: list[tuple[Rule, str, str]] = [
    (rooms_follow_the_flow, "core/x.py", "from afresh.ports import JournalStore"),
    (rooms_follow_the_flow, "core/x.py", "from afresh import ports"),
    (rooms_follow_the_flow, "core/x.py", "from ..ports import JournalStore"),
    (rooms_follow_the_flow, "core/x.py", "from .. import ports"),
    (rooms_follow_the_flow, "core/x.py", "from afresh.journal.append import append_events"),
    (rooms_follow_the_flow, "ports/x.py", "from ..context import gather"),
    (rooms_follow_the_flow, "memory/x.py", "from afresh.context.gather import gather_context"),
    (rooms_follow_the_flow, "context/x.py", "from afresh.verification import completion"),
    (rooms_follow_the_flow, "actions/tools/x.py", "from ...verification import completion"),
    (rooms_follow_the_flow, "verification/x.py", "import afresh.storage.sqlite"),
    (rooms_follow_the_flow, "verification/x.py", "def f():\n    from afresh.storage import sqlite"),
    (rooms_follow_the_flow, "verification/x.py", "import_module('afresh.storage.sqlite')"),
    (rooms_follow_the_flow, "context/x.py", "from afresh.models.retry import retry_call"),
    (rooms_follow_the_flow, "code/x.py", "from afresh.loop import ask_model"),
    (rooms_follow_the_flow, "code/x.py", "from afresh.storage.sqlite import journal"),
    (rooms_follow_the_flow, "models/x.py", "from afresh.loop import ask_model"),
    (rooms_follow_the_flow, "storage/x.py", "from afresh.app import project"),
    (rooms_follow_the_flow, "views/x.py", "from afresh.code import graph"),
    (rooms_follow_the_flow, "testing/x.py", "from afresh.storage.sqlite import journal"),
    (rooms_follow_the_flow, "app/x.py", "from afresh.cli.main import main"),
    (rooms_follow_the_flow, "cli/x.py", "from afresh.loop import ask_model"),
    (rooms_follow_the_flow, "cli/x.py", "from afresh.storage.sqlite import journal"),
    (rooms_follow_the_flow, "cli/render/x.py", "from afresh.verification import completion"),
    (rooms_follow_the_flow, "cli/x.py", "if TYPE_CHECKING:\n    from afresh.storage.sqlite import journal"),
    (rooms_follow_the_flow, "cli/x.py", "import_module(f'afresh.context.{name}')"),
    (rooms_follow_the_flow, "replay/x.py", "from afresh.app import project"),
    (rooms_follow_the_flow, "errors.py", "from afresh.core.task import Task"),
    (rooms_follow_the_flow, "attic/x.py", ""),
    (core_is_pure, "core/x.py", "import click"),
    (core_is_pure, "core/x.py", "from pathlib import Path"),
    (core_is_pure, "core/x.py", "def f():\n    import os.path"),
    (core_is_pure, "core/x.py", "text = open('x').read()"),
    (heavy_modules_wait, "models/x.py", "from anthropic import Anthropic"),
    (heavy_modules_wait, "cli/x.py", "try:\n    import rich.console\nexcept ImportError:\n    pass"),
    (heavy_modules_wait, "cli/x.py", "try:\n    pass\nexcept ImportError:\n    import yaml"),
    (heavy_modules_wait, "cli/x.py", "class A:\n    import asyncio"),
    (heavy_modules_wait, "context/x.py", "import sqlite3"),
    (heavy_modules_wait, "code/x.py", "from tree_sitter import Parser\nimport tree_sitter_go"),
    (files_fit_in_the_head, "context/x.py", "x = 1\n" * 301),
    (functions_fit_on_a_screen, "context/x.py", "def f():\n" + "    x = 1\n" * 40),
    (functions_fit_on_a_screen, "context/x.py", "class A:\n  async def f(self):\n" + "    x = 1\n" * 40),
    (constructors_are_small, "context/x.py", f"class A:\n    def __init__(self, {MANY}): ..."),
    (constructors_are_small, "context/x.py", f"class A:\n    def __init__(self, *, {MANY}): ..."),
    (seams_are_narrow, "ports/x.py", f"class A(Protocol):\n{METHODS}"),
    (seams_are_narrow, "ports/x.py", f"class A(typing.Protocol[T]):\n{METHODS}"),
    (names_say_something, "context/utils.py", ""),
    (names_say_something, "helpers/x.py", ""),
    (names_say_something, "context/x.py", "class TaskManager: ..."),
    (models_are_asked_at_one_door, "context/x.py", "reply = agent.model.propose(request)"),
    (models_are_asked_at_one_door, "app/x.py", "ask = model.propose\nask(request)"),
    (public_names_are_verb_and_object, "context/x.py", "def told(): ..."),
    (public_names_are_verb_and_object, "context/x.py", "def attuned_template(): ..."),
    (public_names_are_verb_and_object, "context/x.py", "def verify(): ..."),
    (one_constant_a_line, "context/x.py", "A, B = 1, 2"),
    (one_constant_a_line, "context/x.py", "class A:\n    X, Y = 1, 2"),
]
SOUND: list[tuple[Rule, str, str]] = [
    (rooms_follow_the_flow, "cli/x.py", "from afresh import __version__\nfrom afresh.app import project\nfrom . import output"),
    (rooms_follow_the_flow, "context/x.py", "import afresh.core.task\nfrom afresh.ports import JournalStore\nimport os"),
    (rooms_follow_the_flow, "memory/x.py", "from afresh.models.call import call_model"),
    (core_is_pure, "core/x.py", "import json\nfrom afresh.errors import Broken"),
    (core_is_pure, "workspace/x.py", "import os, click"),
    (
        public_names_are_verb_and_object,
        "context/x.py",
        "def read_file(): ...\ndef is_over(): ...\ndef _told(): ...\ndef feed_items(): ...",
    ),
    (public_names_are_verb_and_object, "cli/x.py", "def command(): ...\ndef show(): ..."),
    (one_constant_a_line, "context/x.py", "A = 1, 2\nfirst, second = pair()"),
    (heavy_modules_wait, "cli/x.py", "def f():\n    import rich\nif TYPE_CHECKING:\n    import anthropic"),
    (heavy_modules_wait, "storage/sqlite/x.py", "import sqlite3"),
    (files_fit_in_the_head, "context/x.py", "x = 1\n" * 300),
    (functions_fit_on_a_screen, "context/x.py", "def f():\n" + "    x = 1\n" * 39),
    (constructors_are_small, "context/x.py", "class A:\n    def __init__(self, a, b, c, d, e, f): ..."),
    (seams_are_narrow, "ports/x.py", f"class A:\n{METHODS}"),
    (names_say_something, "context/build_prompt.py", "class Prompt: ..."),
    (models_are_asked_at_one_door, "models/call.py", "till.model.propose(request, till.hear)"),
    (models_are_asked_at_one_door, "models/x.py", "self.inner.propose(request)"),
]


@pytest.mark.parametrize(("rule", "path", "source"), TWINS)
def test_a_broken_twin_is_caught(rule: Rule, path: str, source: str):
    assert list(rule(PurePosixPath(path), ast.parse(dedent(source))))


@pytest.mark.parametrize(("rule", "path", "source"), SOUND)
def test_a_sound_source_passes(rule: Rule, path: str, source: str):
    assert not list(rule(PurePosixPath(path), ast.parse(dedent(source))))


def test_each_rule_has_a_broken_twin():
    assert {named(rule) for rule, _, _ in TWINS} == {named(rule) for rule in RULES}
