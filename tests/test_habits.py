"""What holds for every commit: no addresses, no paths of a machine, pinned requirements, documents whose commands work."""

import ast
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from person import run_in_process

import afresh
from afresh.app.demo import copy_sample
from afresh.sandbox import bubblewrap, supervisor
from support.source_trees import list_nodes, list_sources

ROOT = Path(__file__).parents[1]
PROGRAMS = Path(sys.executable).parent
LONGEST_COMMAND_SECONDS = 600
LOCKS = {"uv.lock", "poetry.lock", "pdm.lock", "Pipfile.lock", "package-lock.json", "yarn.lock"}
ADDRESS = re.compile(r"pypi\.org|pythonhosted\.org|npmjs\.(?:org|com)|(?<!emit-)index[-_]url|find[-_]links", re.IGNORECASE)
SOMEBODYS = re.compile(r"(?:/home|/Users)/(?!user\b|me\b)\w+/|/root/\.(?!ssh)")


def tracked() -> list[Path]:
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a git checkout, so nothing is tracked")
    return [ROOT / name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]


def offending(text: str, checkout: str) -> list[str]:
    """Return the addresses and machine paths in a text."""
    found = [match.group() for pattern in (ADDRESS, SOMEBODYS) for match in pattern.finditer(text)]
    return found + ([checkout] if f"{checkout}/" in text else [])


def unpinned(requirements: str) -> list[str]:
    """Return the requirements without an exact version, or without a hash."""
    entries = [entry for entry in re.split(r"\n(?=\S)", requirements.strip()) if entry and not entry.startswith("#")]
    return [entry for entry in entries if not re.match(r"[\w.-]+==\S+.*--hash=sha256:[0-9a-f]{64}", entry, re.DOTALL)]


def console_commands(document: str) -> list[str]:
    """Return the lines after `$ ` in blocks marked `console`; a backslash at the end continues a line."""
    blocks = re.findall(r"^```console\n(.*?)^```", document, re.MULTILINE | re.DOTALL)
    return re.findall(r"^\$ ((?:.*\\\n)*.*)$", "\n".join(blocks), re.MULTILINE)


WRITTEN = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
DOCUMENTS = [path for path in WRITTEN if path.name != "README.md" and console_commands(path.read_text("utf-8"))]
DAILY_PAGES = {"start.md", "everyday.md", "done.md", "alone.md"}
"""The README's commands are typed in test_wheel.py, by somebody who has installed the wheel."""


def test_no_tracked_file_holds_an_address_or_a_machine_path():
    wrong = {}
    for path in tracked():
        if path != Path(__file__) and (found := offending(path.read_text("utf-8", errors="ignore"), str(ROOT))):
            wrong[str(path.relative_to(ROOT))] = found
    assert not wrong


@pytest.mark.parametrize(
    "text",
    ["see https://pypi.org/simple", "--index-url x", "PIP_FIND_LINKS=x", "/home/anna/afresh", "/root/.cache", "/build/place/src"],
)
def test_an_address_or_a_machine_path_would_be_found(text: str):
    assert offending(text, "/build/place")


def test_no_lock_file_is_tracked():
    assert not [path for path in tracked() if path.name in LOCKS]


@pytest.mark.parametrize("name", ["runtime.txt", "dev.txt", "small-model.txt"])
def test_every_requirement_is_pinned_with_hashes(name: str):
    assert not unpinned((ROOT / "requirements" / name).read_text("utf-8"))


@pytest.mark.parametrize("entry", ["click", "click>=8", "click==8.1.0", "click @ file:///click.whl"])
def test_a_loose_requirement_would_be_found(entry: str):
    assert unpinned(f"rich==1 \\\n    --hash=sha256:{'0' * 64}\n{entry}\n") == [entry]


def test_the_checks_run_with_the_versions_that_are_shipped():
    texts = ((ROOT / "requirements" / name).read_text("utf-8") for name in ("runtime.txt", "dev.txt"))
    shipped, checked = (set(re.findall(r"^\S+==\S+", text, re.MULTILINE)) for text in texts)
    assert shipped and shipped <= checked


def test_no_message_sends_a_user_to_a_page_that_an_install_does_not_have():
    named = []
    for path, _, tree in list_sources():
        notes = {id(node.value) for node in list_nodes(tree) if isinstance(node, ast.Expr)}
        texts = [node for node in list_nodes(tree) if isinstance(node, ast.Constant) and id(node) not in notes]
        named += [f"{path.name}:{text.lineno}" for text in texts if re.search(r"docs/[a-z-]+\.md", str(text.value))]
    assert not named


def test_the_changelog_has_the_current_version():
    assert re.search(rf"^## {re.escape(afresh.__version__)}\b", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)


def test_commands_are_collected_from_console_blocks_only():
    document = "```console\n$ one\noutput\n$ two \\\n    more\n```\n```sh\n$ not this\n```\n```console\n$ three\n```\n"
    assert console_commands(document) == ["one", "two \\\n    more", "three"]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Copy the sample project into a home of its own, with the programs of this Python on the PATH."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("PATH", f"{PROGRAMS}{os.pathsep}{os.environ['PATH']}")
    for module in (bubblewrap, supervisor):
        monkeypatch.setattr(module, "make_clean_environment", without_plugins(module.make_clean_environment))
    return copy_sample(tmp_path / "sample")


def without_plugins(make: Callable[..., dict[str, str]]) -> Callable[..., dict[str, str]]:
    """Disable the plugins that our own tests have installed: the sample needs none, and loading takes half of its test run."""
    return lambda *given, **named: make(*given, **named) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}


def test_the_installed_program_starts(project: Path):
    assert (PROGRAMS / "afresh").exists(), "afresh is not installed beside this Python: make setup"
    type_in_shell(project, "afresh status && afresh show --help")


@pytest.mark.parametrize(
    "document",
    [pytest.param(path, marks=() if path.name in DAILY_PAGES else pytest.mark.journey) for path in DOCUMENTS],
    ids=lambda path: path.name,
)
def test_documented_commands_work(document: Path, project: Path, requires_sandbox: Callable[..., None]):
    """Commands run in order; those that need no shell run in this process, since starting Python is slower than most."""
    for command in console_commands(document.read_text("utf-8")):
        if needs_sandbox(command):
            requires_sandbox()
        if needs_shell(command):
            type_in_shell(project, command)
        else:
            told = run_in_process(shlex.split(command, comments=True)[1:], project)
            assert told.code == 0, f"$ {command}\n{told.out}{told.err}"


@pytest.mark.parametrize(
    "command", ["cat file", "afresh list | head", "afresh show *.md", "afresh answer $HOME", "afresh list &"]
)
def test_what_is_more_than_a_command_of_afresh_goes_to_a_shell(command: str):
    assert needs_shell(command) and not needs_shell('afresh add "bring it down to 10" --type fix_bug')


def test_the_documents_have_commands():
    assert {"start.md", "everyday.md", "alone.md"} <= {path.name for path in DOCUMENTS}


def needs_sandbox(command: str) -> bool:
    return bool(re.match(r"afresh (run|work|resume|doctor)\b", command)) and "--no-sandbox" not in command


def needs_shell(command: str) -> bool:
    return re.fullmatch(r"afresh [^|;&<>$`*?~\\]*", command) is None


def type_in_shell(project: Path, command: str) -> None:
    result = subprocess.run(["bash", "-c", command], cwd=project, capture_output=True, text=True, timeout=LONGEST_COMMAND_SECONDS)
    assert result.returncode == 0, f"$ {command}\n{result.stdout}{result.stderr}"
