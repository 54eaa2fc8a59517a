"""Finds out whether the programs of a check can start, before a task exists: looks for them in the sandbox that the task would
have, over those files of its commit that the command names."""

import json
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from afresh.app.open_workspace import make_mounts
from afresh.app.project import Project
from afresh.errors import NoSandbox
from afresh.sandbox.choose_level import choose_sandbox, open_level
from afresh.sandbox.command_environment import SYSTEM_FOLDERS, list_search_path
from afresh.sandbox.escape_probe import AnySandbox
from afresh.sandbox.mounts import Mounts
from afresh.workspace.environment_files import copy_import_files, find_import_files, list_wanted_files
from afresh.workspace.git import Git
from afresh.workspace.repository import Repository

PROBE_SECONDS = 60.0
PLAIN_WORD = re.compile(r"[\w@%+=:,./-]+")
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*", re.DOTALL)
CHANGES_OF_SHELL = (".", "source", "eval", "alias")
"""What comes after these can't be known without running them."""
PYTHON = re.compile(r"(?:python|pypy)[\d.]*")
SHELL = re.compile(r"(?:ba|da|z)?sh")
FIND_MODULE = "import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)"
LOOK_SCRIPT = r"""
set -f
look() {
  place=$(command -v -- "$1") || {
    case $1 in */*) [ ! -e "$1" ] || { echo "$1 is not executable"; return 1; } ;; esac
    echo "$1 was not found"; return 1
  }
  case $place in */*) ;; *) return 0 ;; esac
  ( exec 3< "$place" ) 2>/dev/null || { echo "$place can't be read by commands"; return 1; }
  line=; IFS= read -r line < "$place" 2>/dev/null
  case $line in '#!'*) ;; *) return 0 ;; esac
  set -- $place ${line#'#!'}
  case $2 in */env) shift; [ "$2" != -S ] || shift ;; esac
  [ -z "$2" ] || need=$(look "$2") || { echo "$1 needs $2: $need"; return 1; }
}
"""
"""By what a shell does itself; a file is opened, since a right that Landlock takes is not seen otherwise."""


@dataclass(frozen=True, slots=True)
class ProgramStart:
    """A program that a command starts, with its arguments."""

    words: tuple[str, ...]
    folder: str = ""
    """The shell's current one then, relative to the root."""
    first: bool = True
    """No program has run before that may have made files."""

    @property
    def program(self) -> str:
        return self.words[0]

    @property
    def module(self) -> str:
        """What `python -m` runs."""
        return self.words[2] if self._is_run_by(PYTHON) and self.words[1:2] == ("-m",) and len(self.words) > 2 else ""

    @property
    def script(self) -> str:
        """The file that a Python or a shell is given to run."""
        given = self.words[1] if len(self.words) > 1 and (self._is_run_by(PYTHON) or self._is_run_by(SHELL)) else ""
        return given if PLAIN_WORD.fullmatch(given) and not given.startswith("-") else ""

    def _is_run_by(self, kind: re.Pattern[str]) -> bool:
        return bool(kind.fullmatch(self.program.rpartition("/")[2]))


def list_program_starts(command: str) -> Iterator[ProgramStart]:
    """Of plain commands that are joined by `&&`, and so must all start; none of what only a shell can tell."""
    lexer = shlex.shlex(command, posix=True, punctuation_chars="();<>|&\n")
    lexer.whitespace, lexer.whitespace_split, lexer.commenters = " \t\r", True, ""
    try:
        tokens = list(lexer)
    except ValueError:
        return
    commands, folder, first = [[]], "", True
    for token in tokens:
        if token == "&&":
            commands.append([])
        elif token.strip("();<>|&\n"):
            commands[-1].append(token)
        else:
            return
    for words in commands:
        while words and ASSIGNMENT.fullmatch(words[0]):
            words = words[1:]
        if not words or not PLAIN_WORD.fullmatch(words[0]) or words[0] in CHANGES_OF_SHELL or "PATH=" in command:
            return
        if words[0] == "cd":
            folder = os.path.normpath(os.path.join(folder, *words[1:2])).removeprefix(".").removeprefix("/")
            if not PLAIN_WORD.fullmatch(words[-1]) or words[-1].startswith(("/", "-")) or folder.startswith(".."):
                return
        else:
            yield ProgramStart(tuple(words), folder, first)
            first = False


