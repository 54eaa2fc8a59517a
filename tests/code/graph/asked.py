"""Queries about callers and callees on small trees that are written down in the tests."""

from textwrap import dedent

from trees import Texts

from afresh.code.graph import calls
from afresh.code.index.code_index import CodeIndex, build_code_index
from afresh.code.search_hit import SymbolUses
from afresh.core.symbol import SymbolPlace


def code(**texts: str) -> CodeIndex:
    """Build an index. Two underscores in a key stand for a slash: `pkg__a` is pkg/a.py, `pkg__init` its `__init__.py`."""
    named = {f"{key.replace('__', '/')}.py": dedent(text) for key, text in texts.items()}
    return build_code_index(Texts({path.replace("/init.py", "/__init__.py"): text for path, text in named.items()}))


def place(tree: CodeIndex, name: str, path: str = "") -> SymbolPlace:
    """Return the only place of exactly that name."""
    found = [each for each in tree.defining(name) if each.symbol.name == name and (not path or each.path == path)]
    assert len(found) == 1, found
    return found[0]


def callers(tree: CodeIndex, name: str, path: str = "") -> SymbolUses:
    return calls.find_callers(tree, place(tree, name, path))


def told(found: SymbolUses) -> list[str]:
    """Return uses as `file within kind`, with a question mark where only the name matches; without imports."""
    marks = {(call.path, call.within, call.kind.value, "" if call.sure else "?") for call in found if call.kind != "import"}
    return sorted(
        " ".join(part for part in (path.removesuffix(".py"), within, kind) if part) + mark for path, within, kind, mark in marks
    )
