"""How the code is written, measured on all symbols and on a sample of files that does not change when others come or go."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256

from afresh.domain.code import Kind, Symbol
from afresh.errors import AfreshError
from afresh.insight.complexity import FunctionNode
from afresh.insight.fingerprint.facts import Style
from afresh.insight.fingerprint.layout import Sources
from afresh.insight.fingerprint.rounded import most_common, share
from afresh.insight.source import syntax

SAMPLE, LARGEST = 60, 120_000
"""Files that are looked at closely, and characters of the largest of them."""
SNAKE, CAPITAL, CAMEL = re.compile(r"_*[a-z0-9]+(?:_[a-z0-9]+)*_*"), re.compile(r"_*[A-Z][A-Za-z0-9]*"), re.compile(r"[a-z]+[A-Z]\w*")
MARKUP = {
    "Google style": re.compile(r"^\s*(?:Args|Returns|Raises|Yields|Attributes):\s*$", re.MULTILINE),
    "NumPy style": re.compile(r"^\s*(?:Parameters|Returns|Raises)\s*\n\s*-{4,}", re.MULTILINE),
    "Sphinx fields": re.compile(r"^\s*:(?:param|returns?|raises|type|rtype)\b", re.MULTILINE),
}
CALLABLE = (Kind.FUNCTION, Kind.METHOD)


@dataclass(frozen=True)
class Sample:
    """Trees and texts of the files with the lowest hashes of their paths: one file more changes at most one of them."""

    sources: Sources

    @cached_property
    def texts(self) -> tuple[tuple[str, str], ...]:
        chosen = sorted(self.sources.shipped, key=lambda path: sha256(path.encode("utf-8", "backslashreplace")).digest())[:SAMPLE]
        return tuple((path, text) for path in chosen if (text := self._text(path)))

    def _text(self, path: str) -> str:
        try:
            text = self.sources.code.text(path)
        except (OSError, UnicodeError, AfreshError):
            return ""
        return text if len(text) <= LARGEST else ""

    @cached_property
    def trees(self) -> tuple[tuple[str, ast.Module], ...]:
        found = ((text, syntax(text)) for path, text in self.texts if path.endswith(".py"))
        return tuple((text, tree) for text, tree in found if tree)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        return tuple(node for _, tree in self.trees for node in ast.walk(tree))

    @cached_property
    def functions(self) -> tuple[FunctionNode, ...]:
        return tuple(node for node in self.nodes if isinstance(node, FunctionNode))


def style(sources: Sources, sample: Sample) -> Style:
    symbols = [one for path in sources.shipped if path in sources.code.files for one in sources.code.reading(path).symbols]
    python = sources.main == "Python"
    return Style(
        naming=tuple(naming(symbols)),
        documented=documented(symbols, sample) if symbols else "",
        typed=typed(sample) if python and sample.functions else "",
        written=tuple(written(sample)),
        imports=tuple(imported(sources)) if python else (),
        errors=tuple(errors(sources, sample)) if python else (),
        habits=tuple(habits(sample)) if python else (),
    )


def naming(symbols: Sequence[Symbol]) -> Iterator[str]:
    """Only what is nearly always so is a rule."""
    for kinds, noun in ((CALLABLE, "functions"), ((Kind.CLASS, Kind.INTERFACE), "types")):
        names = [one.short for one in symbols if one.kind in kinds and len(one.short) > 2]
        if len(names) < 5:
            continue
        fits = {form: sum(bool(pattern.fullmatch(name)) for name in names) for form, pattern in FORMS.items()}
        form = min(fits, key=lambda form: (-fits[form], form))
        if fits[form] >= 0.9 * len(names):
            yield f"{form} {noun}"
        elif noun == "functions":
            yield f"mixed names of functions ({share(fits[form], len(names))} {form})"


FORMS = {"snake_case": SNAKE, "CapWords": CAPITAL, "camelCase": CAMEL}


def documented(symbols: Sequence[Symbol], sample: Sample) -> str:
    """Of what is public: functions, methods and classes that say something of themselves."""
    public = [one for one in symbols if one.public and one.kind is not Kind.CONSTANT and not one.short.startswith("__")]
    if len(public) < 5:
        return ""
    said = share(sum(bool(one.doc) for one in public), len(public))
    if said == "none":
        return "public names are not documented"
    return f"{said} public names are documented{form(sample)}"


def form(sample: Sample) -> str:
    """The convention of docstrings, if one prevails."""
    docs = [ast.get_docstring(node, clean=False) or "" for node in sample.nodes if isinstance(node, FunctionNode | ast.ClassDef)]
    docs = [doc for doc in docs if doc]
    counts = {name: sum(bool(pattern.search(doc)) for doc in docs) for name, pattern in MARKUP.items()}
    marked = sum(counts.values())
    if len(docs) < 8:
        return ""
    best = min(counts, key=lambda name: (-counts[name], name))
    if marked >= 0.15 * len(docs) and counts[best] >= 0.7 * marked:
        return f", {best}"
    return ", in plain prose" if marked < 0.08 * len(docs) else ""


def typed(sample: Sample) -> str:
    whole = [one for one in sample.functions if annotated(one)]
    said = share(len(whole), len(sample.functions))
    return f"{said} functions are fully annotated" if said != "none" else "no type annotations"


def annotated(function: FunctionNode) -> bool:
    """All but `self`; a constructor need not say what it returns."""
    given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    given += [one for one in (function.args.vararg, function.args.kwarg) if one]
    wanted = [one for number, one in enumerate(given) if not (number == 0 and one.arg in ("self", "cls", "mcs", "metacls"))]
    answered = function.returns is not None or (function.name == "__init__" and bool(wanted))
    return answered and all(one.annotation for one in wanted)


def written(sample: Sample) -> Iterator[str]:
    indents = [indent for _, text in sample.texts if (indent := indentation(text))]
    if indents:
        yield f"indented by {most_common(indents)}"
    marks = [mark for text, tree in sample.trees for mark in quotes(text, tree)]
    if len(marks) >= 20:
        double = marks.count('"')
        kind = share(max(double, len(marks) - double), len(marks))
        yield f"{'double' if 2 * double > len(marks) else 'single'} quotes" if kind in ("nearly all", "most") else "mixed quotes"


def indentation(text: str) -> str:
    steps = re.findall(r"^(?:\S.*[:{(\[]\s*\n)(\t+|  +)(?=\S)", text, re.MULTILINE)
    found = most_common("tabs" if step.startswith("\t") else f"{len(step)} spaces" for step in steps)
    return found if found in ("tabs", "2 spaces", "4 spaces", "8 spaces", "3 spaces") else ""


def quotes(text: str, tree: ast.Module) -> Iterator[str]:
    """The mark that each plain string begins with; not of those that hold one, nor of docstrings."""
    lines = text.split("\n")
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and not {"'", '"'} & {*node.value}:
            line = lines[node.lineno - 1] if node.lineno <= len(lines) else ""
            said = line.encode()[node.col_offset :].decode("utf-8", "replace").lstrip("rbufRBUF")
            if said[:1] in ("'", '"') and said[:3] not in ("'''", '"""'):
                yield said[0]


