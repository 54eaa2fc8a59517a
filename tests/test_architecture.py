"""The architecture as a test: allowed imports, size limits, and naming rules. A room is a top-level package of afresh."""

import ast
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import PurePosixPath
from textwrap import dedent

import pytest

from afresh.actions.tools.registry import TOOLS
from support.source_trees import ROOT, list_nodes, list_sources

SEAMS = ("core", "errors", "ports")
FLOW = ("core", "outputs", "memory", "runtime", "journal", "policy", "context", "actions", "verification", "loop")
"""The pure rooms, in import order: each may import those to its left, and the seams."""
DOOR = "afresh.models.call"
"""The only module through which these rooms call a model."""
EDGES = {
    "models": set[str](),
    "sandbox": set[str](),
    "code": set[str](),
    "workspace": set[str](),
    "spending": set[str](),
    "config": {"workspace"},
    "storage": {"workspace", "config", "spending"},
    "mcp_client": {"workspace"},
}
"""Rooms that do input and output: each may import the seams, and these."""
ABOVE = {
    "views": {"memory", "context"},
    "replay": {"memory", "context", "config", "spending"},
    "evolve": {"memory", "context", "replay"},
    "telemetry": set[str](),
    "app": {*FLOW, *EDGES, "views", "replay", "evolve", "telemetry"},
    "acp": {"views", "app"},
    "mcp_server": {"views", "app", "actions", "code", "workspace"},
    "web": {"views", "app"},
    "fleet": {"views", "app", "storage", "workspace"},
    "cli": {"views", "app", "replay", "acp", "mcp_server", "web", "fleet"},
    "__init__": {"app"},
}
DRAWN = {"code", "config", "context", "evolve", "models", "spending", "storage"}
"""Rooms whose values cli/render displays."""
SHIPPED_SAMPLE = "sample"
"""A project for the demo to work on: package data, with bugs on purpose."""

DOES_INPUT_OR_OUTPUT = {"os", "io", "pathlib", "subprocess", "sqlite3", "socket", "shutil", "tempfile", "glob", "http", "urllib"}
HEAVY = {"anthropic", "openai", "genai_prices", "yaml", "rich", "asyncio", "httpx", "httpx2", "sqlite3", "keyring"}
HEAVY |= {"psycopg", "starlette", "uvicorn", "jinja2", "markupsafe", "anyio", "mcp", "mcp_types", "acp", "opentelemetry"}
HEAVY |= {"dbos"}
HEAVY |= {
    "tree_sitter",
    *(f"tree_sitter_{name}" for name in ("python", "javascript", "typescript", "go", "rust", "java", "c_sharp")),
}
MAY_BE_HEAVY = {"sqlite3": ("storage/sqlite", "code/coverage_file"), "acp": ("acp/",), "asyncio": ("acp/", "web/")}
MAY_BE_HEAVY |= {"rich": ("cli/render/",)}
MAY_BE_HEAVY |= {"httpx2": ("models/providers/call_limits",)}
MAY_BE_HEAVY |= {
    "opentelemetry": ("telemetry/",),
    **{name: ("web/",) for name in ("starlette", "uvicorn", "jinja2", "markupsafe")},
}
"""A heavy module may be imported at module level only here."""

SAYS_NOTHING = re.compile(r"manager|helper|util|handler|processor", re.IGNORECASE)

EXCEPTIONS: dict[str, str] = {
    "config/templates/load_template.py: find_missing_complete names the tools complete": "the tool that ends a task",
    "models/offline.py: OfflineModel.propose names the tools apply, complete": "a model calls tools by name",
    "cli/options.py: cli imports afresh.config.templates.load_template.list_task_types": "--type without opening a project",
    "config/settings_file.py: config imports afresh.models.choose_model.check_model_names": "models are checked on reading",
    "config/templates/template_files.py: config imports afresh.actions.tools.registry.TOOLS": "templates name known tools only",
}
"""A violation, exactly as the test prints it, and the reason why it is allowed."""


# Parts of a file


