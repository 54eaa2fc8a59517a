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
CORE = {"domain", "errors"}
SEAMS = CORE | {"ports"}
MAY_IMPORT = {
    "errors": set[str](),
    "domain": CORE,
    "ports": CORE,
    "engine": SEAMS | {"engine"},
    "insight": SEAMS | {"insight"},
    "projections": SEAMS | {"projections"},
    "adapters": SEAMS | {"adapters"},
    "testing": SEAMS | {"testing"},
    "replay": SEAMS | {"engine", "adapters", "replay"},
    "app": SEAMS | {"engine", "insight", "projections", "adapters", "testing", "replay", "app"},
    "cli": SEAMS | {"projections", "app", "cli"},
}
SHIPPED_SAMPLE = "sample"
"""A project for the demo to work on: package data, with faults on purpose."""

DOES_INPUT_OR_OUTPUT = {"os", "io", "pathlib", "subprocess", "sqlite3", "socket", "shutil", "tempfile", "glob", "http", "urllib"}
HEAVY = {"anthropic", "openai", "genai_prices", "yaml", "rich", "asyncio", "httpx", "httpx2", "starlette", "sqlite3", "keyring"}
HEAVY |= {"tree_sitter", *(f"tree_sitter_{name}" for name in ("javascript", "typescript", "go", "rust", "java", "c_sharp"))}
MAY_BE_HEAVY = {"sqlite3": ("adapters/store", "adapters/queue")}
"""A heavy module may be imported at module level only here."""

SAYS_NOTHING = re.compile(r"manager|helper|util|handler|processor", re.IGNORECASE)

EXCEPTIONS: dict[str, str] = {}
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


