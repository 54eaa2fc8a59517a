"""Describes code style by all symbols and by a sample of files that is stable when other files are added or removed."""

import builtins
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from afresh.code.project_profile.source_files import (
    PythonFileMetrics,
    SourceFiles,
    choose_stable_sample,
    detect_indentation,
    measure_python_file,
)
from afresh.code.project_profile.traits import CodeStyle, find_most_common, share_to_words
from afresh.core.symbol import Symbol, SymbolKind
from afresh.errors import AfreshError

MAX_FILES_INDEXED = 400
MAX_FILES_READ = 100
MAX_STYLE_FILE_CHARACTERS = 120_000
"""Limits: files whose symbols are used, files that are read, and characters of each."""
EXCEPTION_FILE_NAME = re.compile(r"err|exc|fault", re.IGNORECASE)
"""Matches names of files that may define exceptions."""
NAME_FORMS = {
    "snake_case": re.compile(r"_*[a-z0-9]+(?:_[a-z0-9]+)*_*"),
    "CapWords": re.compile(r"_*[A-Z][A-Za-z0-9]*"),
    "camelCase": re.compile(r"_*[a-z]+(?:[A-Z]\w*)?"),
}
GO_NAME_FORMS = {"MixedCaps": re.compile(r"[A-Za-z][A-Za-z0-9]*"), "snake_case": NAME_FORMS["snake_case"]}
"""In Go the first letter says whether a name is exported."""
BUILTIN_EXCEPTIONS = frozenset(
    name for name, value in vars(builtins).items() if isinstance(value, type) and issubclass(value, BaseException)
)
CALLABLE_KINDS = (SymbolKind.FUNCTION, SymbolKind.METHOD)
PREVAILING_SHARES = ("nearly all", "most")


@dataclass(frozen=True)
class FileSample:
    """The files with the lowest hashes of their paths: adding a file changes at most one of them."""

    sources: SourceFiles
    paths: tuple[str, ...]

    @cached_property
    def texts(self) -> tuple[tuple[str, str], ...]:
        return tuple(
            (path, text)
            for path in choose_stable_sample(self.paths, MAX_FILES_READ)
            if (text := read_source_text(self.sources, path))
        )

    @cached_property
    def measured(self) -> tuple[PythonFileMetrics, ...]:
        return tuple(measure_python_file(text) for path, text in self.texts if path.endswith(".py"))

    def sum(self, name: str) -> int:
        return sum(getattr(one, name) for one in self.measured)


def read_source_text(sources: SourceFiles, path: str, largest: int = MAX_STYLE_FILE_CHARACTERS) -> str:
    """Return the text; empty if it can't be read or is too large."""
    try:
        text = sources.code.text(path)
    except (OSError, UnicodeError, AfreshError):
        return ""
    return text if len(text) <= largest else ""


def measure_style(sources: SourceFiles) -> CodeStyle:
    sample = FileSample(sources, sources.shipped)
    looked = {
        *choose_stable_sample(sources.understood, MAX_FILES_INDEXED),
        *(path for path in sources.understood if EXCEPTION_FILE_NAME.search(path)),
    }
    classes = [(path, one) for path in sorted(looked) for one in sources.code.reading(path).symbols]
    symbols = [one for _, one in classes]
    python = sources.main == "Python"
    return CodeStyle(
        naming=tuple(describe_naming(symbols, GO_NAME_FORMS if sources.main == "Go" else NAME_FORMS)),
        documented=describe_documentation([one for one in symbols if is_exposed_symbol(one, sources.main)], sample),
        typed=describe_annotations(sample) if python else "",
        written=tuple(describe_formatting(sample)),
        imports=tuple(describe_imports(sources)) if python else (),
        errors=tuple(describe_exceptions(classes, sample)) if python else (),
        habits=tuple(describe_code_habits(sample)) if python else (),
    )


