"""Test runners other than Python's: which one a check starts, and how to make it report each test or run only some files."""

import re
import shlex
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum

from afresh.core.fast_dataclass import dataclass

REPORTS = '"$AFRESH_REPORTS"'
"""The folder for reports, as a shell expands it."""
FOLDER_REPORT = "folder"
"""Holds the path of the tree, as the runner sees it: paths in reports begin with it."""
JEST_REPORT = "jest.json"
MOCHA_REPORT = "mocha.json"
NODE_REPORT = "node.jsonl"
TAP_REPORT = "results.tap"
JUNIT_REPORT = "junit.xml"

NODE_REPORTER = """
import { relative } from 'node:path';
export default async function* report(events) {
  const names = [], parents = new Set(), printed = new Map();
  for await (const { type, data } of events) {
    if (type === 'test:stderr') printed.set(data.file, ((printed.get(data.file) ?? '') + data.message).slice(-4000));
    if (type === 'test:start') {
      if (data.nesting === 0) parents.clear();
      names.length = data.nesting;
      parents.add(names.join('\\n'));
      names.push(data.name);
    }
    if (type !== 'test:pass' && type !== 'test:fail') continue;
    names.length = data.nesting;
    const path = [...names, data.name], error = data.details?.error, cause = error?.cause;
    yield JSON.stringify({
      file: data.file ? relative(process.cwd(), data.file) : '', names: data.name === data.file ? [] : path,
      outcome: data.skip !== undefined || data.todo !== undefined ? 'skipped' : type === 'test:pass' ? 'passed' : 'failed',
      parent: data.details?.type === 'suite' || parents.has(path.join('\\n')), why: error?.failureType ?? '',
      text: error ? String(cause?.stack ?? cause ?? error.message) : '', printed: printed.get(data.file) ?? '',
    }) + '\\n';
  }
}
"""
"""One JSON object a line. A suite is told apart from a test, since it fails only because of what is in it."""


class Runner(StrEnum):
    JEST = "jest"
    VITEST = "vitest"
    MOCHA = "mocha"
    TAP = "tap"
    NODE = "node"
    CARGO = "cargo"
    GO = "go"
    MAVEN = "mvn"
    GRADLE = "gradle"


_PROGRAMS = {
    "jest": Runner.JEST, "vitest": Runner.VITEST, "mocha": Runner.MOCHA, "tap": Runner.TAP, "mvn": Runner.MAVEN,
    "mvnw": Runner.MAVEN, "gradle": Runner.GRADLE, "gradlew": Runner.GRADLE,
}  # fmt: skip
_OPTIONS = {
    Runner.JEST: f"--json --outputFile={REPORTS}/{JEST_REPORT}",
    Runner.VITEST: f"--no-cache --reporter=default --reporter=json --outputFile.json={REPORTS}/{JEST_REPORT}",
    Runner.MOCHA: f"--reporter json --reporter-option output={REPORTS}/{MOCHA_REPORT}",
    Runner.TAP: f"--output-file={REPORTS}/{TAP_REPORT}",
    Runner.MAVEN: "--fail-at-end",
    Runner.GRADLE: "--continue",
}
"""Appended to the command. jest and vitest print as always, too. vitest would keep its cache in `node_modules`, which
is read-only for a check, and fail."""
_SUBCOMMANDS = {Runner.CARGO: ("test", "--no-fail-fast"), Runner.GO: ("test", "-json")}
"""After which word an option is put in, and which."""
_STARTERS = frozenset({"npx", "bunx", "pnpx", "cross-env", "c8", "nyc", "exec", "env", "time"})
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")
_FOLDER_PREFIX = re.compile(r"^cd ([\w./@-]+) && ")
_VITEST_MODE = re.compile(r"run|watch|dev")
_FILES_OPTION = {Runner.JEST: ("--runTestsByPath",)}
_TEST_FILE_RUNNERS = frozenset({Runner.JEST, Runner.VITEST, Runner.MOCHA, Runner.TAP, Runner.NODE})
_MAX_SCRIPTS = 3
"""Scripts that may call one another."""
_FIND_JUNIT_FILES = (
    r"find . -name node_modules -prune -o \( -path '*/surefire-reports/TEST-*.xml' -o -path '*/failsafe-reports/TEST-*.xml' \)"
    rf" -newer {REPORTS}/{FOLDER_REPORT} -exec cat {{}} + -o -path '*/build/test-results/*/TEST-*.xml' -exec cat {{}} +"
)


@dataclass(frozen=True, slots=True)
class RunnerCommand:
    """A check that starts one runner last, so that words put after the check reach it."""

    runner: Runner
    command: str
    words: tuple[str, ...]
    """Of the runner itself, from its program on."""
    hand_on: str = ""
    """What must stand before options so that the scripts on the way pass them on."""


def find_package_folder(command: str) -> str | None:
    """The folder whose package.json has the script that a check starts; None if it starts none."""
    folder, rest = _split_folder(command)
    words = _split_words(rest)
    return folder if _find_script_name(_skip_starters(words)) else None


def find_runner_command(command: str, scripts: Mapping[str, str]) -> RunnerCommand | None:
    """The runner that a check starts, directly or by scripts of package.json; None if it is not known, or is not the last."""
    _, rest = _split_folder(command)
    hand_on = ""
    for _ in range(_MAX_SCRIPTS + 1):
        words = _skip_starters(_split_words(rest))
        if runner := _recognise_runner(words):
            return RunnerCommand(runner, command, tuple(words), hand_on)
        script = _find_script_name(words)
        if not script or not isinstance(scripts.get(script), str):
            return None
        passed_on = " -- " in f"{rest} "
        hand_on += " --" if words[0] == "npm" and not passed_on else ""
        rest = " ".join([re.split(r"&&|;", scripts[script])[-1].strip(), *_list_passed_words(words)])
    return None


