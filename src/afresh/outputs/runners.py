"""Test runners other than Python's: how a check starts one, how it is made to report each test, and what reads that report."""

import re
import shlex
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from afresh.core.rewrite_check_command import split_plain_command
from afresh.outputs.test_reports import (
    ReportedTest,
    parse_jest_report,
    parse_junit_reports,
    parse_mocha_report,
    parse_node_report,
    parse_tap,
)

REPORTS = '"$AFRESH_REPORTS"'
"""The folder for reports, as a shell expands it."""
FOLDER_REPORT = "folder"
"""Holds the path of the tree, as the runner sees it: paths in reports begin with it."""
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
NODE_SETUP = f"""\
afresh_options="--test-reporter=spec --test-reporter-destination=stdout \
--test-reporter=data:text/javascript;base64,{b64encode(NODE_REPORTER.encode()).decode()}"
afresh_options="$afresh_options --test-reporter-destination=$AFRESH_REPORTS/node.jsonl"
NODE_OPTIONS="$afresh_options" node -e 0 2>/dev/null && export NODE_OPTIONS="$afresh_options"
"""
"""Node takes its reporter from the environment; a version that does not know the option is left alone."""
COLLECT_JUNIT = rf"""
afresh_exit=$?
find . -name node_modules -prune -o \( -path '*/surefire-reports/TEST-*.xml' -o -path '*/failsafe-reports/TEST-*.xml' \) \
-newer {REPORTS}/{FOLDER_REPORT} -exec cat {{}} + -o -path '*/build/test-results/*/TEST-*.xml' -exec cat {{}} + \
> {REPORTS}/junit.xml 2>/dev/null
exit $afresh_exit"""


@dataclass(frozen=True, slots=True)
class Runner:
    """`report` is the file that it is made to write, and `read` what reads it."""

    programs: tuple[str, ...]
    words: tuple[str, ...] = ()
    """One of these words must follow the program, or it is not this runner."""
    inserted: str = ""
    """An option to report, put in after that word."""
    appended: str = ""
    """Options to report, put at the end."""
    report: str = ""
    read: Callable[[str], Iterable[ReportedTest]] | None = None
    before: str = ""
    after: str = ""
    """Lines of shell around the command."""
    files: str | None = None
    """The option before the test files to run; None if the runner takes no files."""


JUNIT = ("junit.xml", parse_junit_reports, "", COLLECT_JUNIT)
VITEST_WORDS = ("run", "watch", "dev")
RUNNERS = (
    Runner(
        ("jest",),
        appended=f"--json --outputFile={REPORTS}/jest.json",
        report="jest.json",
        read=parse_jest_report,
        files="--runTestsByPath ",
    ),
    Runner(  # it would keep its cache in `node_modules`, which is read-only for a check, and fail
        ("vitest",),
        appended=f"--no-cache --reporter=default --reporter=json --outputFile.json={REPORTS}/jest.json",
        report="jest.json",
        read=parse_jest_report,
        files="",
    ),
    Runner(
        ("mocha",),
        appended=f"--reporter json --reporter-option output={REPORTS}/mocha.json",
        report="mocha.json",
        read=parse_mocha_report,
        files="",
    ),
    Runner(("tap",), appended=f"--output-file={REPORTS}/results.tap", report="results.tap", read=parse_tap, files=""),
    Runner(("node",), ("--test",), report="node.jsonl", read=parse_node_report, before=NODE_SETUP, files=""),
    Runner(("cargo",), ("test", "t"), "--no-fail-fast"),
    Runner(("go",), ("test",), "-json"),
    Runner(("mvn", "mvnw"), (), "", "--fail-at-end", *JUNIT),
    Runner(("gradle", "gradlew"), (), "", "--continue", *JUNIT),
)
_STARTERS = frozenset({"npx", "bunx", "pnpx", "cross-env", "c8", "nyc", "exec", "env", "time"})
_MANAGERS = frozenset({"npm", "pnpm", "yarn", "bun"})
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=.*")
_FOLDER_PREFIX = re.compile(r"^cd ([\w./@-]+) && ")
_MAX_SCRIPTS = 3
"""Scripts that may call one another."""


