"""Which lines are commands that run tests, and nothing else: what a file says is data until it has a shape that is known.

The sandbox is what keeps a hostile project from harm; this keeps a check from being anything but a check.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

PYTHON = re.compile(r"python[\d.]*")
ARGUMENT = re.compile(r"[\w @%+=:,./()\[\]*^-]*")
ASSIGNED = re.compile(
    r"(PYTHONPATH|PYTHONWARNINGS|PYTHONHASHSEED|DJANGO_SETTINGS_MODULE|CI|NODE_ENV|RUST_BACKTRACE|TZ)=([\w.,:/-]*)"
)
ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")
RUNNERS = {"uv", "poetry", "pdm", "pipenv", "rye", "hatch"}
VALUED = (
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
SCRIPT = re.compile(r"(?:[\w.-]+/)*(?:run_?tests?|tests?|test_all|manage)\.py")
FORBIDDEN = re.compile(r"[$`|;<>&\\!#{}~\n]")
SPEAKS_OF_TESTS = re.compile(
    r"\b(?:pytest|py\.test|unittest|run_?tests?\.py|manage\.py test|tox|nox|nextest|vitest|jest|mocha|go test|cargo test"
    r"|dotnet test|(?:npm|yarn|pnpm|bun|mvn|mvnw|gradle|gradlew|make|just|hatch|node)\b.*\b(?:test|tests|check|verify)\b)"
)
REPORTS = re.compile(r"--(?:cov\b|cov-|no-cov\b|junit|html|basetemp|color|self-contained|timing|durations|report).*")
REPORTS_APART = re.compile(r"--(?:cov-report|cov-config|cov-fail-under|junit-?xml|basetemp|color|durations|html)")


@dataclass(frozen=True, slots=True)
class Shape:
    """A command without anything around it. `kind` says who runs the tests."""

    kind: str
    words: tuple[str, ...]
    narrow: bool = False
    """It names only some of the tests."""

    @property
    def command(self) -> str:
        return shlex.join(self.words)


@dataclass(frozen=True, slots=True)
class Pointer:
    """The command is another file's to say."""

    kind: str
    """make, just, tox, nox or script (of package.json)."""
    name: str = ""


class Refused(ValueError):
    """Speaks of tests, but has no shape that is known; says why."""


def shaped(line: str) -> list[Shape | Pointer]:
    """What a line runs, part by part; empty if it has nothing to do with tests. Refused if it is not plain."""
    if not SPEAKS_OF_TESTS.search(line):
        return []
    found = [one for part in line.split("&&") if SPEAKS_OF_TESTS.search(part) for one in [one_command(part)] if one]
    return found


def one_command(part: str) -> Shape | Pointer | None:
    words = plain_words(part)
    assigned, words = leading(words)
    if not words:
        return None
    program = words[0].rpartition("/")[2]
    pointed = pointer(program, words)
    if pointed:
        return pointed
    shape = python(words) or other(program, words)
    if shape is None:
        return None
    return Shape(shape.kind, (*assigned, *shape.words), shape.narrow)


def plain_words(part: str) -> list[str]:
    text = part.strip().removeprefix("@").removeprefix("-").strip().removeprefix("exec ")
    if match := FORBIDDEN.search(text):
        raise Refused(f"{match[0]!r} is more than a plain command")
    try:
        words = shlex.split(text)
    except ValueError:
        raise Refused("its quotes do not close") from None
    return words


def leading(words: list[str]) -> tuple[list[str], list[str]]:
    """Assignments that a test run may need, and the command behind whatever only prepares its environment."""
    assigned = list[str]()
    while words:
        if ASSIGNMENT.fullmatch(words[0]):
            if not ASSIGNED.fullmatch(words[0]):
                raise Refused(f"sets {words[0].partition('=')[0]}")
            assigned.append(words[0])
            words = words[1:]
        elif words[0] in ("env", "time", "exec", "command"):
            words = words[1:]
        elif words[0] == "timeout":
            words = words[2:]
        elif words[0] in RUNNERS and words[1:2] == ["run"]:
            words = past_options(words[2:])
        elif words[0] in ("uvx", "pipx"):
            words = past_options(words[1 + (words[1:2] == ["run"]) :])
        elif words[:3] == ["coverage", "run", "-m"] or words[1:5] == ["-m", "coverage", "run", "-m"]:
            words = ["python", "-m", *words[3 if words[0] == "coverage" else 5 :]]
        else:
            break
    return assigned, words


