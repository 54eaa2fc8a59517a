"""The command of a check, as it is run: made to name its tests, and narrowed to some test files where that is safe."""

import re
import shlex
from collections.abc import Sequence

from afresh.core.fast_dataclass import dataclass

NO_BYTECODE = "export PYTHONDONTWRITEBYTECODE=1"
PYTEST_REPORT_OPTIONS = ("-rfEsxXp", "--tb=short", "--color=no")
_ENVIRONMENT_ASSIGNMENT = r"(?:\w+=\S* )*"
_RUNNER_PREFIX = r"(?:timeout \S+ )?(?:(?:uv|poetry|pipenv|pdm|rye|hatch) run )?"
_PYTHON_PREFIX = r"(?:\S*python[\d.]* (?:-[BEIOPsSu]+ |-[WX] ?\S+ )*)"
_COMMAND_HEAD = re.compile(
    rf"{_ENVIRONMENT_ASSIGNMENT}{_RUNNER_PREFIX}(?:{_PYTHON_PREFIX}-m (?:coverage run (?:-\S+ )*-m )?|coverage run (?:-\S+ "
    r")*-m )?"
)
_PYTHON_PATH = re.compile(r"(^|[\s;&|(])PYTHONPATH=(?=\S)")
"""Set by a check: what was in it stays first, for reporters are found by it."""
_OPTION_WITH_VALUE = re.compile(
    r"-[kmnpcWor]|--(?:maxfail|tb|color|timeout|numprocesses|dist|durations|durations-min|rootdir|ignore|ignore-glob|deselect|confcutdir"
    r"|basetemp|import-mode|junit-?xml|override-ini|config-file|cov-report|cov-config|cov-fail-under|log-level|log-cli-level|capture"
    r"|show-capture|pythonwarnings|reruns)"
)
_OPTION_WITHOUT_VALUE = re.compile(
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


def instrument_command(command: str) -> str:
    """The command with what makes a test run tell its outcomes by name.

    No bytecode is written: a file that is put back within the second would otherwise be shadowed by that of its rejected version.
    """
    options = " ".join((*PYTEST_REPORT_OPTIONS, "--continue-on-collection-errors"))
    instrumented = _PYTHON_PATH.sub(r'\1PYTHONPATH="${PYTHONPATH:+$PYTHONPATH:}"', _append_report_options(command))
    return f"{NO_BYTECODE} PYTEST_ADDOPTS={shlex.quote(options)}\n{instrumented}"


def _append_report_options(command: str) -> str:
    """Options on the command line win over the environment's, so there ours must come last."""
    words = split_plain_command(command)
    if words is None:
        return command
    if _find_program(words, "unittest") is not None and not {"-v", "--verbose"} & set(words):
        return f"{command} -v"
    overrides = any(re.match(r"-[a-z]*r|--tb|--color|--no-summary", word) for word in words)
    return (
        f"{command} {' '.join(PYTEST_REPORT_OPTIONS)}"
        if overrides and _find_program(words, "pytest", "py.test") is not None
        else command
    )


def is_single_pytest_session(command: str) -> bool:
    """One pytest session is all that this command can start by itself."""
    words = split_plain_command(command)
    return words is not None and _find_program(words, "pytest", "py.test") is not None


def find_interpreter(command: str) -> str:
    """The Python that a check uses, as far as its command tells."""
    words = split_plain_command(command) or []
    return next((word for word in words if re.fullmatch(r"(?:\S*/)?python[\d.]*", word)), "python3")


def narrow_to_tests(command: str, tests: Sequence[str]) -> str | None:
    """The command for these test files only; None when that can't be done safely or they are not what it runs."""
    parsed = _parse_pytest_command(command)
    if parsed is None or any("::" in place or place.endswith(".py") for place in parsed.places):
        return None
    folders = [place.removeprefix("./").rstrip("/") for place in parsed.places]
    chosen = [
        test for test in tests if not folders or any(test.startswith(f"{folder}/") or folder in ("", ".") for folder in folders)
    ]
    return shlex.join([*parsed.head, *chosen, *parsed.options]) if chosen else None


def narrow_to_names(command: str, tests: Sequence[str]) -> str | None:
    """The command for these tests only, by the names that its report gives them; None when that can't be done safely."""
    parsed = _parse_pytest_command(command)
    if parsed is not None:
        plain = all(not test.startswith("-") and ".py" in test for test in tests)
        return shlex.join([*parsed.head, *tests, *parsed.options]) if plain else None
    words = split_plain_command(command)
    at = _find_program(words, "unittest") if words else None
    if not words or at is None or any(not re.fullmatch(r"[A-Za-z_][\w.]*", test) for test in tests):
        return None
    rest = words[at + 1 :]
    named = [word for word in rest if not word.startswith("-")]
    fits = all(re.fullmatch(r"[A-Za-z_][\w.]*", word) and any(test.startswith(word) for test in tests) for word in named)
    options = [word for word in rest if word.startswith("-")]
    return shlex.join([*words[: at + 1], *options, *tests]) if named and fits and "discover" not in named else None


def split_plain_command(command: str) -> list[str] | None:
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


def _find_program(words: Sequence[str], *names: str) -> int | None:
    """Where the named program stands, if all before it only leads to it."""
    for at, word in enumerate(words):
        if word.rpartition("/")[2] in names:
            head = "".join(part + " " for part in words[:at])
            return at if _COMMAND_HEAD.fullmatch(head) else None
    return None


def _parse_pytest_command(command: str) -> PytestCommand | None:
    words = split_plain_command(command)
    at = _find_program(words, "pytest", "py.test") if words else None
    if not words or at is None or any(shlex.quote(word) != word for word in words[:at]):
        return None
    sorted_out = _sort_arguments(words[at + 1 :])
    return PytestCommand(tuple(words[: at + 1]), *sorted_out) if sorted_out else None


def _sort_arguments(arguments: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Options and places; None when a word may be either the value of an unknown option or a place."""
    options: list[str] = []
    places: list[str] = []
    before = ""
    for word in arguments:
        if before and _OPTION_WITH_VALUE.fullmatch(before):
            options.append(word)
            before = ""
        elif word.startswith("-"):
            options.append(word)
            before = word
        elif before and not _OPTION_WITHOUT_VALUE.fullmatch(before):
            return None
        else:
            places.append(word)
            before = ""
    return tuple(options), tuple(places)
