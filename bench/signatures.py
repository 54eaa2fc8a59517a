"""What a package offers its users, read by `ast`: public functions, methods and classes with their parameters."""

import ast
from pathlib import Path


def public_signatures(root: Path, code: str) -> dict[str, str]:
    place = root / code
    files = sorted(place.rglob("*.py")) if place.is_dir() else [place]
    found: dict[str, str] = {}
    for file in files:
        tree = ast.parse(file.read_text(encoding="utf-8"))
        found.update(_of(tree.body, f"{file.relative_to(root)}:"))
    return found


def _of(statements: list[ast.stmt], prefix: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for statement in statements:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef) and _public(statement.name):
            returns = ast.unparse(statement.returns) if statement.returns else ""
            decorators = ",".join(map(ast.unparse, statement.decorator_list))
            kind = type(statement).__name__
            found[prefix + statement.name] = f"{kind} ({ast.unparse(statement.args)}) -> {returns} @{decorators}"
        elif isinstance(statement, ast.ClassDef) and _public(statement.name):
            found[prefix + statement.name] = f"class ({', '.join(map(ast.unparse, statement.bases))})"
            found.update(_of(statement.body, f"{prefix}{statement.name}."))
        elif isinstance(statement, ast.If | ast.Try | ast.With):
            found.update(_of([*statement.body, *getattr(statement, "orelse", [])], prefix))
    return found


def _public(name: str) -> bool:
    return not name.startswith("_") or (name.startswith("__") and name.endswith("__"))
