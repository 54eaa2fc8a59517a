"""Recognises lines that run tests and nothing else: only known forms are accepted from a project's files.

The sandbox protects against a hostile project; this module makes sure that a check is only a check.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

PYTHON_PROGRAM = re.compile(r"python[\d.]*")
PLAIN_ARGUMENT = re.compile(r"[\w @%+=:,./()\[\]*^-]*")
ALLOWED_ASSIGNMENT = re.compile(
    r"(PYTHONPATH|PYTHONWARNINGS|PYTHONHASHSEED|DJANGO_SETTINGS_MODULE|CI|NODE_ENV|RUST_BACKTRACE|TZ)=([\w.,:/-]*)"
)
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")
ENVIRONMENT_RUNNERS = {"uv", "poetry", "pdm", "pipenv", "rye", "hatch"}
OPTIONS_WITH_VALUE = (
    "--group",
    "--extra",
    "--with",
    "--python",
    "-p",
    "--package",
    "--only-group",
    "--directory",
    "--project",
    "--with-requirements",
)
TEST_SCRIPT = re.compile(r"(?:[\w.-]+/)*(?:run_?tests?|tests?|test_all|manage)\.py")
SHELL_SYNTAX = re.compile(r"[$`|;<>&\\!#{}~\n]")
TEST_WORDS = re.compile(
    r"\b(?:pytest|py\.test|unittest|run_?tests?\.py|manage\.py test|tox|nextest|vitest|jest|mocha|go test|cargo test"
    r"|dotnet test|(?:npm|yarn|pnpm|bun|mvn|mvnw|gradle|gradlew|make|hatch|node)\b.*\b(?:test|tests|check|verify)\b)"
)
REPORT_OPTION = re.compile(r"--(?:cov\b|cov-|no-cov\b|junit|html|basetemp|color|self-contained|timing|durations|report).*")
REPORT_OPTION_WITH_VALUE = re.compile(r"--(?:cov-report|cov-config|cov-fail-under|junit-?xml|basetemp|color|durations|html)")


@dataclass(frozen=True, slots=True)
class ParsedCommand:
    """A command without anything around it. `kind` is the test runner."""

    kind: str
    words: tuple[str, ...]
    narrow: bool = False
    """Whether it runs only some of the tests."""

    @property
    def command(self) -> str:
        return shlex.join(self.words)


@dataclass(frozen=True, slots=True)
class RecipeReference:
    """A command that is defined in another file."""

    kind: str
    """make, tox or script (of package.json)."""
    name: str = ""


class RejectedCommand(ValueError):
    """A line that mentions tests but has no known form; the message says why."""


def parse_line(line: str) -> list[ParsedCommand | RecipeReference]:
    """Return what a line runs, part by part; empty if it does not run tests. Raises RejectedCommand if it is not plain."""
    if not TEST_WORDS.search(line):
        return []
    found = [one for part in line.split("&&") if TEST_WORDS.search(part) for one in [parse_one_command(part)] if one]
    return found


def parse_one_command(part: str) -> ParsedCommand | RecipeReference | None:
    words = split_plain_words(part)
    assigned, words = strip_environment(words)
    if not words:
        return None
    program = words[0].rpartition("/")[2]
    pointed = parse_recipe_reference(program, words)
    if pointed:
        return pointed
    shape = parse_python_command(words) or parse_other_command(program, words)
    if shape is None:
        return None
    return ParsedCommand(shape.kind, (*assigned, *shape.words), shape.narrow)


def split_plain_words(part: str) -> list[str]:
    text = part.strip().removeprefix("@").removeprefix("-").strip().removeprefix("exec ")
    if match := SHELL_SYNTAX.search(text):
        raise RejectedCommand(f"{match[0]!r} is more than a plain command")
    try:
        words = shlex.split(text)
    except ValueError:
        raise RejectedCommand("its quotes do not close") from None
    return words


def strip_environment(words: list[str]) -> tuple[list[str], list[str]]:
    """Return the environment variables that a test run may need, and the command without wrappers that only prepare its
    environment.
    """
    assigned = list[str]()
    while words:
        if ASSIGNMENT.fullmatch(words[0]):
            if not ALLOWED_ASSIGNMENT.fullmatch(words[0]):
                raise RejectedCommand(f"sets {words[0].partition('=')[0]}")
            assigned.append(words[0])
            words = words[1:]
        elif words[0] in ("env", "time", "exec", "command"):
            words = words[1:]
        elif words[0] == "timeout":
            words = words[2:]
        elif words[0] in ENVIRONMENT_RUNNERS and words[1:2] == ["run"]:
            words = skip_options(words[2:])
        elif words[0] in ("uvx", "pipx"):
            words = skip_options(words[1 + (words[1:2] == ["run"]) :])
        elif words[:3] == ["coverage", "run", "-m"] or words[1:5] == ["-m", "coverage", "run", "-m"]:
            words = ["python", "-m", *words[3 if words[0] == "coverage" else 5 :]]
        else:
            break
    return assigned, words


def skip_options(words: list[str]) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in OPTIONS_WITH_VALUE else words[1:]
    return words


def parse_recipe_reference(program: str, words: Sequence[str]) -> RecipeReference | None:
    if program in ("make", "gmake"):
        names = [word for word in words[1:] if re.fullmatch(r"[\w.][\w.-]*", word)]
        return RecipeReference("make", names[0] if names else "")
    if program == "tox" or (PYTHON_PROGRAM.fullmatch(program) and words[1:3] == ["-m", "tox"]):
        return RecipeReference("tox", next((after for word, after in pairwise(words) if word == "-e"), ""))
    if program in ("npm", "yarn", "pnpm", "bun") and (name := find_package_script(words[1:])):
        return RecipeReference("script", name)
    return None


def find_package_script(words: Sequence[str]) -> str:
    """Return the script of package.json that is run, if it is run in the root without options; otherwise empty."""
    words = [word for word in words if word != "run"]
    return "test" if words == ["t"] else words[0] if len(words) == 1 and re.fullmatch(r"[\w:.-]*test[\w:.-]*", words[0]) else ""


def parse_python_command(words: Sequence[str]) -> ParsedCommand | None:
    """Return the test command that a Python runs. A Python given by path is replaced by the first on the sandbox's PATH."""
    program = words[0].rpartition("/")[2]
    if program in ("pytest", "py.test"):
        return parse_pytest_command(("pytest",), words[1:])
    if not PYTHON_PROGRAM.fullmatch(program):
        return None
    at = 1
    while at < len(words) and re.fullmatch(r"-[BEIOPsSubdWX][\w:=]*", words[at]):
        at += 2 if words[at] in ("-W", "-X") else 1
    head, rest = ("python", *check_arguments(words[1:at])), words[at:]
    if rest[:1] == ["-m"] and len(rest) > 1:
        if rest[1] in ("pytest", "py.test"):
            return parse_pytest_command((*head, "-m", "pytest"), rest[2:])
        return ParsedCommand("unittest", (*head, "-m", "unittest", *check_arguments(rest[2:]))) if rest[1] == "unittest" else None
    if rest and TEST_SCRIPT.fullmatch(rest[0]) and (not rest[0].endswith("manage.py") or rest[1:2] == ["test"]):
        return ParsedCommand("script", (*head, *check_arguments(rest)))
    return None