@dataclass(frozen=True, slots=True)
class StartFault:
    """Why a program can't start, and what helps."""

    why: str
    remedy: str
    path: str = ""
    """The file of the tree that is missing. The task may be there to write it."""


def find_start_fault(project: Project, command: str, commit: str) -> StartFault | None:
    """The first program of a command that could not start in a task that begins with this commit."""
    repository = Repository.find(project.paths.root)
    starts = [start for start in list_program_starts(command) if not _is_sure_to_start(start)]
    if not starts:
        return None
    names = [os.fsdecode(name) for name in repository.git.run("ls-tree", "-r", "-z", "--name-only", commit).split(b"\0")[:-1]]
    if starts[0].first and (fault := _find_missing_script(repository.git, commit, starts[0], names)):
        return fault
    if fault := next(filter(None, (_find_missing_package(repository.root, start) for start in starts)), None):
        return fault
    with _open_look(project, repository, starts, names, commit) as sandbox:
        script = "\n".join([LOOK_SCRIPT, *(_write_look(start, number, sandbox, names) for number, start in enumerate(starts))])
        said = sandbox.run(script, PROBE_SECONDS).output
    found = re.search(r"^afresh-start (\d+) (.*)$", said, re.MULTILINE)
    return _explain(repository.root, starts[int(found[1])], found[2], names) if found else None


def _is_sure_to_start(start: ProgramStart) -> bool:
    """A program of the system needs no look: every sandbox shows it. Nor does a word of the shell."""
    if start.module or start.script or start.folder or "/" in start.program:
        return False
    place = next((folder / start.program for folder in list_search_path() if os.access(folder / start.program, os.X_OK)), None)
    return place is not None and any(folder in place.parents for folder in SYSTEM_FOLDERS) and not _is_script(place)


def _is_script(place: Path) -> bool:
    with place.open("rb") as file:
        return file.read(2) == b"#!"


@contextmanager
def _open_look(
    project: Project, repository: Repository, starts: Sequence[ProgramStart], names: Sequence[str], commit: str
) -> Iterator[AnySandbox]:
    """A sandbox over what git has of the named files, and over what a task's tree gets besides. Without a sandbox nothing of the
    repository is run: see `_write_look`."""
    with tempfile.TemporaryDirectory(prefix="afresh-start-", ignore_cleanup_errors=True) as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        named = [(start.folder, word) for start in starts for word in (start.program, start.script) if word]
        wanted = {os.path.normpath(os.path.join(*one)) for one in named}
        for start in starts:
            if start.folder and any(name.startswith(f"{start.folder}/") for name in names):
                (tree / start.folder).mkdir(parents=True, exist_ok=True)
        _write_files(repository.git, commit, tree, sorted(wanted & set(names)))
        copied = (*find_import_files(repository), *list_wanted_files(repository, project.settings.copy))
        copy_import_files(repository.root, tree, tuple(dict.fromkeys(copied)))
        mounts = make_mounts(repository, tree, project.settings)
        yield _choose_any_sandbox(mounts, project.paths.make_state() / "sandbox-probe")


def _choose_any_sandbox(mounts: Mounts, cache: Path) -> AnySandbox:
    try:
        return choose_sandbox(mounts, cache=cache)
    except NoSandbox:
        return open_level("none", mounts)


def _write_files(git: Git, commit: str, tree: Path, names: Sequence[str]) -> None:
    """A link is written as a file that can be run: where it leads is not looked at."""
    listed = git.run("ls-tree", "-r", "-z", commit, "--", *names).split(b"\0")[:-1] if names else []
    for meta, name in (entry.split(b"\t", 1) for entry in listed):
        mode, kind, blob = meta.split()
        if kind == b"blob":
            place = tree / os.fsdecode(name)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(git.run("cat-file", "blob", blob.decode()) if mode.startswith(b"100") else b"")
            place.chmod(0o644 if mode == b"100644" else 0o755)


