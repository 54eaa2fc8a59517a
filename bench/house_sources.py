"""Figures of a source tree that can be read off its files: sizes, names, constants, fields, imports. Part of bench/house.py."""

import ast
import importlib.util
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

GATES = Path(__file__).parents[1] / "tests/test_architecture.py"
NOT_OURS = {"sample", "sample_runs"}
"""Package data to try afresh on."""
SMALL_FILE_LINES = 40
IRREGULAR_PARTICIPLES = (
    "begun bent borne bought bound broken brought built caught chosen dealt done drawn driven fallen fed felt forgotten "
    "fought found frozen given gone grown heard held hidden hung kept known laid led left lent lit lost made meant met paid "
    "proven rebuilt risen said seen sent shaken shot shown sold sought spent spoken stolen stood struck stuck sunk taken "
    "taught thought thrown told torn undone understood withdrawn withheld won wound worn woven written"
)
NO_PARTICIPLES = "bring embed exceed feed listing need ping proceed ring seed sing speed spring string"
OLD_EXPRESSIONS = {
    "engine/view.py": ("NUMBER", "CHANGED", "SUBJECT"),
    "engine/recall.py": ("PLACE",),
    "engine/whole.py": ("LISTED", "NUMBERED", "PLACE"),
    "engine/learn.py": ("SHOWN",),
    "engine/parts.py": ("NUMBERED",),
    "engine/page.py": ("STUB", "NUMBERED"),
    "engine/work.py": ("NUMBERED", "BEFORE", "COUNTED", "EXCERPT", "TOLD", "PLAIN", "ECHO", "IDS"),
    "engine/history.py": ("STEP",),
    "engine/sections.py": ("a step's outcome",),
    "engine/why.py": ("HEADING", "a heading of a file"),
    "insight/python.py": ("a suggestion's id",),
}
"""Expressions of the tree before the rooms that read text of our own making: the same ones that the gate finds today."""


@dataclass(frozen=True)
class Source:
    tree: ast.Module
    lines: int


Sources = dict[PurePosixPath, Source]
Figures = dict[str, float]


def read_sources(src: Path) -> Sources:
    paths = [PurePosixPath(file.relative_to(src).as_posix()) for file in sorted(src.rglob("*.py"))]
    texts = {path: (src / path).read_text("utf-8") for path in paths if path.parts[0] not in NOT_OURS}
    return {path: Source(ast.parse(text), len(text.splitlines())) for path, text in texts.items()}


def classes_in(tree: ast.Module) -> Iterator[ast.ClassDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def is_bare_participle(name: str) -> bool:
    word = name.strip("_")
    if "_" in word or word in NO_PARTICIPLES.split():
        return False
    return word in IRREGULAR_PARTICIPLES.split() or bool(re.fullmatch(r"[a-z]+(?:ed|ing)", word))


def count_sizes(sources: Sources) -> Figures:
    small = [path for path, source in sources.items() if path.name != "__init__.py" and source.lines < SMALL_FILE_LINES]
    return {"lines": sum(source.lines for source in sources.values()), "modules": len(sources), "small_files": len(small)}


def count_names(sources: Sources) -> Figures:
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    functions = [node.name for source in sources.values() for node in source.tree.body if isinstance(node, kinds)]
    participles = [name for name in functions if is_bare_participle(name)]
    files = Counter(name for source in sources.values() for name in {owner.name for owner in classes_in(source.tree)})
    return {
        "public_participles": sum(not name.startswith("_") for name in participles),
        "participles": len(participles),
        "shared_class_names": sum(count > 1 for count in files.values()),
    }


def count_packed_constants(sources: Sources) -> Figures:
    bodies = [owner.body for source in sources.values() for owner in (source.tree, *classes_in(source.tree))]
    packed = [
        node.targets[0].elts
        for body in bodies
        for node in body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple)
    ]
    return {"packed_constants": sum(map(len, packed)), "packed_statements": len(packed)}


def count_fields(sources: Sources) -> Figures:
    def fields_of(*names: str) -> int:
        """Of the class with one of these names; 0 if there is none."""
        owners = [owner for source in sources.values() for owner in classes_in(source.tree) if owner.name in names]
        return max((sum(isinstance(node, ast.AnnAssign) for node in owner.body) for owner in owners), default=0)

    return {"state_fields": fields_of("State"), "runtime_fields": fields_of("Runtime", "Agent")}


def module_name(path: PurePosixPath) -> str:
    inner = path.parent.parts if path.name == "__init__.py" else path.with_suffix("").parts
    return ".".join(("afresh", *inner))


def imported_names(node: ast.AST, path: PurePosixPath) -> list[str]:
    if isinstance(node, ast.Import):
        return [name.name for name in node.names]
    if not isinstance(node, ast.ImportFrom):
        return []
    package = ("afresh", *path.parent.parts)
    above = package[: len(package) - node.level + 1] if node.level else ()
    base = ".".join((*above, *([node.module] if node.module else [])))
    return [base, *(f"{base}.{name.name}" for name in node.names)]


def count_single_importers(sources: Sources) -> Figures:
    """A package's `__init__` has no place of its own in this count."""
    importers = {module_name(path): set[str]() for path in sources if path.name != "__init__.py"}
    for path, source in sources.items():
        for name in {name for node in ast.walk(source.tree) for name in imported_names(node, path)}:
            importers.get(name, set()).add(module_name(path))
    return {"one_importer": sum(len(users - {name}) == 1 for name, users in importers.items())}


def count_own_text_expressions(sources: Sources) -> Figures:
    """By the gate in tests/test_architecture.py, whether it lists them as exceptions or not."""
    if PurePosixPath("engine/loop.py") in sources:
        found = [(path, name) for path, names in OLD_EXPRESSIONS.items() for name in names]
    else:
        spec = importlib.util.spec_from_file_location("gates", GATES)
        assert spec and spec.loader
        gates = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(gates)
        found = [(path, wrong) for path, source in sources.items() for wrong in gates.no_own_text_is_parsed(path, source.tree)]
    return {"own_text_expressions": len(found), "own_text_files": len({path for path, _ in found})}


COUNTS: tuple[Callable[[Sources], Figures], ...] = (
    count_sizes,
    count_names,
    count_own_text_expressions,
    count_packed_constants,
    count_fields,
    count_single_importers,
)


def measure_sources(src: Path) -> Figures:
    sources = read_sources(src)
    return {name: value for count in COUNTS for name, value in count(sources).items()}
