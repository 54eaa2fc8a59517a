"""The wheel that people install, in an environment and a home that have nothing else, used as its first user would."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import venv
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email.parser import Parser
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from urllib.request import HTTPCookieProcessor, build_opener

import pytest

from afresh.core.action import Action
from afresh.core.reply import Reply
from afresh.core.usage import Usage
from support.model_server import ModelServer

ROOT = Path(__file__).parents[1]
PLAIN = {"anthropic", "openai", "genai-prices", "tree-sitter", "tree-sitter-typescript", "tree-sitter-rust"}
GIT = ("git", "-c", "user.name=t", "-c", "user.email=t@t")
CALC = "def double(x):\n    return x + 2\n"
TEST = (
    "import unittest\nfrom calc import double\n\n\nclass T(unittest.TestCase):\n"
    "    def test_it(self):\n        self.assertEqual(double(5), 10)\n"
)
SAYS = Reply("Here.", (Action("say", {"word": "afresh"}),), Usage(120, 9))
MENDS = Reply("It must multiply.", (Action("edit", {"path": "calc.py", "old": "x + 2", "new": "x * 2"}),), Usage(2_000, 40))
ENDS = Reply("Done.", (Action("complete", {"summary": "Multiply instead of adding"}),), Usage(2_100, 20))


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


def asks_for(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode()).get_all("Requires-Dist") or []


def name_of(requirement: str) -> str:
    return re.split(r"[<>=!~ ;\[]", requirement)[0]


def test_a_plain_install_brings_providers_prices_and_languages(wheel: Path) -> None:
    names = {name_of(line) for line in asks_for(wheel) if "extra ==" not in line}
    assert names >= PLAIN, PLAIN - names


def test_what_few_people_need_stays_an_extra(wheel: Path) -> None:
    extras = {name_of(line) for line in asks_for(wheel) if "extra ==" in line}
    web, protocols = {"starlette", "uvicorn", "jinja2"}, {"mcp", "agent-client-protocol"}
    telemetry = {"opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"}
    assert extras == {"keyring", "psycopg", "dbos"} | web | protocols | telemetry


def test_the_wheel_has_the_pages_of_the_dashboard(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {*archive.namelist()}
    needed = ("templates/home.html", "static/style.css", "static/vendor/htmx.min.js", "static/vendor/htmx.LICENSE")
    assert {f"afresh/web/{name}" for name in needed} <= names


def distributions_for(requirements: list[str]) -> Iterator[metadata.Distribution]:
    """What these requirements bring, as it is installed for the tests; what is for another system or an extra is not there."""
    seen, left = set[str](), [name_of(line) for line in requirements]
    while left:
        name = left.pop().lower().replace("_", "-")
        if name in seen:
            continue
        seen.add(name)
        try:
            found = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            continue
        yield found
        left += [name_of(line) for line in found.requires or () if "extra ==" not in line]


@dataclass(frozen=True)
class Newcomer:
    """Somebody with an empty home who has installed afresh, and has a python3 without packages and no `python`, as on Debian."""

    folder: Path
    wheel: Path

    @property
    def environment(self) -> Path:
        return self.folder / "home" / ".local" / "tools" / "afresh"

    def variables(self) -> dict[str, str]:
        places = (self.folder / "home/.local/bin", self.folder / "python/bin", "/usr/bin", "/bin")
        return {"PATH": os.pathsep.join(map(str, places)), "HOME": str(self.folder / "home"), "COLUMNS": "200"}

    def installs(self) -> None:
        venv.create(self.environment)
        venv.create(self.folder / "python")
        for name in ("python", "python3"):
            (self.folder / "python/bin" / name).unlink()
        (self.folder / "python/bin/python3").symlink_to(os.path.realpath(sys.executable))
        self.copies([line for line in asks_for(self.wheel) if "extra ==" not in line])
        python = str(self.environment / "bin/python")
        pip = [sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-index"]
        uv = ["uv", "pip", "install", "-q", "--offline", "--python", python]
        subprocess.run([*(pip if find_spec("pip") else uv), "--no-deps", str(self.wheel)], check=True)
        commands = self.folder / "home/.local/bin"
        commands.mkdir(parents=True)
        (commands / "afresh").symlink_to(self.environment / "bin/afresh")

    def copies(self, requirements: list[str]) -> None:
        """Put the packages where pip would, file by file: the index can't be asked from everywhere."""
        packages = next(self.environment.glob("lib/python*/site-packages"))
        for found in distributions_for(requirements):
            for file in found.files or ():
                source, target = Path(str(found.locate_file(file))), Path(os.path.normpath(packages / file))
                if source.suffix == ".pyc" or not source.exists():
                    continue
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def types(self, *command: str, at: str = "repo", code: int = 0) -> str:
        done = subprocess.run(command, cwd=self.folder / at, env=self.variables(), capture_output=True, text=True)
        said = " ".join((done.stdout + done.stderr).split())
        assert done.returncode == code, f"{command}: exit code {done.returncode}\n{done.stdout}{done.stderr}"
        assert "Traceback" not in said and "bug in afresh" not in said
        return said


