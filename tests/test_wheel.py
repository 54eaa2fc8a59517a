"""The wheel that people install: built from this tree, unpacked beside nothing else, with the packages that it asks for."""

import os
import re
import subprocess
import sys
import sysconfig
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PLAIN = {"anthropic", "openai", "genai-prices", "tree-sitter", "tree-sitter-typescript", "tree-sitter-rust"}
WHERE = "import afresh, sys; print(afresh.__file__)"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment with an empty home whose afresh is the one of the wheel."""
    folder, home = tmp_path_factory.mktemp("installed"), tmp_path_factory.mktemp("home")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    paths = f"{folder}{os.pathsep}{sysconfig.get_paths()['purelib']}"
    return {"PATH": os.environ["PATH"], "HOME": str(home), "PYTHONPATH": paths}


def asks_for(wheel: Path) -> list[str]:
    with zipfile.ZipFile(wheel) as archive:
        name = next(name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        return Parser().parsestr(archive.read(name).decode()).get_all("Requires-Dist") or []


def test_a_plain_install_brings_providers_prices_and_languages(wheel: Path) -> None:
    names = {re.split(r"[<>=!~ ;\[]", line)[0] for line in asks_for(wheel) if "extra ==" not in line}
    assert names >= PLAIN, PLAIN - names


def test_what_few_people_need_stays_an_extra(wheel: Path) -> None:
    extras = {re.split(r"[<>=!~ ;\[]", line)[0] for line in asks_for(wheel) if "extra ==" in line}
    web, protocols = {"starlette", "uvicorn", "jinja2"}, {"mcp", "agent-client-protocol"}
    telemetry = {"opentelemetry-sdk", "opentelemetry-exporter-otlp-proto-http"}
    assert extras == {"watchfiles", "keyring", "psycopg", "dbos"} | web | protocols | telemetry


def test_the_wheel_has_the_pages_of_the_dashboard(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = {*archive.namelist()}
    needed = ("templates/home.html", "static/style.css", "static/vendor/htmx.min.js", "static/vendor/htmx.LICENSE")
    assert {f"afresh/web/{name}" for name in needed} <= names


def test_the_program_of_the_wheel_runs_with_an_empty_home(installed: dict[str, str], tmp_path: Path) -> None:
    where = subprocess.run([sys.executable, "-c", WHERE], env=installed, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert where.stdout.startswith(installed["PYTHONPATH"].partition(os.pathsep)[0]), "another afresh answers"
    command = [sys.executable, "-m", "afresh.cli.main", "models"]
    told = subprocess.run(command, env=installed, cwd=tmp_path, capture_output=True, text=True)
    assert told.returncode == 0, told.stderr
    assert "not installed" not in told.stdout and "can't be imported" not in told.stdout