def parse_pytest_command(head: tuple[str, ...], words: Sequence[str]) -> ParsedCommand:
    """Return the command without options that only write reports, which would need plugins."""
    kept, skip = list[str](), False
    for word in words:
        if skip:
            skip = False
        elif REPORT_OPTION.fullmatch(word):
            skip = bool(REPORT_OPTION_WITH_VALUE.fullmatch(word))
        else:
            kept.append(word)
    if "--pyargs" in kept:
        raise RejectedCommand("tests what is installed, not this tree")
    chosen = any(word in ("-k", "-m", "--lf", "--last-failed") or "::" in word or word.endswith(".py") for word in kept)
    return ParsedCommand("pytest", (*head, *check_arguments(kept)), chosen)


def parse_other_command(program: str, words: Sequence[str]) -> ParsedCommand | None:
    """Return test commands of other languages, and package scripts that start a known runner."""
    rest = list(words[1:])
    known = {
        "go": rest[:1] == ["test"],
        "cargo": rest[:1] == ["test"] or rest[:2] == ["nextest", "run"],
        "dotnet": rest[:1] == ["test"],
        "mvn": bool({"test", "verify"} & {*rest}),
        "gradle": bool({"test", "check"} & {*rest}),
        "node": "--test" in rest,
    }
    name = {"mvnw": "mvn", "gradlew": "gradle"}.get(program, program)
    if not known.get(name):
        return None
    start = words[0] if words[0] in ("./mvnw", "./gradlew") else name
    narrow = bool({"-run", "-k", "-p", "--package", "-pl", "--lib", "--doc"} & {*rest})
    return ParsedCommand(name, (start, *check_arguments(rest)), narrow)


def check_arguments(words: Sequence[str]) -> list[str]:
    """Return the arguments; none of them may lead out of the tree."""
    for word in words:
        if not PLAIN_ARGUMENT.fullmatch(word):
            raise RejectedCommand(f"{word[:40]!r} is more than a plain argument")
        value = word.partition("=")[2] or word
        if value.startswith("/") or ".." in value.replace("...", "").split("/"):
            raise RejectedCommand(f"{word[:40]!r} leads out of the tree")
    return list(words)