@pytest.fixture
def newcomer(wheel: Path, tmp_path: Path) -> Newcomer:
    one = Newcomer(tmp_path, wheel)
    one.installs()
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo/calc.py").write_text(CALC)
    (tmp_path / "repo/test_calc.py").write_text(TEST)
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "base")):
        subprocess.run([*GIT, *command], cwd=tmp_path / "repo", check=True)
    return one


@pytest.mark.journey
def test_the_first_half_hour_from_the_wheel(newcomer: Newcomer, requires_sandbox) -> None:
    requires_sandbox()
    where = newcomer.types(str(newcomer.environment / "bin/python"), "-c", "import afresh; print(afresh.__file__)")
    assert where.startswith(str(newcomer.environment)), "another afresh answers"
    for python in (str(newcomer.environment / "bin/python"), "python3"):
        newcomer.types(python, "-c", "import importlib.util, sys; sys.exit(importlib.util.find_spec('pytest') is not None)")
    assert "nothing was lost" in newcomer.types("afresh", "demo", "--keep", str(newcomer.folder / "parcel"))
    types_the_commands_of_the_readme(newcomer)
    assert "all hashes match" in newcomer.types("afresh", "doctor")
    with ModelServer([SAYS, MENDS, ENDS]) as server:
        address = ("--base-url", server.openai_url, "--model", "tiny")
        told = newcomer.types("afresh", "setup", "--provider", "compatible", *address)
        assert "wrote model" in told and "checks: python3 -m unittest discover (runs: 1 of 1 test fails)" in told
        newcomer.types("afresh", "run", "double must double", "--type", "fix_bug")
    assert "+ return x * 2" in newcomer.types("afresh", "diff")
    newcomer.types("afresh", "apply")
    assert (newcomer.folder / "repo/calc.py").read_text() == CALC.replace("+", "*")
    opens_the_dashboard(newcomer)


def types_the_commands_of_the_readme(newcomer: Newcomer) -> None:
    """In the sample that `demo` keeps; each task changes something, and none asks a model."""
    for command in re.findall(r"^\$ (afresh .*)$", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE):
        assert "unchanged" not in newcomer.types(*shlex.split(command), at="parcel"), command
    tasks = json.loads(newcomer.types("afresh", "status", "--json", at="parcel"))["tasks"]
    assert {task["status"] for task in tasks} == {"done", "applied"}


def opens_the_dashboard(newcomer: Newcomer) -> None:
    command = ("afresh", "dashboard", "--no-open", "--port", "0")
    assert f"pip install --python {newcomer.environment}/bin/python '{newcomer.wheel}[web]'" in newcomer.types(*command, code=4)
    for receipt, tool in (("pipx_metadata.json", "pipx install"), ("uv-receipt.toml", "uv tool install")):
        (newcomer.environment / receipt).touch()
        assert f"{tool} --force '{newcomer.wheel}[web]'" in newcomer.types(*command, code=4)
    newcomer.copies([line for line in asks_for(newcomer.wheel) if 'extra == "web"' in line or "extra == 'web'" in line])
    variables = newcomer.variables() | {"PYTHONUNBUFFERED": "1"}
    running = subprocess.Popen(command, cwd=newcomer.folder / "repo", env=variables, stdout=subprocess.PIPE, text=True)
    try:
        assert running.stdout
        address = re.search(r"http\S+", running.stdout.readline())
        assert address and b"double must double" in build_opener(HTTPCookieProcessor()).open(address[0]).read()
    finally:
        running.kill()
        running.communicate()
