"""Source archives of real packages as git repositories, each with an environment in which its own suite runs."""

import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

TIMEOUT = 600


@dataclass(frozen=True)
class Recipe:
    code: str
    """The folder or file that holds the package."""
    needs: tuple[str, ...] = ()
    """What its suite needs besides pytest."""
    arguments: tuple[str, ...] = ()
    """For pytest. Nothing is left out but what needs a network, or measures seconds and so fails on a busy machine."""


RECIPES = {
    "sqlparse": Recipe("sqlparse", (), ("-k", "not under_1s and not performance")),
    "voluptuous": Recipe("voluptuous"),
    "mistune": Recipe("src/mistune", (), ("-k", "not security and not inline_limits and not quadratically")),
    "prettytable": Recipe("src/prettytable", ("pytest-lazy-fixtures",)),
    "boltons": Recipe("boltons"),
    "tabulate": Recipe("tabulate", (), ("test",)),
    "markdown": Recipe("markdown", ("pyyaml",)),
    "beautifulsoup4": Recipe("bs4", ("lxml", "html5lib")),
    "tomlkit": Recipe("tomlkit", ("pyyaml",)),
    "click": Recipe("src/click"),
    "jinja2": Recipe("src/jinja2", ("trio",)),
    "toolz": Recipe("toolz"),
    "pyflakes": Recipe("pyflakes"),
    "marshmallow": Recipe("src/marshmallow", ("simplejson",)),
    "jsonschema": Recipe("jsonschema"),
    "arrow": Recipe("arrow", ("dateparser", "pytest-mock", "pytz", "simplejson"), ("-o", "addopts=")),
    "humanize": Recipe("src/humanize", ("freezegun",), ("--ignore=tests/test_benchmarks.py",)),
    "parso": Recipe("parso"),
}


def prepared(name: str, version: str, recipe: Recipe, folder: Path) -> Path:
    """As published, whatever an earlier run has left."""
    home = folder / name
    if not home.exists():
        download(f"{name}=={version}" if version else name, home)
    root = next(path for path in home.iterdir() if path.is_dir())
    if not (root / ".git").exists():
        git(root, "init", "-q")
        (root / ".git" / "info" / "exclude").write_text(".venv\n.afresh/\n__pycache__\n*.egg-info\n")
        git(root, "config", "user.name", "bench")
        git(root, "config", "user.email", "bench@example.org")
        git(root, "add", "-A", "-f", ".", ":!.venv")
        git(root, "commit", "-q", "-m", "As published")
        git(root, "tag", "published")
    if not (root / ".venv" / "ready").exists():
        run(root, sys.executable, "-m", "venv", ".venv")
        run(root, ".venv/bin/python", "-m", "pip", "install", "-q", "pytest", "-e", ".", *recipe.needs)
        (root / ".venv" / "ready").touch()
    again(root)
    return root


def again(root: Path) -> None:
    for tree in git(root, "worktree", "list", "--porcelain").splitlines():
        if tree.startswith("worktree ") and Path(tree[9:]) != root:
            git(root, "worktree", "remove", "--force", tree[9:])
    shutil.rmtree(root / ".afresh", ignore_errors=True)
    git(root, "reset", "-q", "--hard", "published")
    for branch in git(root, "branch", "--list", "afresh/*", "--format=%(refname:short)").split():
        git(root, "branch", "-q", "-D", branch)


def download(package: str, home: Path) -> None:
    home.mkdir(parents=True)
    name = re.split("==", package)[0]
    run(home, sys.executable, "-m", "pip", "download", "-q", "--no-binary", name, "--no-deps", "-d", ".", package)
    archive = next(path for path in home.iterdir() if path.is_file())
    if archive.suffix == ".zip":
        with zipfile.ZipFile(archive) as packed:
            packed.extractall(home)
    else:
        with tarfile.open(archive) as packed:
            packed.extractall(home, filter="data")


def suite(root: Path, recipe: Recipe) -> tuple[str, bool]:
    """The last line of the package's own tests, and whether they all passed."""
    command = [".venv/bin/python", "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *recipe.arguments]
    try:
        done = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        return f"no end after {TIMEOUT} s", False
    last = (done.stdout.strip().splitlines() or [done.stderr.strip()[-200:]])[-1]
    return re.sub(r" in [\d.]+s.*", "", last).strip("= "), done.returncode == 0


def changed_files(root: Path) -> list[str]:
    return git(root, "diff", "--name-only", "published", "HEAD").splitlines()


def git(root: Path, *arguments: str) -> str:
    return run(root, "git", *arguments)


def run(root: Path, *command: str) -> str:
    return subprocess.run(command, cwd=root, check=True, capture_output=True, text=True).stdout
