"""The command of a check, as it is run: made to name its tests, and narrowed to some test files where that is safe."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

REPORT = ("-rfEsxXp", "--tb=short", "--color=no")
_ASSIGNMENT = r"(?:\w+=\S* )*"
_RUNNER = r"(?:timeout \S+ )?(?:(?:uv|poetry|pipenv|pdm|rye|hatch) run )?"
_PYTHON = r"(?:\S*python[\d.]* (?:-[BEIOPsSu]+ |-[WX] ?\S+ )*)"
_HEAD = re.compile(rf"{_ASSIGNMENT}{_RUNNER}(?:{_PYTHON}-m (?:coverage run (?:-\S+ )*-m )?|coverage run (?:-\S+ )*-m )?")
_TAKES_VALUE = re.compile(
    r"-[kmnpcWor]|--(?:maxfail|tb|color|timeout|numprocesses|dist|durations|durations-min|rootdir|ignore|ignore-glob|deselect|confcutdir"
    r"|basetemp|import-mode|junit-?xml|override-ini|config-file|cov-report|cov-config|cov-fail-under|log-level|log-cli-level|capture"
    r"|show-capture|pythonwarnings|reruns)"
)
_TAKES_NONE = re.compile(
    r"-[^-].*|--.*=.*|--(?:exitfirst|verbose|quiet|strict|strict-markers|strict-config|no-header|no-summary|showlocals|lf|ff|nf|last-failed"
    r"|failed-first|new-first|sw|stepwise|disable-warnings|disable-pytest-warnings|cache-clear|runxfail|no-cov|doctest-modules"
    r"|continue-on-collection-errors|full-trace|setup-show|noconftest)"
)


@dataclass(frozen=True, slots=True)
class PytestCommand:
    """One pytest command without shell syntax around it."""

    head: tuple[str, ...]
    options: tuple[str, ...]
    places: tuple[str, ...]
    """Files and folders it names."""


def instrumented(command: str) -> str:
    """The command with what makes a test run tell its outcomes by name.

    No bytecode is written: a file that is put back within the second would otherwise be shadowed by that of its rejected version.
    """
    options = " ".join((*REPORT, "--continue-on-collection-errors"))
    return f"export PYTHONDONTWRITEBYTECODE=1 PYTEST_ADDOPTS={shlex.quote(options)}\n{_explicit(command)}"


def _explicit(command: str) -> str:
    """Options on the command line win over the environment's, so there ours must come last."""
    words = _words(command)
    if words is None:
        return command
    if _program(words, "unittest") is not None and not {"-v", "--verbose"} & set(words):
        return f"{command} -v"
    overrides = any(re.match(r"-[a-z]*r|--tb|--color|--no-summary", word) for word in words)
    return f"{command} {' '.join(REPORT)}" if overrides and _program(words, "pytest", "py.test") is not None else command


def is_single_session(command: str) -> bool:
    """One pytest session is all that this command can start by itself."""
    words = _words(command)
    return words is not None and _program(words, "pytest", "py.test") is not None


def interpreter(command: str) -> str:
    """The Python that a check uses, as far as its command tells."""
    words = _words(command) or []
    return next((word for word in words if re.fullmatch(r"(?:\S*/)?python[\d.]*", word)), "python3")


def narrowed(command: str, tests: Sequence[str]) -> str | None:
    """The command for these test files only; None when that can't be done safely or they are not what it runs."""
    parsed = _parse(command)
    if parsed is None or any("::" in place or place.endswith(".py") for place in parsed.places):
        return None
    chosen = [test for test in tests if not parsed.places or any(_within(test, place) for place in parsed.places)]
    return shlex.join([*parsed.head, *chosen, *parsed.options]) if chosen else None


def _within(test: str, place: str) -> bool:
    folder = place.removeprefix("./").rstrip("/")
    return folder in ("", ".") or test.startswith(folder + "/")


def _words(command: str) -> list[str] | None:
    """The words of a plain command; None if a shell would do more than split it."""
    if re.search(r"[$`\n\\*?~{}]", command):
        return None
    lexer = shlex.shlex(command, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        words = list(lexer)
    except ValueError:
        return None
    return None if any(set(word) <= set("();<>|&") for word in words) else words


def _program(words: Sequence[str], *names: str) -> int | None:
    """Where the named program stands, if all before it only leads to it."""
    for at, word in enumerate(words):
        if word.rpartition("/")[2] in names:
            head = "".join(part + " " for part in words[:at])
            return at if _HEAD.fullmatch(head) else None
    return None


def _parse(command: str) -> PytestCommand | None:
    words = _words(command)
    at = _program(words, "pytest", "py.test") if words else None
    if not words or at is None or any(shlex.quote(word) != word for word in words[:at]):
        return None
    sorted_out = _sort_out(words[at + 1 :])
    return PytestCommand(tuple(words[: at + 1]), *sorted_out) if sorted_out else None


def _sort_out(arguments: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Options and places; None when a word may be either the value of an unknown option or a place."""
    options: list[str] = []
    places: list[str] = []
    before = ""
    for word in arguments:
        if before and _TAKES_VALUE.fullmatch(before):
            options.append(word)
            before = ""
        elif word.startswith("-"):
            options.append(word)
            before = word
        elif before and not _TAKES_NONE.fullmatch(before):
            return None
        else:
            places.append(word)
            before = ""
    return tuple(options), tuple(places)