@dataclass(frozen=True, slots=True)
class RunnerCommand:
    """A check that starts one runner last, so that words put after the check reach it."""

    runner: Runner
    command: str
    words: tuple[str, ...]
    """The words of the runner itself, from its program on."""
    hand_on: str = ""
    """The words before options, so that scripts in between pass the options on."""


def find_package_folder(command: str) -> str | None:
    """The folder whose package.json has the script that a check starts; None if it starts none."""
    folder, rest = _split_folder(command)
    return folder if _find_script_name(_skip_starters(split_plain_command(rest) or [])) else None


def find_runner_command(command: str, scripts: Mapping[str, str]) -> RunnerCommand | None:
    """The runner that a check starts, directly or by scripts of package.json; None if it is not known, or is not the last."""
    _, rest = _split_folder(command)
    hand_on = ""
    for _ in range(_MAX_SCRIPTS + 1):
        words = _skip_starters(split_plain_command(rest) or [])
        if runner := next((one for one in RUNNERS if _is_started_by(one, words)), None):
            return RunnerCommand(runner, command, tuple(words), hand_on)
        script = _find_script_name(words)
        if not script or not isinstance(scripts.get(script), str):
            return None
        passed_on = [shlex.quote(word) for word in words[words.index("--") + 1 :]] if "--" in words else []
        hand_on += " --" if words[0] == "npm" and "--" not in words else ""
        rest = " ".join([re.split(r"&&|;", scripts[script])[-1].strip(), *passed_on])
    return None


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
    bare = (
        len(left) > 1
        and left[0] in ("yarn", "pnpm")
        and any(left[1] in runner.programs and not runner.words for runner in RUNNERS)
    )
    return left[1:] if bare else left


def _is_started_by(runner: Runner, words: Sequence[str]) -> bool:
    if not words or words[0].rpartition("/")[2] not in runner.programs:
        return False
    if "--test" in runner.words:
        return "--test" in words and not any(word.startswith("--test-reporter") for word in words)
    after = [word for word in words[1:3] if not word.startswith("+")]  # `cargo +stable test`
    return not runner.words or after[:1] in [[word] for word in runner.words]


def _find_script_name(words: Sequence[str]) -> str:
    if len(words) < 2 or words[0] not in _MANAGERS:
        return ""
    if words[1] in ("run", "run-script"):
        return words[2] if len(words) > 2 else ""
    return "test" if words[1] == "t" else words[1]


def instrument_runner(runner_command: RunnerCommand) -> str:
    """The command, made to leave a report that names each test. Its exit code stays what it was."""
    runner, command = runner_command.runner, runner_command.command
    if runner.inserted and runner.inserted not in runner_command.words:
        start = rf"\b({runner.programs[0]}(?: \+\S+)? (?:{'|'.join(runner.words)}))\b"
        command = re.sub(start, rf"\1 {runner.inserted}", command, count=1)
    elif runner.appended and "--" not in runner_command.words:
        command += f"{runner_command.hand_on} {runner.appended}"
    return f"pwd > {REPORTS}/{FOLDER_REPORT}\n{runner.before}{command}{runner.after}"


def narrow_runner(command: RunnerCommand, tests: Sequence[str]) -> str | None:
    """The command for these test files only; None where that can't be done safely."""
    folder, _ = _split_folder(command.command)
    inside = [test.removeprefix(f"{folder}/") if folder else test for test in tests]
    if any(shlex.quote(test) != test for test in inside) or not inside:
        return None
    program, rest = command.runner.programs[0], command.words[2:]
    if command.runner.files is not None:
        own = VITEST_WORDS if program == "vitest" else ()
        named = [word for word in command.words[1:] if word == "--" or not (word.startswith("-") or word in own)]
        return None if named else f"{command.command}{command.hand_on} {command.runner.files}{' '.join(inside)}"
    if program == "cargo" and not rest and all(re.fullmatch(r"tests/\w+\.rs", test) for test in inside):
        return " ".join((command.command, *(f"--test {test[len('tests/') : -len('.rs')]}" for test in inside)))
    if program == "go" and rest in ((), ("./...",)):
        packages = dict.fromkeys(f"./{test.rpartition('/')[0]}" for test in inside if test.endswith("_test.go"))
        return " ".join((command.command.removesuffix(" ./..."), *packages)) if packages else None
    return None
