"""The project's own linters, type checker and formatter: which it uses, and whether a change adds a finding."""

import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from afresh.core.archived_block import Block, block_from_text
from afresh.core.recognise_test_files import is_test_code
from afresh.core.task import FIX_VIOLATION_TYPE
from afresh.core.text import format_count
from afresh.core.verdict import Baseline, CheckRun, FailedTest, LinterRun, Ruling, Verdict
from afresh.ports.tool import ToolContext
from afresh.ports.workspace import FileTree, Sandbox, read_text

LINTER_SECONDS = 600
PROBE_SECONDS = 60
MAX_FINDINGS_TOLD = 3
MAX_FINDING_CHARACTERS = 200
CODE_FOLDERS = ("src", "lib")
SCRIPTS = ("tox.ini", "noxfile.py", "Makefile", ".pre-commit-config.yaml")
"""Where a project says which tools it runs."""
NO_CODE = ("setup.py", "noxfile.py", "conftest.py")


@dataclass(frozen=True, slots=True)
class ProjectTool:
    name: str
    module: str
    options: str
    settings: Mapping[str, str]
    """Patterns of what a file says that has settings for it."""
    in_scripts: str
    """Pattern of what a script says that runs it."""


LINTERS = (
    ProjectTool(
        "mypy",
        "mypy",
        "--no-color-output --no-error-summary --no-pretty --hide-error-context --show-error-codes --cache-dir=/dev/null",
        {"pyproject.toml": r"^\[tool\.mypy\b", "setup.cfg": r"^\[mypy[]-]", "mypy.ini": "", ".mypy.ini": ""},
        r"\bmypy\b",
    ),
    ProjectTool(
        "pyright", "pyright", "", {"pyproject.toml": r"^\[tool\.(?:based)?pyright\b", "pyrightconfig.json": ""}, r"\bpyright\b"
    ),
    ProjectTool(
        "ruff",
        "ruff",
        "check --no-cache --no-fix --output-format concise",
        {"pyproject.toml": r"^\[tool\.ruff\b", "ruff.toml": "", ".ruff.toml": ""},
        r"\bruff (?:check|--)|id: ruff(?:-check)?\s*$",
    ),
    ProjectTool(
        "flake8",
        "flake8",
        "--format=default",
        {".flake8": "", "setup.cfg": r"^\[flake8\]", "tox.ini": r"^\[flake8\]"},
        r"\bflake8\b",
    ),
)
FORMATTERS = (
    ProjectTool(
        "ruff format", "ruff", "format --no-cache", {"pyproject.toml": r"^\[tool\.ruff\.format\b"}, r"\bruff[- ]format\b"
    ),
    ProjectTool("black", "black", "-q", {"pyproject.toml": r"^\[tool\.black\b"}, r"psf/black|id: black\b|^\s*(?:-m )?black\b"),
)
NAMES_ITS_TARGETS = re.compile(r"^[^\S\n]*(?:files|packages|modules)\s*=", re.MULTILINE)
FINDING = re.compile(r"^\s*(?P<path>\S[^:]*\.pyi?):\d+(?::\d+)?:?(?: -)? (?P<text>(?!note: |information: ).+)$")
FIXABLE_MARK = "[*] "
NUMBER = re.compile(r"\b\d+\b")


def measure_linters(context: ToolContext) -> tuple[tuple[LinterRun, ...], tuple[Block, ...]]:
    """What each linter of the project finds now, and what the archive keeps of it."""
    runs, blocks = list[LinterRun](), list[Block]()
    for tool in find_used_tools(context, LINTERS):
        program = find_program(context.sandbox, tool)
        code, named = list_code(context.files), names_targets(context.files, tool)
        commands = [make_command(program, tool, targets) for targets in ([(), code] if named else [code]) if program]
        measured = ((command, count_findings(context.sandbox, command)) for command in commands)
        command, found = next(((command, found) for command, found in measured if found is not None), ("", Counter[str]()))
        blocks.append(block_from_text(json.dumps(found, sort_keys=True)))
        runs.append(LinterRun(tool.name, command, found.total(), blocks[-1].id))
    return tuple(runs), tuple(blocks)


