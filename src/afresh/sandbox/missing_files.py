"""Says why a command may have failed for lack of a file: one that git ignores, a folder that is not readable, no download."""

import os
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from afresh.core.action import CommandRun
from afresh.sandbox.mounts import PACKAGE_CACHE_NAMES, PRIVATE_PREFIX, Mounts, find_home_folders

MAX_LINES_READ = 4000
MAX_LINE_CHARACTERS = 2000
MISSING = re.compile(
    r"ENOENT|EACCES|ERR_MODULE_NOT_FOUND|No such file|NoSuchFile|not found|can(?:no|')t (?:find|open|access|resolve)"
    r"|failed to (?:load|resolve|read)|does not exist|Permission denied|could not (?:find|open|read)",
    re.IGNORECASE,
)
PATH = re.compile(r"(?:(?:~|\.{1,2})?/|~|(?<![\w@.+-]))[\w@.+-]++(?:/[\w@.+-]++)+")
NO_WATCH = re.compile(
    r"ENOSYS.{0,300}\bwatch\b|inotify.{0,300}(?:Errno 38|ENOSYS|not implemented)|Errno 38.{0,300}inotify", re.IGNORECASE
)
DENIED = re.compile(r"Permission denied|EACCES", re.IGNORECASE)
MODULE_SUFFIXES = ("", ".js", ".mjs", ".cjs", ".ts", ".json", "/index.js")
DOWNLOAD_REMEDIES = (
    (r"rustup could not choose a version of", "run `rustup default stable`; commands read ~/.rustup, or what RUSTUP_HOME names"),
    (r"no matching package named .* found|failed to (?:download|get) `.*(?:\n.*){0,12}offline", "run `cargo fetch`"),
    (r"no required module provides package|module lookup disabled by GOPROXY=off|missing go\.sum entry", "run `go mod download`"),
    (r"Could not resolve dependencies|Cannot access .* in offline mode", "run `mvn dependency:go-offline`"),
    (r"No cached version of .* available for offline mode", "run `gradle dependencies`"),
    (r"Cannot find (?:module|package) '(?![./])", "install its packages (npm, pnpm or yarn install)"),
)  # fmt: skip
"""What a tool prints without a network when something was never downloaded, and what a person does then."""


PACKAGE_CACHE_FAULT = re.compile(
    rf"(?:EROFS|ENOENT|EACCES)\b.*\b(node_modules/(?:{'|'.join(map(re.escape, PACKAGE_CACHE_NAMES))}))\b"
)


def explain_missing_files(done: CommandRun, mounts: Mounts) -> CommandRun:
    """The run with a sentence at the end of its output if it has failed for lack of a file that the machine has, or that must be
    downloaded."""
    if done.exit == 0:
        return done
    reason = next(_list_reasons(done.output, mounts), "")
    return replace(done, output=f"{done.output.rstrip()}\n[afresh: {reason}]\n") if reason else done


def _list_reasons(output: str, mounts: Mounts) -> Iterator[str]:
    lines = [line[:MAX_LINE_CHARACTERS] for line in output.splitlines()[-MAX_LINES_READ:]]
    paths = dict.fromkeys(path for line in lines if MISSING.search(line) for path in PATH.findall(line))
    for path in paths:
        if folder := _find_left_out(path, mounts):
            yield (
                f"{folder} is in your checkout but not in the task's tree, since git ignores it: build it in the check, or set "
                f'copy = ["{folder}"] in .afresh/config.toml'
            )
    for path in paths:
        if folder := _find_hidden_folder(path):
            yield f'commands can\'t read {folder}: to change that, set readable = ["{folder}"] in your own config.toml'
    text = "\n".join(lines)
    if any(DENIED.search(line) and _find_shared_temporary(line, mounts) for line in lines):
        yield "commands can't write to /tmp here, only to $TMPDIR; in bubblewrap they have a /tmp of their own"
    if cache := PACKAGE_CACHE_FAULT.search(text):
        yield (
            "packages can't be written here: let the check run without this cache (vitest run --no-cache), or make the folder in "
            f"your checkout, and commands get a private one (mkdir {cache[1]})"
        )
    if NO_WATCH.search(text):
        yield "without bubblewrap files can't be watched: run tests once, without a watcher, or install bubblewrap"
    for pattern, remedy in DOWNLOAD_REMEDIES:
        if re.search(pattern, text):
            yield f"something is not installed or downloaded, and there is no network here: in your checkout, {remedy}"


def _find_shared_temporary(line: str, mounts: Mounts) -> bool:
    """Whether a line names a path in /tmp that is neither in the tree nor in a private folder."""
    private = (f"{mounts.tree}/", f"{mounts.at}/", f"/tmp/{PRIVATE_PREFIX}")
    return any(path.startswith("/tmp/") and not path.startswith(private) for path in PATH.findall(line))


def _find_left_out(path: str, mounts: Mounts) -> str:
    """The outermost folder of the checkout on the way to this path that the tree does not have."""
    plain = re.sub(r"^(?:\.{1,2}/)+", "", path.removeprefix(f"{mounts.at}/").removeprefix(f"{mounts.tree}/"))
    root = Path(os.path.realpath(mounts.at))
    for suffix in MODULE_SUFFIXES if not plain.startswith(("/", "~")) else ():
        real = Path(os.path.realpath(root / (plain + suffix)))
        if os.path.exists(real) and real.is_relative_to(root):
            return _find_first_missing(real.relative_to(root), mounts)
    return ""


def _find_first_missing(name: Path, mounts: Mounts) -> str:
    hidden = (".git", ".afresh", *mounts.environments)
    if any(str(name) == other or str(name).startswith(f"{other}/") for other in hidden):
        return ""
    parents = [*reversed(name.parents), name][1:]
    return next((str(part) for part in parents if not os.path.lexists(mounts.tree / part)), "")


def _find_hidden_folder(path: str) -> str:
    """The folder below the home folder, by at most two names, that holds a file which exists."""
    for home in find_home_folders():
        if path.startswith(f"{home}/") and os.path.exists(path):
            folder = path if os.path.isdir(path) else os.path.dirname(path)
            names = Path(folder).relative_to(home).parts[:2]
            return "~/" + "/".join(names) if names else ""
    return ""