def _write_look(start: ProgramStart, number: int, sandbox: AnySandbox, names: Sequence[str]) -> str:
    """Shell lines that say why this program can't start. Only a Python is run, to ask it for a module, and none that the
    repository itself has."""
    say, lines = f'echo "afresh-start {number} ', list[str]()
    if start.folder:
        missing = f'{{ {say}the folder {start.folder} was not found"; exit; }}' if start.first else "exit"
        lines.append(f"cd -- {shlex.quote(start.folder)} 2>/dev/null || {missing}")
    program = shlex.quote(start.program)
    if start.first or not _is_of_tree(start, start.program, sandbox.mounts):
        lines.append(f'why=$(look {program}) || {{ {say}$why"; exit; }}')
    if start.script and start.first:
        lines.append(f'[ -e {shlex.quote(start.script)} ] || {{ {say}{start.script} was not found"; exit; }}')
    top = start.module.partition(".")[0]
    own = any(part in (top, f"{top}.py") for name in names for part in name.split("/"))
    if re.fullmatch(r"\w+", top) and not own and not _is_of_tree(start, start.program, sandbox.mounts):
        lines.append(f"why=$({program} -c {shlex.quote(FIND_MODULE)} {shlex.quote(top)} 2>&1); code=$?")
        lines.append(f'[ $code != 1 ] || {{ {say}Python has no module {top}"; exit; }}')
        lines.append(f'[ $code = 0 ] || {say}{start.program} ends with exit $code: $(echo "$why" | tail -n 1)"')
    return "(\n" + "\n".join(lines) + "\n)"


def _is_of_tree(start: ProgramStart, word: str, mounts: Mounts) -> bool:
    """Whether a word means a file of the tree, and not one in an environment."""
    path = os.path.normpath(os.path.join(start.folder, word))
    return "/" in word and not word.startswith("/") and not any(path.startswith(f"{name}/") for name in mounts.environments)


def _find_missing_script(git: Git, commit: str, start: ProgramStart, names: Sequence[str]) -> StartFault | None:
    """What `npm run` would not find in package.json."""
    own = start.words[1 : start.words.index("--") if "--" in start.words else None]
    if start.program != "npm" or any(word.startswith("-") for word in own):
        return None
    found = re.match(r"(?:run(?:-script)? (\S+)|t(?:est)?\b)", " ".join(own))
    name = (found[1] or "test") if found else ""
    folders = [start.folder, *map(str, Path(start.folder).parents)] if name else []
    paths = [os.path.normpath(os.path.join(folder, "package.json")) for folder in folders]
    path = next((path for path in paths if path in names), "")
    if not path:
        return StartFault("package.json was not found", "add it and commit that", "package.json") if name else None
    try:
        scripts = json.loads(git.ask("cat-file", "blob", f"{commit}:{path}")).get("scripts", {})
    except (ValueError, AttributeError):
        return None
    return None if name in scripts else StartFault(f"{path} has no script {name!r}", "add it and commit that", path)


def _find_missing_package(root: Path, start: ProgramStart) -> StartFault | None:
    """What `npx` would download; without a network it tries for a minute."""
    name = start.words[1] if start.program == "npx" and len(start.words) > 1 else ""
    folder = root / start.folder
    if not re.fullmatch(r"\w[\w.-]*", name) or shutil.which(name):
        return None
    if any((place / "node_modules" / ".bin" / name).exists() for place in (folder, *folder.parents)):
        return None
    return StartFault(f"node_modules has no {name}, and npx can't download it without a network", "npm install")


def _explain(root: Path, start: ProgramStart, why: str, names: Sequence[str]) -> StartFault:
    if module := re.fullmatch(r"Python has no module (\S+)", why):
        return StartFault(why, f"install it where {start.program} finds it ({start.program} -m pip install {module[1]})")
    if why.startswith("the folder "):
        return StartFault(why, "correct the path", start.folder)
    word = start.script if start.script and why.startswith(f"{start.script} ") else start.program
    path = os.path.normpath(os.path.join(start.folder, word))
    if why.endswith("is not executable"):
        return StartFault(why, f"make it executable and commit that (git update-index --chmod=+x {path})")
    if " needs " in why or " ends with exit " in why:
        return StartFault(why, "install what it needs")
    if word == start.script or "/" in word:
        if path not in names and os.path.lexists(root / path) and not word.startswith("/"):
            remedy = f"commit {path}, or if git is to ignore it, list it under `copy` in .afresh/config.toml"
            return StartFault(f"{why}: it is in your checkout, but not in the commit that the task begins with", remedy, path)
        host = word if os.path.exists(root / path) else None
    else:
        host = shutil.which(word)
    if host:
        folder = os.path.dirname(os.path.realpath(root / host))
        return StartFault(f"{why} in the sandbox", f'let commands read it: readable = ["{folder}"] in your own config.toml')
    if "/" in word or word == start.script:
        return StartFault(why, "correct the path", "" if word.startswith("/") else path)
    return StartFault(why, f"install {word}")
