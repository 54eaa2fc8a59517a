"""The source of afresh, read and parsed once for all rules that are asked of it in a process."""

import ast
import gc
from functools import cache
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2] / "src" / "afresh"


@cache
def list_sources() -> list[tuple[PurePosixPath, str, ast.Module]]:
    """The path of each module within afresh, its text and its tree."""
    gc.disable()  # the trees are a million objects that stay: to scan them, now and in later tests, takes longer than to parse
    texts = [(PurePosixPath(file.relative_to(ROOT).as_posix()), file.read_text("utf-8")) for file in sorted(ROOT.rglob("*.py"))]
    parsed = [(path, text, ast.parse(text)) for path, text in texts]
    for _, _, tree in parsed:
        list_nodes(tree)
    gc.freeze()
    gc.enable()
    return parsed


@cache
def list_nodes(tree: ast.Module) -> list[ast.AST]:
    """Kept, since nearly every rule asks for all nodes of all files, and to walk a tree takes longer than to apply a rule."""
    return list(ast.walk(tree))