def describe_naming(symbols: Sequence[Symbol], forms: Mapping[str, re.Pattern[str]]) -> Iterator[str]:
    """Yield a rule for each kind of symbol whose names nearly always have one form."""
    for kinds, noun in ((CALLABLE_KINDS, "functions"), ((SymbolKind.CLASS, SymbolKind.INTERFACE), "types")):
        names = [one.short for one in symbols if one.kind in kinds and len(one.short) > 2]
        if len(names) < 5:
            continue
        fits = {form: sum(bool(pattern.fullmatch(name)) for name in names) for form, pattern in forms.items()}
        form = max(fits, key=lambda form: fits[form])
        if fits[form] >= 0.9 * len(names):
            yield f"{form} {noun}"
        elif noun == "functions":
            yield f"mixed names of functions ({share_to_words(fits[form], len(names))} {form})"


def describe_documentation(symbols: Sequence[Symbol], sample: FileSample) -> str:
    """Return how many public functions, methods and classes are documented."""
    public = [one for one in symbols if one.kind is not SymbolKind.CONSTANT and not one.short.startswith("__")]
    if len(public) < 5:
        return ""
    said = share_to_words(sum(bool(one.doc) for one in public), len(public))
    return f"{said} of the public names are documented{describe_docstring_convention(sample)}"


def is_exposed_symbol(symbol: Symbol, language: str) -> bool:
    """Whether a symbol is public in its language: by a keyword of the signature, or by its name."""
    if language in ("Rust", "Java", "C#"):
        return symbol.signature.startswith("pub ") or re.search(r"\bpublic\b", symbol.signature) is not None
    if language in ("TypeScript", "JavaScript"):
        inner = symbol.kind is SymbolKind.METHOD and not re.match(r"(?:private|protected)\b|#", symbol.signature)
        return inner or symbol.signature.startswith("export ")
    return symbol.short[:1].isupper() if language == "Go" else symbol.public


def describe_docstring_convention(sample: FileSample) -> str:
    """Return the prevailing convention of docstrings, if there is one."""
    docs = sample.sum("docs")
    counts: dict[str, int] = {}
    for one in sample.measured:
        for name, number in one.marked:
            counts[name] = counts.get(name, 0) + number
    marked = sum(counts.values())
    if docs < 8:
        return ""
    best = min(counts, key=lambda name: (-counts[name], name))
    if marked >= 0.15 * docs and counts[best] >= 0.7 * marked:
        return f", {best}"
    return ", in plain prose" if marked < 0.08 * docs else ""


def describe_annotations(sample: FileSample) -> str:
    functions = sample.sum("functions")
    return f"{share_to_words(sample.sum('annotated'), functions)} of the functions are fully annotated" if functions >= 5 else ""


def describe_formatting(sample: FileSample) -> Iterator[str]:
    indents = [indent for _, text in sample.texts if (indent := detect_indentation(text))]
    if indents:
        yield f"indented by {find_most_common(indents)}"
    double, single = sample.sum("double"), sample.sum("single")
    if double + single >= 20:
        prevails = share_to_words(max(double, single), double + single) in PREVAILING_SHARES
        yield f"{'double' if double > single else 'single'} quotes" if prevails else "mixed quotes"


def describe_imports(sources: SourceFiles) -> Iterator[str]:
    """Yield how files of the project import each other."""
    own = {name.rpartition("/")[2] for name in sources.roots}
    modules = [one.module for path in sources.understood for one in sources.code.imported_by(path)]
    inner = [module for module in modules if module.startswith(".") or module.split(".")[0] in own]
    relative = sum(module.startswith(".") for module in inner)
    if len(inner) >= 8:
        prevails = share_to_words(max(relative, len(inner) - relative), len(inner)) in PREVAILING_SHARES
        word = "relative" if 2 * relative > len(inner) else "absolute"
        yield f"{word} imports" if prevails else "absolute and relative imports"


