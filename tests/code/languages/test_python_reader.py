"""Compares the reader with `ast`."""

import ast
import random
import sysconfig
from collections.abc import Iterator
from keyword import kwlist
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.code.complexity import FunctionNode, list_statement_bodies
from afresh.code.languages import registry as languages
from afresh.code.languages.python import read_source
from afresh.code.python_source import parse_syntax_tree
from afresh.core.symbol import ImportedModule, SymbolKind

SOFT = {"match", "case", "type"}
"""Words that are keywords only in some places."""


def defined(statements: list[ast.stmt], prefix: str = "", seen: bool = True) -> Iterator[tuple[str, int, int, str]]:
    """Yield name, first and last line and documentation of each definition."""
    for node in statements:
        end = node.end_lineno or node.lineno
        if isinstance(node, FunctionNode | ast.ClassDef):
            first = min([node.lineno, *(one.lineno for one in node.decorator_list)])
            yield prefix + node.name, first, end, (ast.get_docstring(node) or "").strip().partition("\n")[0].strip()
            yield from defined(node.body, f"{prefix}{node.name}.", isinstance(node, ast.ClassDef))
            continue
        if seen and isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
                yield from ((prefix + name.id, node.lineno, end, "") for name in names if isinstance(name, ast.Name))
        for body in list_statement_bodies(node):
            yield from defined(body, prefix, seen)


def imported(tree: ast.Module) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or ""), node.lineno


def mentioned(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        for name in ("id", "attr", "name", "arg", "asname", "rest"):
            value = getattr(node, name, None)
            if isinstance(value, str) and value != "*":
                yield from value.split(".")
        if isinstance(node, ast.ImportFrom) and node.module:
            yield from node.module.split(".")
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.MatchClass):
            yield from node.kwd_attrs


def last_line_of_code(text: str, end: int) -> int:
    """A comment at the end of a body belongs to it, of which `ast` knows nothing."""
    lines = text.split("\n")
    while lines[end - 1].lstrip().startswith("#") or not lines[end - 1].strip():
        end -= 1
    return end


def agrees(text: str) -> bool:
    """Whether the text parses; if it does, assert that the reader found the same as `ast`."""
    tree = parse_syntax_tree(text)
    if tree is None:
        return False
    found = read_source("a.py", text)
    ends = {one: last_line_of_code(text, one.end) for one in found.symbols}
    assert [(one.name, one.line, ends[one], one.doc) for one in found.symbols] == list(defined(tree.body))
    assert sorted((one.module, one.line) for one in found.imports) == sorted(imported(tree))
    assert set(found.mentions) - SOFT == set(mentioned(tree)) - set(kwlist) - SOFT
    assert not found.fault
    return True


def library() -> list[Path]:
    """Return a few files of the standard library, the same in each run."""
    found = sorted(Path(sysconfig.get_path("stdlib")).glob("*.py"))
    return random.Random(4).sample([file for file in found if file.stat().st_size < 40_000], 50)


def test_it_agrees_with_ast_on_the_standard_library():
    assert sum(agrees(file.read_text("utf-8", "replace").replace("\r\n", "\n")) for file in library()) == 50


NAMES = st.sampled_from(["a", "value", "Tree", "_x", "parse_all", "f", "rb"])
STRINGS = st.sampled_from(
    ['"text"', "'it\\'s'", '"""doc\n  more"""', "r'\\d'", 'f"{a!r:>{value}} {{no}}"', 'b"x"', "'#'", '""', "'''q'''"]
)
VALUES = st.recursive(
    NAMES | STRINGS | st.sampled_from(["1", "0x1F", "1_000", "1e5", "None", "..."]),
    lambda inner: st.one_of(
        st.builds("({},\n {})".format, inner, inner),
        st.builds("[{}]  ".format, inner),
        st.builds("{{{}: {}}}".format, inner, inner),
        st.builds("{}({}=1,\n\n    # note (\n  b={})".format, NAMES, NAMES, inner),
        st.builds("lambda x={}: x".format, inner),
        st.builds("{}.{}".format, NAMES, NAMES),
    ),
    max_leaves=6,
)