def imports_point_inwards(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    own = layer(path)
    if own not in MAY_IMPORT and own != "__init__":
        yield f"{own}: no such layer; say in MAY_IMPORT what it may import"
    for node in ast.walk(tree):
        for name in imported(node, path):
            there = name.split(".")[1] if name.startswith("afresh") else ""
            if (ROOT / there).exists() or (ROOT / f"{there}.py").exists():
                allowed = MAY_IMPORT.get(own, set()) | {""}
                if there not in allowed:
                    yield f"{own} imports {name}"


def domain_is_pure(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    if layer(path) != "domain":
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
    if path.as_posix() == "engine/buy.py" or path.parts[:2] == ("adapters", "models") or path.parts[0] == "testing":
        return
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr == "propose":
            yield f"line {node.lineno} asks a model past engine/buy.py"


Rule = Callable[[PurePosixPath, ast.Module], Iterator[str]]
RULES: list[Rule] = [
    imports_point_inwards,
    domain_is_pure,
    heavy_modules_wait,
    files_fit_in_the_head,
    functions_fit_on_a_screen,
    constructors_are_small,
    seams_are_narrow,
    names_say_something,
    models_are_asked_at_one_door,
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
    (imports_point_inwards, "domain/x.py", "from afresh.ports import Store"),
    (imports_point_inwards, "domain/x.py", "from afresh import ports"),
    (imports_point_inwards, "domain/x.py", "from ..ports import Store"),
    (imports_point_inwards, "domain/x.py", "from .. import ports"),
    (imports_point_inwards, "adapters/tools/x.py", "from ...engine import loop"),
    (imports_point_inwards, "ports.py", "from .engine import loop"),
    (imports_point_inwards, "engine/x.py", "import afresh.adapters.store"),
    (imports_point_inwards, "engine/x.py", "def f():\n    from afresh.adapters import store"),
    (imports_point_inwards, "engine/x.py", "import_module('afresh.adapters.store')"),
    (imports_point_inwards, "insight/x.py", "from afresh.engine.loop import work"),
    (imports_point_inwards, "insight/x.py", "from afresh.storage.sqlite import journal"),
    (imports_point_inwards, "projections/x.py", "from afresh.insight import graph"),
    (imports_point_inwards, "adapters/x.py", "from afresh. import loop"),
    (imports_point_inwards, "adapters/x.py", "from afresh.app import project"),
    (imports_point_inwards, "testing/x.py", "from afresh.storage.sqlite import journal"),
    (imports_point_inwards, "app/x.py", "from afresh.cli.main import main"),
    (imports_point_inwards, "cli/x.py", "from afresh.engine.loop import work"),
    (imports_point_inwards, "cli/x.py", "from afresh.replay.read import read_runs"),
    (imports_point_inwards, "replay/x.py", "from afresh.app import project"),
    (imports_point_inwards, "cli/x.py", "if TYPE_CHECKING:\n    from afresh.adapters.store import Store"),
    (imports_point_inwards, "cli/x.py", "import_module(f'afresh.engine.{name}')"),
    (imports_point_inwards, "errors.py", "from afresh.core.task import Task"),
    (imports_point_inwards, "attic/x.py", ""),
    (domain_is_pure, "domain/x.py", "import click"),
    (domain_is_pure, "domain/x.py", "from pathlib import Path"),
    (domain_is_pure, "domain/x.py", "def f():\n    import os.path"),
    (domain_is_pure, "domain/x.py", "text = open('x').read()"),
    (heavy_modules_wait, "adapters/models/x.py", "from anthropic import Anthropic"),
    (heavy_modules_wait, "cli/x.py", "try:\n    import rich.console\nexcept ImportError:\n    pass"),
    (heavy_modules_wait, "cli/x.py", "try:\n    pass\nexcept ImportError:\n    import yaml"),
    (heavy_modules_wait, "cli/x.py", "class A:\n    import asyncio"),
    (heavy_modules_wait, "engine/x.py", "import sqlite3"),
    (heavy_modules_wait, "insight/x.py", "from tree_sitter import Parser\nimport tree_sitter_go"),
    (files_fit_in_the_head, "engine/x.py", "x = 1\n" * 301),
    (functions_fit_on_a_screen, "engine/x.py", "def f():\n" + "    x = 1\n" * 40),
    (functions_fit_on_a_screen, "engine/x.py", "class A:\n  async def f(self):\n" + "    x = 1\n" * 40),
    (constructors_are_small, "engine/x.py", f"class A:\n    def __init__(self, {MANY}): ..."),
    (constructors_are_small, "engine/x.py", f"class A:\n    def __init__(self, *, {MANY}): ..."),
    (seams_are_narrow, "ports.py", f"class A(Protocol):\n{METHODS}"),
    (seams_are_narrow, "ports.py", f"class A(typing.Protocol[T]):\n{METHODS}"),
    (names_say_something, "engine/utils.py", ""),
    (names_say_something, "helpers/x.py", ""),
    (names_say_something, "engine/x.py", "class TaskManager: ..."),
    (models_are_asked_at_one_door, "engine/x.py", "reply = agent.model.propose(request)"),
    (models_are_asked_at_one_door, "app/x.py", "ask = model.propose\nask(request)"),
]
SOUND: list[tuple[Rule, str, str]] = [
    (imports_point_inwards, "cli/x.py", "from afresh import __version__\nfrom afresh.app import project\nfrom . import common"),
    (imports_point_inwards, "engine/x.py", "import afresh.domain.task\nfrom afresh.ports import Store\nimport os"),
    (domain_is_pure, "domain/x.py", "import json\nfrom afresh.errors import Broken"),
    (domain_is_pure, "adapters/x.py", "import os, click"),
    (heavy_modules_wait, "cli/x.py", "def f():\n    import rich\nif TYPE_CHECKING:\n    import anthropic"),
    (heavy_modules_wait, "adapters/store/x.py", "import sqlite3"),
    (files_fit_in_the_head, "engine/x.py", "x = 1\n" * 300),
    (functions_fit_on_a_screen, "engine/x.py", "def f():\n" + "    x = 1\n" * 39),
    (constructors_are_small, "engine/x.py", "class A:\n    def __init__(self, a, b, c, d, e, f): ..."),
    (seams_are_narrow, "ports.py", f"class A:\n{METHODS}"),
    (names_say_something, "engine/build.py", "class Window: ..."),
    (models_are_asked_at_one_door, "engine/buy.py", "till.model.propose(request, till.hear)"),
    (models_are_asked_at_one_door, "adapters/models/x.py", "self.inner.propose(request)"),
]


@pytest.mark.parametrize(("rule", "path", "source"), TWINS)
def test_a_broken_twin_is_caught(rule: Rule, path: str, source: str):
    assert list(rule(PurePosixPath(path), ast.parse(dedent(source))))


@pytest.mark.parametrize(("rule", "path", "source"), SOUND)
def test_a_sound_source_passes(rule: Rule, path: str, source: str):
    assert not list(rule(PurePosixPath(path), ast.parse(dedent(source))))


def test_each_rule_has_a_broken_twin():
    assert {named(rule) for rule, _, _ in TWINS} == {named(rule) for rule in RULES}