def describe_exceptions(symbols: Sequence[tuple[str, Symbol]], sample: FileSample) -> Iterator[str]:
    """Yield the project's exception class that most others derive from, and what is raised."""
    classes = {one.short: (path, one) for path, one in reversed(symbols) if one.kind is SymbolKind.CLASS and one.bases}
    bases = [base.rpartition(".")[2] for _, one in classes.values() for base in one.bases]
    roots = {
        name: bases.count(name)
        for name, (_, one) in classes.items()
        if bases.count(name) >= 2 and has_foreign_exception_base(one.bases, classes)
    }
    if roots:
        chosen = min(roots, key=lambda name: (-roots[name].bit_length(), name))
        yield f"own: {chosen} and what derives from it ({classes[chosen][0]})"
    raised = [name for one in sample.measured for name in one.raised]
    if len(raised) >= 10:
        yield f"{share_to_words(sum(name in BUILTIN_EXCEPTIONS for name in raised), len(raised))} of what is raised is built in"


def has_foreign_exception_base(bases: Iterable[str], own: Iterable[str]) -> bool:
    """Whether it derives from an exception class outside the project."""
    names = [base.rpartition(".")[2] for base in bases]
    return any(re.fullmatch(r"(?:Base)?Exception|\w*Error", name) for name in names) and not any(name in own for name in names)


def describe_code_habits(sample: FileSample) -> Iterator[str]:
    classes, data, functions = sample.sum("classes"), sample.sum("data"), sample.sum("functions")
    if classes >= 5 and data * 2 > classes:
        frozen = "frozen " if sample.sum("frozen") * 2 > data else ""
        yield f"{share_to_words(data, classes)} of the classes are {frozen}dataclasses"
    if functions < 10:
        return
    if sample.sum("waiting") * 8 > functions:
        yield f"{share_to_words(sample.sum('waiting'), functions)} of the functions are async"
    lengths = sorted(length for one in sample.measured for length in one.lengths)
    yield f"half of the functions have at most {round_up_lines(lengths[len(lengths) // 2])} lines"


def round_up_lines(lines: int) -> int:
    return next((step for step in (5, 10, 20, 30, 50, 80) if lines <= step), 100)


TEST_FEATURES = {
    "parametrize": "parametrised", "fixture": "with fixtures of their own", "tmp_path": "with tmp_path",
    "given": "property tests", "mock": "with mocks", "patch": "with patches", "Mock": "with mocks",
    "monkeypatch": "with monkeypatch",
}  # fmt: skip


def measure_test_style(sources: SourceFiles) -> tuple[str, ...]:
    return tuple(describe_test_habits(sources)) if sources.main == "Python" else ()


def describe_test_habits(sources: SourceFiles) -> Iterator[str]:
    """Yield how tests are written, by their names and by what their files use."""
    files = choose_stable_sample(
        (path for path in sources.tests if path in sources.known and path.endswith(".py")), MAX_TEST_FILES
    )
    tests = [
        one
        for path in files
        for one in sources.code.reading(path).symbols
        if one.short.startswith("test") and one.kind in TEST_KINDS
    ]
    if len(tests) < 3:
        return
    functions = sum(one.kind is SymbolKind.FUNCTION for one in tests)
    yield (
        "functions, not classes"
        if functions >= 0.9 * len(tests)
        else "methods of classes"
        if functions <= 0.1 * len(tests)
        else "functions and classes"
    )
    words = sorted(one.short.count("_") for one in tests)
    if words[len(words) // 2] >= 5:
        yield "named after behaviour in whole phrases"
    bases = [base for path in files for one in sources.code.reading(path).symbols for base in one.bases]
    if any(base.endswith("TestCase") for base in bases):
        yield "unittest.TestCase in some" if functions else "unittest.TestCase"
    holding = [path for path in files if sources.code.reading(path).symbols]
    told = dict[str, str]()
    for name, words_of in TEST_FEATURES.items():
        users = sum(name in sources.code.reading(path).mentions for path in holding)
        if users * 8 >= len(holding):
            told.setdefault(words_of, f"{words_of} in {share_to_words(users, len(holding))} of the files")
    yield from told.values()


MAX_TEST_FILES = 120
"""Test files that are read."""
TEST_KINDS = (SymbolKind.FUNCTION, SymbolKind.METHOD)