def layer(path: PurePosixPath) -> str:
    return path.with_suffix("").parts[0]


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    return (node for node in list_nodes(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def classes(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in list_nodes(tree) if isinstance(node, ast.ClassDef))


def named_statements(body: list[ast.stmt], owner: str = "") -> Iterator[tuple[str, ast.stmt]]:
    """Yield functions, methods and constants of a module with their names, which identify a violation even when lines move."""
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            yield from named_statements(statement.body, f"{owner}{statement.name}.")
        else:
            target = statement.targets[0] if isinstance(statement, ast.Assign) else getattr(statement, "target", None)
            name = getattr(statement, "name", "") or (ast.unparse(target) if target else "the module")
            yield f"{owner}{name}", statement


def imported(node: ast.AST, path: PurePosixPath) -> list[str]:
    """Return the dotted names that a node imports, by statement or by a call with a literal name."""
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
    """Yield every statement that runs when the module is imported: no function bodies, nothing for type checkers only."""
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


# The rules: each yields the violations


def may_import(path: PurePosixPath) -> set[str] | None:
    """Return the rooms that a file may import besides its own; None if it is in no room."""
    own = layer(path)
    if own == "errors":
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
    for node in list_nodes(tree):
        for name in imported(node, path):
            there = name.split(".")[1] if name.startswith("afresh") else ""
            if not there or there == own or (own in FLOW and name.startswith(DOOR)):
                continue
            if ((ROOT / there).exists() or (ROOT / f"{there}.py").exists()) and there not in allowed:
                yield f"{own} imports {name}"


def core_is_pure(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    if layer(path) != "core":
        return
    for node in list_nodes(tree):
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
    if lines > 600:
        yield f"has {lines} lines, 600 are the ceiling"


def functions_fit_on_a_screen(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    for node in functions(tree):
        lines = (node.end_lineno or 0) - node.lineno + 1
        if lines > 60:
            yield f"{node.name} has {lines} lines, 60 are the ceiling"


ASYNCHRONOUS = ("web", "acp", "mcp_server", "mcp_client")
"""Their libraries are."""


def only_outer_rooms_are_asynchronous(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    """Everything else is called from threads, and from a terminal."""
    if layer(path) not in ASYNCHRONOUS:
        yield from (f"{node.name} is asynchronous" for node in functions(tree) if isinstance(node, ast.AsyncFunctionDef))


def names_say_something(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    for name in [*path.parts, *(owner.name for owner in classes(tree))]:
        if SAYS_NOTHING.search(name):
            yield f"{name} does not say what it is"


def models_are_asked_at_one_door(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    """Calls made elsewhere are not booked and not limited by the ceiling. Models may wrap each other, and contract tests may call
    them.
    """
    if path.parts[0] == "models":
        return
    for node in list_nodes(tree):
        if isinstance(node, ast.Attribute) and node.attr == "propose":
            yield f"line {node.lineno} asks a model past models/call.py"


CONVENTIONS = {"main", "command", "tool", "contexts", "extended_contexts"}
"""Found by name: entry points, click's commands, each tool's value, what recorded runs are replayed with."""
SUBCOMMANDS = {
    "show", "diff", "cost", "why", "verify", "approve", "reject", "edit", "export", "share",
    "add", "correct", "forget", "check", "key", "reset",
}  # fmt: skip
"""Functions whose name click uses as the name of a subcommand."""
BY_FORMAT = {"knows", "read"}
"""Each format of recorded runs defines these."""
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


HOLD_RENDERED_TEXT = ("context/", "memory/", "views/", "code/code_insight.py")
"""Where typed data is rendered as text."""
FOREIGN_TEXT = {
    "context/citations.py": "what a model cites",
    "context/file_chunks.py": "source code",
    "context/sources/diff.py": "revisions and files that a goal names",
    "context/wanted_lines.py: IMPORT_LINE": "source code",
    "context/sources/excerpts.py: find_files_in_goal": "files that a goal names",
    "context/sources/instructions.py": "people's instructions",
    "context/sources/test_results.py": "reports of coverage tools",
    "memory/history/names.py": "outputs and replies",
    "memory/lessons/draft_lesson.py": "commands, code and replies",
    "memory/observed_facts.py": "commands and names of tests",
    "memory/passage_retention.py": "replies",
    "views/file_io.py": "names of tasks, before they become file names",
    "views/markdown.py": "markup in foreign text, which is made harmless",
    "core/redaction.py": "keys in foreign text",
}
"""Files, or single statements of them, that read text which afresh did not write."""


def expressions(tree: ast.Module) -> Iterator[str]:
    """Yield the names of statements that make or use a regular expression."""
    for name, statement in named_statements(tree.body):
        for node in ast.walk(statement):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            if (called.startswith("re.") and called != "re.escape") or (isinstance(node, ast.ImportFrom) and node.module == "re"):
                yield name
                break


def no_own_text_is_parsed(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    """Data stays typed until it is rendered, and rendered text is not parsed again."""
    place = path.as_posix()
    if not place.startswith(HOLD_RENDERED_TEXT) or place in FOREIGN_TEXT:
        return
    for name in expressions(tree):
        if f"{place}: {name}" not in FOREIGN_TEXT:
            yield f"{name} reads text by an expression"


def code_lines(tree: ast.Module) -> int:
    """Return the lines of a module without its imports, docstrings and blank lines between statements."""

    def length(body: list[ast.stmt]) -> int:
        return sum((node.end_lineno or 0) - node.lineno + 1 for node in body)

    def is_text(node: ast.stmt) -> bool:
        return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)

    said = [node for node in tree.body if not is_text(node) and not isinstance(node, ast.Import | ast.ImportFrom)]
    return length(said) - sum(length([node.body[0]]) for node in functions(tree) if is_text(node.body[0]))


def loop_is_the_drawing(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    """A reader of loop.py can draw the system: it is short and imports few rooms."""
    if str(path) != "loop.py":
        return
    imports = [node for node in list_nodes(tree) if isinstance(node, ast.Import | ast.ImportFrom)]
    if len(imports) > 12:
        yield f"imports {len(imports)} modules, 12 are the ceiling"
    for name in (name for node in imports for name in imported(node, path)):
        if not name.startswith("afresh."):
            yield f"imports {name}, which is no room"
    if (lines := code_lines(tree)) > 60:
        yield f"has {lines} lines of code, 60 are the ceiling"


TRAITS = "core/tool_traits.py"
"""The one table of what each tool is for."""
TOOL_NAMES = frozenset(tool.schema.name for tool in TOOLS)
OTHER_VOCABULARIES = {
    "app/test_commands/": "words of command lines: `npm run test`",
}
"""Where the same words mean something else."""


def is_tool_name(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in TOOL_NAMES


def collects_tools(node: ast.AST) -> bool:
    members = node.keys if isinstance(node, ast.Dict) else node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else []
    return any(map(is_tool_name, members)) and all(is_tool_name(one) or isinstance(one, ast.Starred) for one in members)


def compared_tools(node: ast.AST) -> Iterator[str]:
    """Yield the tools that a node compares with, or collects to compare with later. A single word may mean anything."""
    if isinstance(node, ast.Compare):
        operands = [node.left, *node.comparators]
        found = [one for operand in operands for one in (ast.walk(operand) if collects_tools(operand) else [operand])]
    elif isinstance(node, ast.MatchValue):
        found = [node.value]
    else:
        found = list(ast.iter_child_nodes(node)) if collects_tools(node) else []
        found = found if len(found) > 1 else []
    yield from (one.value for one in found if isinstance(one, ast.Constant) and is_tool_name(one))


def tools_named(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Yield statements by name, each with the tools that it compares with."""
    for name, statement in named_statements(tree.body):
        if tools := sorted({tool for node in ast.walk(statement) for tool in compared_tools(node)}):
            yield name, ", ".join(tools)


def tools_are_not_named_outside_tools(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    """A tool declares its own traits; code that compares names would not know a new tool."""
    if not str(path).startswith(("actions/tools/", TRAITS, *OTHER_VOCABULARIES)):
        yield from (f"{name} names the tools {tools}" for name, tools in tools_named(tree))


Rule = Callable[[PurePosixPath, ast.Module], Iterator[str]]
NAMED_BY_A_MODEL = (
    "actions/tools/",
    "code/index/update_index.py",
    "ports/workspace.py",
    "context/redacted_files.py",
)
"""They read what a model has named, keep the reason why a file can't be read, or hand on."""


def unreadable_files_are_no_mistakes(path: PurePosixPath, tree: ast.Module) -> Iterator[str]:
    """A file that is no text stops nothing: `read_text` skips it."""
    for node in list_nodes(tree) if not str(path).startswith(NAMED_BY_A_MODEL) else ():
        if (
            isinstance(node, ast.Attribute)
            and node.attr == "read"
            and ast.unparse(node.value).split(".")[-1] in ("files", "_files")
        ):
            yield f"line {node.lineno} reads a file that may be no text; use `read_text`"


RULES: list[Rule] = [
    rooms_follow_the_flow,
    core_is_pure,
    heavy_modules_wait,
    files_fit_in_the_head,
    functions_fit_on_a_screen,
    only_outer_rooms_are_asynchronous,
    names_say_something,
    models_are_asked_at_one_door,
    public_names_are_verb_and_object,
    no_own_text_is_parsed,
    loop_is_the_drawing,
    tools_are_not_named_outside_tools,
    unreadable_files_are_no_mistakes,
]


@cache
def sources() -> list[tuple[PurePosixPath, ast.Module]]:
    return [(path, tree) for path, _, tree in list_sources() if path.parts[0] != SHIPPED_SAMPLE]


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

TWINS: list[tuple[Rule, str, str]] = [
    (unreadable_files_are_no_mistakes, "verification/x.py", "context.files.read(path)"),
    (rooms_follow_the_flow, "core/x.py", "from afresh.ports import JournalStore"),
    (rooms_follow_the_flow, "core/x.py", "from afresh import ports"),
    (rooms_follow_the_flow, "core/x.py", "from ..ports import JournalStore"),
    (rooms_follow_the_flow, "core/x.py", "from .. import ports"),
    (rooms_follow_the_flow, "core/x.py", "from afresh.journal.append import append_events"),
    (rooms_follow_the_flow, "ports/x.py", "from ..context import gather"),
    (rooms_follow_the_flow, "memory/x.py", "from afresh.context.gather import gather_context"),
    (rooms_follow_the_flow, "verification/x.py", "import afresh.storage.sqlite"),
    (rooms_follow_the_flow, "verification/x.py", "def f():\n    from afresh.storage import sqlite"),
    (rooms_follow_the_flow, "verification/x.py", "import_module('afresh.storage.sqlite')"),
    (rooms_follow_the_flow, "context/x.py", "from afresh.models.retry import retry_call"),
    (rooms_follow_the_flow, "models/x.py", "from afresh.loop import ask_model"),
    (rooms_follow_the_flow, "storage/x.py", "from afresh.app import project"),
    (rooms_follow_the_flow, "app/x.py", "from afresh.cli.main import main"),
    (rooms_follow_the_flow, "cli/x.py", "from afresh.loop import ask_model"),
    (rooms_follow_the_flow, "cli/render/x.py", "from afresh.verification import completion"),
    (rooms_follow_the_flow, "cli/x.py", "if TYPE_CHECKING:\n    from afresh.storage.sqlite import journal"),
    (rooms_follow_the_flow, "cli/x.py", "import_module(f'afresh.context.{name}')"),
    (rooms_follow_the_flow, "errors.py", "from afresh.core.task import Task"),
    (rooms_follow_the_flow, "__init__.py", "from afresh.loop import advance_task"),
    (rooms_follow_the_flow, "attic/x.py", ""),
    (core_is_pure, "core/x.py", "import click"),
    (core_is_pure, "core/x.py", "def f():\n    import os.path"),
    (core_is_pure, "core/x.py", "text = open('x').read()"),
    (heavy_modules_wait, "models/x.py", "from anthropic import Anthropic"),
    (heavy_modules_wait, "cli/x.py", "try:\n    import rich.console\nexcept ImportError:\n    pass"),
    (heavy_modules_wait, "cli/x.py", "try:\n    pass\nexcept ImportError:\n    import yaml"),
    (heavy_modules_wait, "context/x.py", "import sqlite3"),
    (heavy_modules_wait, "code/x.py", "from tree_sitter import Parser\nimport tree_sitter_go"),
    (files_fit_in_the_head, "context/x.py", "x = 1\n" * 601),
    (functions_fit_on_a_screen, "context/x.py", "def f():\n" + "    x = 1\n" * 60),
    (functions_fit_on_a_screen, "context/x.py", "class A:\n  async def f(self):\n" + "    x = 1\n" * 60),
    (only_outer_rooms_are_asynchronous, "app/x.py", "class A:\n    async def f(self): ..."),
    (names_say_something, "context/utils.py", ""),
    (names_say_something, "context/x.py", "class TaskManager: ..."),
    (models_are_asked_at_one_door, "context/x.py", "reply = agent.model.propose(request)"),
    (models_are_asked_at_one_door, "app/x.py", "ask = model.propose\nask(request)"),
    (public_names_are_verb_and_object, "context/x.py", "def told(): ..."),
    (public_names_are_verb_and_object, "context/x.py", "def attuned_template(): ..."),
    (public_names_are_verb_and_object, "context/x.py", "def verify(): ..."),
    (no_own_text_is_parsed, "context/x.py", "STEP = re.compile('- step')"),
    (no_own_text_is_parsed, "context/sources/x.py", "def f(text):\n    return re.sub('a', 'b', text)"),
    (no_own_text_is_parsed, "views/x.py", "from re import match"),
    (no_own_text_is_parsed, "context/sources/excerpts.py", "OTHER_LINE = re.compile('a')"),
    (loop_is_the_drawing, "loop.py", "\n".join(f"from afresh.core.x{n} import y" for n in range(13))),
    (loop_is_the_drawing, "loop.py", "def f():\n    import json"),
    (loop_is_the_drawing, "loop.py", "def f():\n" + "    x = 1\n" * 30 + "def g():\n" + "    x = 1\n" * 30),
    (tools_are_not_named_outside_tools, "context/x.py", "def f(action):\n    return action.tool == 'edit'"),
    (tools_are_not_named_outside_tools, "context/x.py", "def f(action):\n    return action.tool in ('edit',)"),
    (tools_are_not_named_outside_tools, "policy/x.py", "CHANGING = ('edit', 'run')"),
    (tools_are_not_named_outside_tools, "app/x.py", "DRAW = {'edit': 1, 'run': 2}"),
    (tools_are_not_named_outside_tools, "app/x.py", "def f(tool):\n    match tool:\n        case 'edit': ..."),
    (tools_are_not_named_outside_tools, "actions/x.py", "class A:\n    def f(self):\n        return {'edit', 'run'}"),
]
FULL_LOOP = 'def f():\n    """What it does."""\n' + "    x = 1\n" * 59
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
    (heavy_modules_wait, "cli/x.py", "def f():\n    import rich\nif TYPE_CHECKING:\n    import anthropic"),
    (heavy_modules_wait, "storage/sqlite/x.py", "import sqlite3"),
    (heavy_modules_wait, "web/x.py", "import asyncio\nfrom starlette.requests import Request"),
    (files_fit_in_the_head, "context/x.py", "x = 1\n" * 600),
    (functions_fit_on_a_screen, "context/x.py", "def f():\n" + "    x = 1\n" * 59),
    (only_outer_rooms_are_asynchronous, "web/x.py", "async def send_page(): ..."),
    (names_say_something, "context/build_prompt.py", "class Prompt: ..."),
    (models_are_asked_at_one_door, "models/call.py", "gate.model.propose(request, gate.hear)"),
    (models_are_asked_at_one_door, "models/x.py", "self.inner.propose(request)"),
    (no_own_text_is_parsed, "context/x.py", "import re\ndef f(wanted: re.Pattern[str]):\n    return re.escape('a')"),
    (no_own_text_is_parsed, "context/citations.py", "CITED = re.compile('a')"),
    (no_own_text_is_parsed, "outputs/x.py", "FAILED = re.compile('a')"),
    (loop_is_the_drawing, "loop.py", "\n".join(f"from afresh.core.x{n} import y" for n in range(12)) + "\n" + FULL_LOOP),
    (loop_is_the_drawing, "app/loop.py", "import json\n" + "x = 1\n" * 61),
    (tools_are_not_named_outside_tools, "actions/tools/x.py", "def f(action):\n    return action.tool == 'edit'"),
    (tools_are_not_named_outside_tools, "app/test_commands/x.py", "def f(word):\n    return word == 'test'"),
    (
        tools_are_not_named_outside_tools,
        "core/x.py",
        "FOLDERS = ('test', 'tests')\nWORDS = {'test'}\nACTION = Action('edit', {})",
    ),
    (tools_are_not_named_outside_tools, "core/x.py", "def f(parts):\n    return parts[0] in ('src', 'tests', 'test')"),
]


def test_a_broken_twin_is_caught():
    for rule, path, source in TWINS:
        assert list(rule(PurePosixPath(path), ast.parse(dedent(source)))), (named(rule), path, source)


def test_a_sound_source_passes():
    for rule, path, source in SOUND:
        assert not list(rule(PurePosixPath(path), ast.parse(dedent(source)))), (named(rule), path, source)


def test_each_rule_has_a_broken_twin():
    assert {named(rule) for rule, _, _ in TWINS} == {named(rule) for rule in RULES}


# What is written is used

USED_FROM_OUTSIDE = {
    "context/compaction/compact_memory.py: compact_by_rules": "bench/recorded.py",
    "core/known_secrets.py: forget_secrets": "secrets of one test are none in the next",
    "replay/__init__.py: extended_contexts": "bench/recorded.py, and scripts that judge prompts",
    "storage/sqlite/storage.py: open_sqlite_journal": "a journal alone, for tests and benches",
}
"""No module of afresh uses it, and the reason why it is there."""


def unused_names(files: Iterable[tuple[PurePosixPath, ast.Module]], texts: Iterable[str]) -> list[str]:
    """Functions, classes and constants of modules whose names occur once in the source. A decorator uses what it decorates."""
    seen = Counter(word for text in texts for word in re.findall(r"\w+", text))
    return [
        f"{path}: {name}"
        for path, tree in files
        for name, statement in named_statements([one for one in tree.body if not isinstance(one, ast.ClassDef)])
        if seen[name] == 1 and not getattr(statement, "decorator_list", None)
    ]


def test_what_is_written_is_used():
    known = {path: tree for path, tree in sources() if layer(path) != "sample"}
    reporters = PurePosixPath("sandbox/reporters")
    texts = [text for path, text, _ in list_sources() if path.parts[0] != SHIPPED_SAMPLE]
    texts += [page.read_text("utf-8") for page in ROOT.glob("web/templates/*.html")]
    found = unused_names([(path, tree) for path, tree in known.items() if path.parent != reporters], texts)
    assert sorted(set(found) - set(USED_FROM_OUTSIDE)) == []


def test_what_is_used_from_outside_is_there():
    names = {f"{path}: {name}" for path, tree in sources() for name, _ in named_statements(tree.body)}
    assert set(USED_FROM_OUTSIDE) <= names


def test_a_name_that_nothing_uses_is_found():
    source = "LIMIT = 1\nOTHER = 2\n\n\ndef use_limit():\n    return LIMIT\n"
    found = unused_names([(PurePosixPath("core/x.py"), ast.parse(source))], [source])
    assert found == ["core/x.py: OTHER", "core/x.py: use_limit"]


# The glossary


def glossary() -> dict[str, str]:
    rows = re.findall(r"^\| ([a-z][a-z ]*) \| (.+) \|$", (ROOT.parents[1] / "docs/glossary.md").read_text("utf-8"), re.MULTILINE)
    words = [(word, meaning) for word, meaning in rows if word != "word"]
    assert len(words) == len(dict(words)), "a word has two meanings"
    return dict(words)


def test_the_glossary_has_at_most_forty_words_of_one_line_each():
    assert 30 <= len(glossary()) <= 40
    assert [word for word, meaning in glossary().items() if len(meaning) > 110 or not meaning.endswith((".", "…"))] == []


def test_every_word_of_the_glossary_is_part_of_a_name_in_the_source():
    kinds = ast.FunctionDef | ast.ClassDef
    names = [node.name for _, tree in sources() for node in list_nodes(tree) if isinstance(node, kinds)]
    parts = "\n".join(
        [*(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower() for name in names), *(str(path) for path, _ in sources())]
    )
    assert [word for word in glossary() if not re.search(rf"(?:^|[_/]){word.replace(' ', '_')}", parts, re.MULTILINE)] == []


# Lists of exceptions contain nothing that is not needed


def test_every_text_that_is_called_foreign_is_read_by_an_expression():
    listed_files = {one.split(": ")[0] for one in FOREIGN_TEXT}
    read = {f"{path}: {name}" for path, tree in sources() if str(path) in listed_files for name in expressions(tree)}
    files = {one.split(": ")[0] for one in read}
    assert [listed for listed in FOREIGN_TEXT if listed not in read | files] == []


def test_every_other_vocabulary_has_a_word_that_a_tool_has():
    for place in OTHER_VOCABULARIES:
        assert any(list(tools_named(tree)) for path, tree in sources() if str(path).startswith(place)), place
