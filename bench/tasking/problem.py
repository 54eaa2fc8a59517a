"""A task as a folder holds it.

task.toml        goal, type, steps
project/         the repository as the agent finds it, with tests in tests/
hidden/          tests of the referee, put into tests/ when the work is over
solution.jsonl   replies that solve it, for the model `scripted`
"""

import os
import shutil
import subprocess
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

CHECK = "python3 -m unittest discover -q -s tests -t ."
IDENTITY = ("-c", "user.name=Bench", "-c", "user.email=bench@example.org", "-c", "init.defaultBranch=main")


@dataclass(frozen=True, slots=True)
class Problem:
    name: str
    folder: Path
    goal: str
    type: str
    steps: int

    @property
    def script(self) -> Path:
        return self.folder / "solution.jsonl"

    def hidden(self) -> dict[str, str]:
        return {f"tests/{path.name}": path.read_text("utf-8") for path in sorted((self.folder / "hidden").glob("*.py"))}

    def tests(self) -> dict[str, str]:
        """As they were given: a solution is not judged by tests that it has changed."""
        project = self.folder / "project"
        return {str(path.relative_to(project)): path.read_text("utf-8") for path in sorted((project / "tests").rglob("*.py"))}

    def copy(self, target: Path) -> Path:
        """A repository with one commit."""
        shutil.copytree(self.folder / "project", target, ignore=shutil.ignore_patterns("__pycache__"))
        (target / ".gitignore").write_text("__pycache__/\n")
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        for arguments in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "As it is")):
            subprocess.run(["git", *IDENTITY, *arguments], cwd=target, env=environment, check=True, capture_output=True)
        return target


def problems(folder: Path, only: Sequence[str] = ()) -> list[Problem]:
    found = [problem(path.parent) for path in sorted(folder.glob("*/task.toml"))]
    if missing := sorted(set(only) - {one.name for one in found}):
        raise SystemExit(f"{folder} has no {', '.join(missing)}; it has {', '.join(one.name for one in found) or 'none'}")
    return [one for one in found if not only or one.name in only]


def problem(folder: Path) -> Problem:
    held = tomllib.loads((folder / "task.toml").read_text("utf-8"))
    return Problem(folder.name, folder, held["goal"].strip(), held.get("type", "implement_feature"), held.get("steps", 30))