def past_options(words: list[str]) -> list[str]:
    while words and words[0].startswith("-"):
        words = words[2:] if words[0] in VALUED else words[1:]
    return words


def pointer(program: str, words: Sequence[str]) -> Pointer | None:
    if program in ("make", "just", "gmake"):
        names = [word for word in words[1:] if re.fullmatch(r"[\w.-]+", word) and not word.startswith("-")]
        return Pointer("just" if program == "just" else "make", names[0] if names else "")
    if program in ("tox", "nox") or (
        len(words) > 2 and PYTHON.fullmatch(program) and words[1] == "-m" and words[2] in ("tox", "nox")
    ):
        return Pointer("tox" if "tox" in words else "nox" if "nox" in words else program, option(words, "-e", "-s"))
    if program in ("npm", "yarn", "pnpm", "bun") and (name := script(words[1:])):
        return Pointer("script", name)
    return None


def option(words: Sequence[str], *names: str) -> str:
    return next((after for word, after in pairwise(words) if word in names), "")


def script(words: Sequence[str]) -> str:
    """Of package.json, when it is run as it stands: of the root, without options."""
    words = [word for word in words if word != "run"]
    return "test" if words == ["t"] else words[0] if len(words) == 1 and re.fullmatch(r"[\w:.-]*test[\w:.-]*", words[0]) else ""


def python(words: Sequence[str]) -> Shape | None:
    """Tests that a Python runs. A Python by path is the one of an environment, which is the first on the sandbox's PATH."""
    program = words[0].rpartition("/")[2]
    if program in ("pytest", "py.test"):
        return pytest(("pytest",), words[1:])
    if not PYTHON.fullmatch(program):
        return None
    at = 1
    while at < len(words) and re.fullmatch(r"-[BEIOPsSubdWX][\w:=]*", words[at]):
        at += 2 if words[at] in ("-W", "-X") else 1
    head, rest = ("python", *checked(words[1:at])), words[at:]
    if rest[:1] == ["-m"] and len(rest) > 1:
        if rest[1] in ("pytest", "py.test"):
            return pytest((*head, "-m", "pytest"), rest[2:])
        return Shape("unittest", (*head, "-m", "unittest", *checked(rest[2:]))) if rest[1] == "unittest" else None
    if rest and SCRIPT.fullmatch(rest[0]) and (not rest[0].endswith("manage.py") or rest[1:2] == ["test"]):
        return Shape("script", (*head, *checked(rest)))
    return None


def pytest(head: tuple[str, ...], words: Sequence[str]) -> Shape:
    """Without options that only write reports, and need plugins for it."""
    kept, skip = list[str](), False
    for word in words:
        if skip:
            skip = False
        elif REPORTS.fullmatch(word):
            skip = bool(REPORTS_APART.fullmatch(word))
        else:
            kept.append(word)
    if "--pyargs" in kept:
        raise Refused("tests what is installed, not this tree")
    chosen = any(word in ("-k", "-m", "--lf", "--last-failed") or "::" in word or word.endswith(".py") for word in kept)
    return Shape("pytest", (*head, *checked(kept)), chosen)


def other(program: str, words: Sequence[str]) -> Shape | None:
    """Tests in other languages, and scripts of a package that start a known runner."""
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
    return Shape(name, (start, *checked(rest)), narrow)


def checked(words: Sequence[str]) -> list[str]:
    """None of them leads out of the tree."""
    for word in words:
        if not ARGUMENT.fullmatch(word):
            raise Refused(f"{word[:40]!r} is more than a plain argument")
        value = word.partition("=")[2] or word
        if value.startswith("/") or ".." in value.replace("...", "").split("/"):
            raise Refused(f"{word[:40]!r} leads out of the tree")
    return list(words)