def _split_words(command: str) -> list[str]:
    """The words of a plain command; none if a shell would do more than split it."""
    if re.search(r"[$`\n\\*?~{}();<>|&]", command):
        return []
    try:
        return shlex.split(command)
    except ValueError:
        return []


def _split_folder(command: str) -> tuple[str, str]:
    match = _FOLDER_PREFIX.match(command)
    return (match[1], command[match.end() :]) if match else ("", command)


def _skip_starters(words: Sequence[str]) -> list[str]:
    """The words from the program on that runs the tests: without variables, `npx`, `c8 --options`."""
    left = list(words)
    while left and (_ASSIGNMENT.fullmatch(left[0]) or left[0].rpartition("/")[2] in _STARTERS):
        starter = left.pop(0)
        while left and not _ASSIGNMENT.fullmatch(starter) and left[0].startswith("-"):
            left.pop(0)
    if len(left) > 2 and left[0] in _MANAGERS and left[1] in ("exec", "x", "dlx"):
        return [word for word in left[2:] if word != "--"]
    return left[1:] if len(left) > 1 and left[0] in ("yarn", "pnpm") and left[1] in _PROGRAMS else left


def _recognise_runner(words: Sequence[str]) -> Runner | None:
    program = words[0].rpartition("/")[2] if words else ""
    if program == "node":
        return Runner.NODE if "--test" in words and not any(word.startswith("--test-reporter") for word in words) else None
    if program == "cargo":
        plain = [word for word in words[1:3] if not word.startswith("+")]
        return Runner.CARGO if plain[:1] in (["test"], ["t"]) else None
    if program == "go":
        return Runner.GO if words[1:2] == ["test"] else None
    return _PROGRAMS.get(program)


def _find_script_name(words: Sequence[str]) -> str:
    if len(words) < 2 or words[0] not in _MANAGERS:
        return ""
    if words[1] in ("run", "run-script"):
        return words[2] if len(words) > 2 else ""
    return "test" if words[1] == "t" else words[1]


def _list_passed_words(words: Sequence[str]) -> list[str]:
    return [shlex.quote(word) for word in words[words.index("--") + 1 :]] if "--" in words else []


def instrument_runner(found: RunnerCommand) -> str:
    """The command, made to leave a report that names each test. Its exit code stays what it was."""
    lines = [f"pwd > {REPORTS}/{FOLDER_REPORT}", *_prepare_runner(found.runner), _append_options(found)]
    if found.runner in (Runner.MAVEN, Runner.GRADLE):
        lines += ["afresh_exit=$?", f"{_FIND_JUNIT_FILES} > {REPORTS}/{JUNIT_REPORT} 2>/dev/null", "exit $afresh_exit"]
    return "\n".join(lines)


def _prepare_runner(runner: Runner) -> Iterator[str]:
    """Node takes its reporter from the environment; a version that does not know the option is left alone."""
    if runner is Runner.NODE:
        reporter = f"data:text/javascript;base64,{b64encode(NODE_REPORTER.encode()).decode()}"
        yield f'afresh_options="--test-reporter=spec --test-reporter-destination=stdout --test-reporter={reporter}"'
        yield f'afresh_options="$afresh_options --test-reporter-destination=$AFRESH_REPORTS/{NODE_REPORT}"'
        yield 'NODE_OPTIONS="$afresh_options" node -e 0 2>/dev/null && export NODE_OPTIONS="$afresh_options"'


def _append_options(found: RunnerCommand) -> str:
    if found.runner in _SUBCOMMANDS:
        word, option = _SUBCOMMANDS[found.runner]
        known = option in found.words
        return (
            found.command
            if known
            else re.sub(rf"\b({found.runner}(?: \+\S+)? (?:{word}|t))\b", rf"\1 {option}", found.command, count=1)
        )
    options = _OPTIONS.get(found.runner, "")
    return f"{found.command}{found.hand_on} {options}" if options and "--" not in found.words else found.command


def narrow_runner(found: RunnerCommand, tests: Sequence[str]) -> str | None:
    """The command for these test files only; None where that can't be done safely."""
    folder, _ = _split_folder(found.command)
    inside = [test.removeprefix(f"{folder}/") if folder else test for test in tests]
    if any(shlex.quote(test) != test for test in inside) or not inside:
        return None
    if found.runner in _TEST_FILE_RUNNERS:
        files = " ".join((*_FILES_OPTION.get(found.runner, ()), *inside))
        return f"{found.command}{found.hand_on} {files}" if not _names_places(found) else None
    if found.runner is Runner.CARGO and all(re.fullmatch(r"tests/\w+\.rs", test) for test in inside) and len(found.words) == 2:
        return " ".join((found.command, *(f"--test {test.rpartition('/')[2].removesuffix('.rs')}" for test in inside)))
    if found.runner is Runner.GO and found.words[2:] in ((), ("./...",)):
        packages = dict.fromkeys(f"./{test.rpartition('/')[0]}" for test in inside if test.endswith("_test.go"))
        return " ".join((found.command.removesuffix(" ./..."), *packages)) if packages else None
    return None


def _names_places(found: RunnerCommand) -> bool:
    """Whether it may name files or folders already: a word that is neither the runner's own nor an option."""
    words = [word for word in found.words[1:] if not _VITEST_MODE.fullmatch(word) or found.runner is not Runner.VITEST]
    return any(not word.startswith("-") for word in words) or "--" in words