def find_formatter(context: ToolContext) -> LinterRun | None:
    """The formatter that the project uses and that can run here."""
    used = ((tool, find_program(context.sandbox, tool)) for tool in find_used_tools(context, FORMATTERS))
    return next((LinterRun(tool.name, make_command(program, tool, ())) for tool, program in used if program), None)


def find_used_tools(context: ToolContext, tools: Sequence[ProjectTool]) -> Iterator[ProjectTool]:
    """Tools that the project has settings for, or that one of its scripts runs. Only for tasks that lower complexity."""
    if context.state.task.judged_as != FIX_VIOLATION_TYPE:
        return
    names = ({name for tool in tools for name in tool.settings} | {*SCRIPTS}) & {*context.files.paths()}
    texts = {name: read_text(context.files, name) or "" for name in names}
    for tool in tools:
        patterns = [(tool.settings[name], text) for name, text in texts.items() if name in tool.settings]
        patterns += [(tool.in_scripts, texts[name]) for name in SCRIPTS if name in texts]
        if any(re.search(pattern, text, re.MULTILINE) for pattern, text in patterns):
            yield tool


def names_targets(files: FileTree, tool: ProjectTool) -> bool:
    """Whether the settings of mypy say what it is to check."""
    own = re.compile(rf"^\[(?:tool\.)?{tool.name}\]$", re.MULTILINE)
    texts = [read_text(files, name) or "" for name in tool.settings if name in files.paths()]
    tables = [part.partition("\n[")[0] for text in texts for part in own.split(text)[1:]]
    return tool.name == "mypy" and any(NAMES_ITS_TARGETS.search(table) for table in tables)


def list_code(files: FileTree) -> tuple[str, ...]:
    """Folders and modules at the root with code that is no test."""
    paths = files.paths()
    code = [path for path in paths if path.endswith(".py") and not is_test_code(path)]
    tops = dict.fromkeys(path.partition("/")[0] for path in code)
    packages = [top for top in tops if top in CODE_FOLDERS or f"{top}/__init__.py" in paths]
    return (*packages, *[path for path in code if "/" not in path and path not in NO_CODE])


def find_program(sandbox: Sandbox, tool: ProjectTool) -> tuple[str, ...]:
    """The project's own installation of the tool, else the one of this program; empty if none can run."""
    for start in (("python", "-m", tool.module), (tool.module,), (sys.executable, "-P", "-m", tool.module)):
        if sandbox.run(shlex.join([*start, "--version"]), PROBE_SECONDS).exit == 0:
            return start
    return ()


def make_command(program: Sequence[str], tool: ProjectTool, targets: Sequence[str]) -> str:
    return shlex.join([*program, *shlex.split(tool.options), *targets])


def count_findings(sandbox: Sandbox, command: str) -> Counter[str] | None:
    """How often each finding occurs, without its place in the file; None if the tool did not do its work."""
    done = sandbox.run(f"pwd; {command}", LINTER_SECONDS)
    if done.timed_out or done.exit not in (0, 1):
        return None
    root, *lines = done.output.splitlines() or [""]
    found = filter(None, map(FINDING.match, lines))
    told = [f"{match['path'].removeprefix(f'{root}/')}: {match['text'].replace(FIXABLE_MARK, '')}" for match in found]
    return Counter(NUMBER.sub("#", one) for one in told)


def find_new_findings(context: ToolContext, measure: int) -> tuple[Verdict, tuple[Block, ...]] | None:
    """FAIL if one of the project's linters finds more than before the first change."""
    linters = (context.state.verification.baseline or Baseline()).linters
    for before in [one for one in linters if one.can_run]:
        found = count_findings(context.sandbox, before.command)
        known = Counter[str](json.loads(context.store.read(before.block)))
        new = sorted((found - known).elements()) if found is not None else [f"{before.name} did not end as before"]
        if new:
            told = [one[:MAX_FINDING_CHARACTERS] for one in new[:MAX_FINDINGS_TOLD]]
            block = block_from_text("\n".join(new))
            run = CheckRun(before.name, 1, failures=tuple(FailedTest(before.name, one) for one in told), block=block.id)
            reason = f"{before.name}: {format_count(len(new), 'new finding')}: {'; '.join(told)}"
            return Verdict(Ruling.FAIL, reason, (run,), measure=measure), (block,)
    return None