def imported(sources: Sources) -> Iterator[str]:
    """Between files of the project."""
    own = {name.rpartition("/")[2] for name in sources.roots}
    modules = [
        one.module
        for path in sources.shipped
        if path in sources.code.files
        for one in sources.code.reading(path).imports
        if one.module.startswith(".") or one.module.split(".")[0] in own
    ]
    relative = sum(module.startswith(".") for module in modules)
    if len(modules) >= 8:
        kind = share(max(relative, len(modules) - relative), len(modules))
        word = "relative" if 2 * relative > len(modules) else "absolute"
        yield f"{word} imports" if kind in ("nearly all", "most") else "absolute and relative imports"


def errors(sources: Sources, sample: Sample) -> Iterator[str]:
    """The exceptions of the project's own that others derive from, and what is raised."""
    classes = {
        one.short: (path, one)
        for path in reversed(sources.shipped)
        if path in sources.code.files
        for one in sources.code.reading(path).symbols
        if one.kind is Kind.CLASS and one.bases
    }
    bases = [base.rpartition(".")[2] for _, one in classes.values() for base in one.bases]
    roots = [
        name
        for name, (_, one) in classes.items()
        if bases.count(name) >= 2 and any(re.fullmatch(r"(?:\w+\.)?(?:Exception|\w*Error)", base) for base in one.bases)
        and not any(base.rpartition(".")[2] in classes for base in one.bases)
    ]  # fmt: skip
    raised = [name for node in sample.nodes if isinstance(node, ast.Raise) and (name := raised_name(node))]
    own = sum(name in classes for name in raised)
    if roots:
        chosen = sorted(roots, key=lambda name: (-bases.count(name).bit_length(), name))[0]
        yield f"own exceptions derive from {chosen} ({classes[chosen][0]})"
    if len(raised) >= 10:
        yield f"{share(own, len(raised))} of what is raised is the project's own" if own else "built-in exceptions are raised"


def raised_name(node: ast.Raise) -> str:
    """What is raised by its name; not what is raised again."""
    raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
    if isinstance(raised, ast.Attribute):
        return raised.attr
    return raised.id if isinstance(raised, ast.Name) and raised.id[:1].isupper() else ""


def habits(sample: Sample) -> Iterator[str]:
    classes = [node for node in sample.nodes if isinstance(node, ast.ClassDef)]
    marked = [ast.unparse(one) for node in classes for one in node.decorator_list]
    data = [mark for mark in marked if re.match(r"(?:\w+\.)?(?:dataclass|define|frozen|attrs)\b", mark)]
    if len(classes) >= 5 and len(data) * 2 > len(classes):
        frozen = sum("frozen" in mark for mark in data)
        yield f"{share(len(data), len(classes))} classes are {'frozen ' if frozen * 2 > len(data) else ''}dataclasses"
    waiting = sum(isinstance(node, ast.AsyncFunctionDef) for node in sample.functions)
    if len(sample.functions) >= 10 and waiting * 8 > len(sample.functions):
        yield f"{share(waiting, len(sample.functions))} functions are async"
    if len(sample.functions) >= 10:
        lengths = sorted((one.end_lineno or one.lineno) - one.lineno + 1 for one in sample.functions)
        yield f"half of the functions have at most {bound(lengths[len(lengths) // 2])} lines"


def bound(lines: int) -> int:
    return next((step for step in (5, 10, 20, 30, 50, 80) if lines <= step), 100)
