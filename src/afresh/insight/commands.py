"""Which command is likely to run a project's tests, by the files that are there."""

from pathlib import Path

SKIPPED = {"node_modules", ".venv", "venv", ".git", ".afresh", "build", "dist"}


def likely_checks(root: Path) -> tuple[str, ...]:
    """Empty when nothing is recognised: better no check than one that checks nothing."""
    if any(test_files(root)):
        return ("python -m pytest -q",)
    if (root / "Cargo.toml").is_file():
        return ("cargo test",)
    if (root / "go.mod").is_file():
        return ("go test ./...",)
    if (root / "package.json").is_file() and '"test"' in (root / "package.json").read_text("utf-8", "replace"):
        return ("npm test",)
    return ()


def test_files(root: Path, depth: int = 3):
    for path in sorted(root.iterdir()):
        if path.is_dir() and not path.is_symlink() and path.name not in SKIPPED and depth:
            yield from test_files(path, depth - 1)
        elif path.suffix == ".py" and (path.name.startswith("test_") or path.stem.endswith("_test")):
            yield path
