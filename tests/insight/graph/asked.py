"""Questions about who calls whom, put to small trees that are written down in the tests."""

from textwrap import dedent

from trees import Texts

from afresh.domain.calls import Calls
from afresh.domain.code import Place
from afresh.insight import calls
from afresh.insight.code import Code, code_of


def code(**texts: str) -> Code:
    """Keys with two underscores for a slash: `pkg__a` is pkg/a.py, `pkg__init` its `__init__.py`."""
    named = {f"{key.replace('__', '/')}.py": dedent(text) for key, text in texts.items()}
    return code_of(Texts({path.replace("/init.py", "/__init__.py"): text for path, text in named.items()}))


def place(tree: Code, name: str, path: str = "") -> Place:
    """The one place of that very name."""
    found = [each for each in tree.defining(name) if each.symbol.name == name and (not path or each.path == path)]
    assert len(found) == 1, found
    return found[0]


def callers(tree: Code, name: str, path: str = "") -> Calls:
    return calls.callers(tree, place(tree, name, path))


def told(found: Calls) -> list[str]:
    """`file within kind`, with a question mark where only the name says so; without imports."""
    marks = {(call.path, call.within, call.kind.value, "" if call.sure else "?") for call in found if call.kind != "import"}
    return sorted(
        " ".join(part for part in (path.removesuffix(".py"), within, kind) if part) + mark for path, within, kind, mark in marks
    )


def called(tree: Code, name: str, path: str = "") -> list[str]:
    """What it calls: `name kind`."""
    found = calls.callees(tree, place(tree, name, path))
    return sorted({f"{call.target.symbol.name} {call.kind.value}{'' if call.sure else '?'}" for call in found})