@st.composite
def programs(draw: st.DrawFn, depth: int = 0) -> str:
    """Statements of all kinds, with comments, blank lines and strings in difficult places."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        lines += draw(st.lists(st.sampled_from(["", "# class Not: (", "    # deep", "#"]), max_size=1))
        lines.append(draw(simple() | compound(depth) if depth < 3 else simple()))
    return "\n".join(lines)


def simple():
    return st.one_of(
        st.builds("{} = {}".format, NAMES, VALUES),
        st.builds("{}: {} = {}".format, NAMES, NAMES, VALUES),
        st.builds("{}, {} = a".format, NAMES, NAMES),
        st.builds("{} = {} = {}".format, NAMES, NAMES, VALUES),
        st.builds("{}.{} = {}".format, NAMES, NAMES, VALUES),
        st.builds("{} += {}".format, NAMES, VALUES),
        st.builds("assert {} == {}  # why".format, VALUES, NAMES),
        st.builds("import {} as {}, os.path".format, NAMES, NAMES),
        st.builds("from ..{} import ({} as {},  # one\n    {},\n)".format, NAMES, NAMES, NAMES, NAMES),
        st.builds("from . import *".format),
        st.builds("{} = 1; {} = 2".format, NAMES, NAMES),
        st.builds("{} = 1 + \\\n  {}".format, NAMES, NAMES),
        STRINGS,
        VALUES,
    )


@st.composite
def compound(draw: st.DrawFn, depth: int) -> str:
    header = draw(
        st.one_of(
            st.builds("def {}(self, *, a={},\n        b: {} = 1) -> {}:".format, NAMES, VALUES, NAMES, NAMES),
            st.builds("@{}({})\n@a\nasync def {}({}):  # why".format, NAMES, VALUES, NAMES, NAMES),
            st.builds("class {}({}, metaclass={}):".format, NAMES, NAMES, NAMES),
            st.builds("class {}(Protocol[{}]):".format, NAMES, NAMES),
            st.builds("class {}:".format, NAMES),
            st.builds("if {} == {}:".format, NAMES, VALUES),
            st.builds("with {} as {}:".format, VALUES, NAMES),
            st.builds("for {} in {}:".format, NAMES, VALUES),
        )
    )
    doc = draw(st.sampled_from(["", "", '"""Does it.\n\n    Well.\n    """\n', "'one' 'two'\n", "r'raw'\n"]))
    body = "".join(f"    {line}\n" if line else "\n" for line in (doc + draw(programs(depth + 1)) + "\npass").split("\n"))
    if draw(st.integers(0, 9)) == 0:
        return f"{header.split(chr(10))[-1].rpartition('  #')[0] or header.split(chr(10))[-1]} pass"
    return header + "\n" + body


@given(programs())
def test_it_agrees_with_ast_on_what_is_made_up(text: str):
    agrees(text)
    agrees(text + "\n")


@given(st.text(alphabet="def class(:)[]{}'\"#\\\n\t a=.,f;@é\0\1\f\r", max_size=80))
def test_any_text_gets_a_reading_of_all_its_lines(text: str):
    reading, said = languages.read_source_and_words("a.py", text)
    assert reading.lines == len(text.replace("\r\n", "\n").replace("\r", "\n").removesuffix("\n").split("\n")) or not text
    assert all(count > 0 for count in said.values())
    assert reading == read_source("a.py", text)


@pytest.mark.parametrize(
    "text", ["def f(:\n", "x = (1\n", "x = 'a\n", "class A\n    pass\n", "if x\n    y\n", ")\n", "}}} ((( ]\n"]
)
def test_what_has_lost_its_shape_is_told(text: str):
    assert read_source("a.py", text).fault == "does not parse"


def test_a_broken_file_keeps_its_symbols():
    add = "    def add(self, item):\n        x = (1\n        pass\n"
    text = f"import os\n\nclass Cart:\n{add}\n    def total(self):\n        return 1\n\nRATE = 3\n"
    reading = read_source("a.py", text)
    assert reading.fault == "does not parse"
    assert [one.name for one in reading.symbols] == ["Cart", "Cart.add", "Cart.total", "RATE"]
    assert reading.imports[0].module == "os"


@pytest.mark.parametrize(
    "text", ["if x: import os\n", "a = 1; import os\n", "if x:\n\timport os\n", "import \\\n  os\n", "\fimport os\n"]
)
def test_what_is_unusual_is_read_all_the_same(text: str):
    assert read_source("a.py", text).imports[0].module == "os"


def test_a_reading_says_what_a_reader_would_write_down():
    reading = read_source(
        "shop.py",
        '"""Carts.\n\nMore."""\nimport a.b as c\nfrom ..d import (\n    e as f,  # why\n)\nRATE = 3\n\n'
        "@c.wrap(\n    1\n)\nclass Cart(Base[int], meta=M):\n    def total(\n        self,  # not a word\n"
        '        text: str = "a  (b",\n    ) -> int:\n        """Adds up."""\n        return 1\n\n'
        'if __name__ == "__main__":\n    pass\n',
    )
    rate, cart, total = reading.symbols
    assert (reading.entry, reading.lines) == ('if __name__ == "__main__"', 22)
    assert reading.imports == (ImportedModule("a.b", 4, (), "c"), ImportedModule("..d", 5, (("e", "f"),)))
    assert (rate.kind, rate.signature, rate.line) == (SymbolKind.CONSTANT, "RATE = 3", 8)
    assert (cart.name, cart.line, cart.end, cart.bases) == ("Cart", 10, 19, ("Base[int]",))
    assert cart.signature == "class Cart(Base[int], meta=M)"
    assert total.signature == 'def total(self, text: str = "a (b") -> int'
    assert (total.name, total.kind, total.doc, total.end) == ("Cart.total", SymbolKind.METHOD, "Adds up.", 19)
    assert "word" not in reading.mentions


@pytest.mark.parametrize(
    "text",
    ["(" * 90_000 + ")" * 90_000, 'f"' + "{a:" * 5_000 + "}" * 5_000 + '"', '"""' + "\\" * 99_999, "'" * 99_999, "[" * 99_999,
     "x = " + "-" * 90_000 + "1\n", "a.b" * 60_000, '"""\\' + "(" * 9_000 + '"""'],
)  # fmt: skip
def test_what_is_made_to_hurt_is_read_in_the_end(text: str):
    assert read_source("a.py", text).language == "python"


def test_names_inside_f_strings_are_code():
    assert set(read_source("a.py", 'print(f"{one!r:>{two}} {{three}} {four[0]:%Y}")').mentions) == {"print", "one", "two", "four"}


def test_the_letters_before_a_string_are_no_name():
    assert read_source("a.py", 'x = rb"1" if"a" else f""').mentions == ("x",)
    assert "f" in read_source("a.py", 'f = f"1"').mentions


def test_a_generated_file_is_marked_as_one_and_one_of_endless_lines_not_read():
    made = "# -*- coding: utf-8 -*-\n# Generated by the protocol buffer compiler.  DO NOT EDIT!\nX = 1\n"
    assert languages.read_source("a_pb2.py", made).fault == "generated"
    assert not languages.read_source("a.py", "# Tells how generated files are found.\nX = 1\n").fault
    assert languages.read_source("a.py", "X = [" + "1, " * 9_000 + "]\n").fault.startswith("generated")
    assert languages.read_source("a.py", "X = 1\n" * 200_000).fault == "1,200,000 characters, too large"
