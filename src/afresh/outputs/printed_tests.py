"""Reads what test runners print: a table of how their lines look, and one reader for all of them."""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from afresh.core.command_output import CommandOutput, OutputReading
from afresh.core.text import read_foreign_json
from afresh.outputs.outcomes import (
    ERROR,
    FAILED,
    MAX_DETAIL_LINES,
    MAX_MESSAGE_LINES,
    OUTCOME_RANK,
    PASSED,
    SKIPPED,
    ReportedTest,
    TestRun,
    reading_from_run,
    truncate_traceback,
)

NOTHING = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class TextFormat:
    """The lines of one runner. Groups: `test`, the `within` or `file` it is in, and the `word` for how it ended."""

    runner: str
    counts: re.Pattern[str]
    """How many tests ended how."""
    outcomes: tuple[re.Pattern[str], ...] = ()
    """How one test ended."""
    section: re.Pattern[str] = NOTHING
    """The line above the message of a failing test."""
    end: re.Pattern[str] = NOTHING
    """Ends what it said."""
    reason: re.Pattern[str] = re.compile(r"\S")
    """Where in it the reason begins; its first group, if it has one, is left out."""
    file: re.Pattern[str] = NOTHING
    """Names the file, target or package of the tests below; with a `word` also how that ended."""
    word: re.Pattern[str] = NOTHING
    """How a test ended whose own line does not say it."""
    tail: bool = False
    """The last error is the reason, as the ones before it led to it."""
    titled: bool = False
    """Sections have titles that are made of the names of tests; lines that name a test may go on with ` - ` and the reason."""
    nested: bool = False
    """A test that fails with one inside it is not reported. Packages end with a line of their own."""


PYTEST_SUMMARY = re.compile(r"^=+ short test summary info =+$")
FORMATS = (
    TextFormat(
        "pytest",
        re.compile(
            r"^=+ short test summary info =+$"
            r"|^(?:=+ )?(?:\d+ (?:passed|failed|error|skipped|xfailed|xpassed|deselected|warning|subtests|rerun)|no tests ran)"
            r".* in [\d.…]+s\b"
        ),
        (
            re.compile(r"^(?P<word>PASSED|FAILED|ERROR|XFAIL|XPASS|SUBFAIL(?:ED)?\b.*?) (?P<test>[^\s:]*(?:::\S|\.py\b).*)$"),
            re.compile(r"^\[gw\d+\] \[ *\d+%\] (?P<word>PASSED) (?P<test>\S+::\S.*)$"),
            re.compile(r"^(?P<test>(?=\S+?::\S)\S.*) (?P<word>PASSED)(?: +\[ *\d+%\])?$"),
        ),
        section=re.compile(r"^_+ (?:ERROR at (?:setup|teardown) of |ERROR collecting )?(?P<test>.+?) _+$"),
        end=re.compile(r"^(?:=+ .* =+|!+ .* !+|-+ Captured .* -+)$"),
        reason=re.compile(r"^(E +)"),
        tail=True,
        titled=True,
    ),
    TextFormat(
        "unittest",
        re.compile(r"^(?:Ran \d+ tests? in [\d.…]+s$|(?:OK|FAILED) \()"),
        (re.compile(r"^(?P<test>[\w.]+) \((?P<within>[\w.<>]+)\)"),),
        section=re.compile(r"^(?P<word>FAIL|ERROR): (?P<test>[\w.]+) \((?P<within>[\w.<>]+)\)"),
        end=re.compile(r"^={20}"),
        reason=re.compile(r"^[A-Za-z_][\w.]*(?:$|: )"),
        word=re.compile(r"(?:^|\.\.\. ?|\s)(ok|FAIL|ERROR|skipped .*|expected failure|unexpected success)$"),
        tail=True,
    ),
    TextFormat(
        "cargo test",
        re.compile(r"^test result: (?:ok|FAILED)\. "),
        (
            re.compile(
                r"^test (?:(?P<file>\S+\.rs) - )?(?P<test>.+?)(?: \(line \d+\))?(?: - should panic)?"
                r" \.\.\. (?P<word>ok|FAILED|ignored)\b"
            ),
        ),
        section=re.compile(r"^---- (?:(?P<file>\S+\.rs) - )?(?P<test>.+?)(?: \(line \d+\))? stdout ----$"),
        end=re.compile(r"^(?:failures:$|stack backtrace:|note: |error: test failed)"),
        reason=re.compile(r"^(thread '.*' (?:\(\d+\) )?)panicked at |^Error: "),
        file=re.compile(
            r"^\s+Running (?:unittests )?(?P<file>\S+\.rs) \((?:[^\s()]*/)?(?P<crate>[^\s()/]+?)(?:-[0-9a-f]{16})?(?:\.exe)?\)"
            r"|^\s+Doc-tests \S+$"
        ),
    ),
    TextFormat(
        "go test",
        NOTHING,
        (re.compile(r"^ *--- (?P<word>FAIL|PASS|SKIP): (?P<test>\S+) \([\d.]+s\)$"),),
        section=re.compile(r"^ *(?:=== (?:RUN|CONT|NAME|PAUSE) +|--- (?:FAIL|PASS|SKIP): )(?P<test>\S+)"),
        end=re.compile(r"^(?:FAIL|PASS|goroutine \d+ .*|exit status \d+)$"),
        reason=re.compile(r"(?<!\S)\S+?\.go:\d+(?::\d+)?: |panic: "),
        file=re.compile(r"^(?P<word>ok|FAIL|\?)\s+(?P<file>\S+)\s+(?:[\d.]+s|\(cached\)|\[)"),
        nested=True,
    ),
    TextFormat(
        "jest",
        re.compile(r"^Tests: +\d"),
        section=re.compile(
            r"^  ● (?!Console|Validation Warning|Deprecation Warning|Cannot log after)(?:Test suite failed to run$|(?P<test>.+))"
        ),
        end=re.compile(r"^ +(?:at |> *\d+ \||\d+ \|)"),
        file=re.compile(r"^(?P<word>FAIL|PASS) (?:\[?\w+\]? )?(?P<file>\S+\.\w+)(?: \([\d.]+ m?s\))?$"),
    ),
    TextFormat(
        "vitest",
        re.compile(r"^ +Tests  \d"),
        section=re.compile(r"^ FAIL  (?:\|?[\w-]+\|? )?(?P<file>\S+\.\w+)(?: \[ .* \]| > (?P<test>.+))?$"),
        end=re.compile(r"^(?:- Expected$| ❯ |⎯⎯)"),
        file=re.compile(r"^ (?P<word>[✓√]) (?:\|?[\w-]+\|? )?(?P<file>\S+\.\w+) \(\d+ tests?\)"),
    ),
    TextFormat(
        "surefire",
        re.compile(r"^\[(?:ERROR|WARNING|INFO)\] Tests run: \d+, Failures: \d+, Errors: \d+, Skipped: \d+$"),
        section=re.compile(
            r"^\[ERROR\] (?P<file>[\w.$]{1,200})\.(?P<test>[^\s.]{1,200}) +(?:--|\([\w.$]{1,200}\)) "
            r".*<<< (?P<word>FAILURE|ERROR)!"
        ),
        end=re.compile(r"^\s+at |^$"),
    ),
)
INTERRUPTED_RUN = re.compile(
    r"^!+ .*(?:Interrupted|stopping after|KeyboardInterrupt)|^ERROR collecting|no tests ran"
    r"|^(?:Test Suites:.*\bobsolete|Aborting|Bail out|● .*\bbail)|; [1-9]\d* filtered out"
)
RUNNERS_WITHOUT_COUNTS = ("cargo test", "go test")
"""Their lines for one test are unmistakable also in a part of an output."""
CARGO_STOPPED = "error: test failed, to rerun pass"
COUNT = re.compile(r"(?<!\d)(\d+) ([a-z]+)|(?<![A-Za-z ])([A-Za-z ]+)(?:=|: )(\d+)")
OUTCOME_BY_COUNTED_WORD = {
    "passed": PASSED, "failed": FAILED, "error": FAILED, "errors": FAILED, "failures": FAILED, "unexpected successes": FAILED,
    "skipped": SKIPPED, "todo": SKIPPED, "ignored": SKIPPED, "xfailed": SKIPPED, "xpassed": SKIPPED, "expected failures": SKIPPED,
    "tests": "all", "test": "all", "tests run": "all",
}  # fmt: skip


def outcome_from_word(word: str) -> str:
    word = word.lower()
    if word in ("ok", "pass", "passed", "✓", "√"):
        return PASSED
    return FAILED if word.startswith(("fail", "subfail", "unexpected")) else ERROR if word.startswith("error") else SKIPPED


Row = tuple[int, str, str]
"""The place of a line, the file whose tests it speaks of, and the line."""
Block = list[tuple[int, str]]
"""Lines that belong together, with their places."""


@dataclass(slots=True)
class PrintedLines:
    """The facts from the lines of a run, before they become a report."""

    ended: list[tuple[str, str, int]] = field(default_factory=list[tuple[str, str, int]])
    """Test, outcome and place."""
    blocks: dict[str, list[Block]] = field(default_factory=dict[str, list[Block]])
    """The lines below a section's title or a file's name."""
    failed: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    """Outcome and place of the tests that sections name."""
    files: dict[str, tuple[str, int]] = field(default_factory=dict[str, tuple[str, int]])
    counted: list[Counter[str]] = field(default_factory=list[Counter[str]])
    listed: bool = False
    """Tests that pass are named in a run that prints no counts."""


def read_test_run(output: CommandOutput) -> OutputReading | None:
    run = parse_test_run(output)
    return reading_from_run(run) if run and (run.tests or any(run.counts) or run.fine) else None


def parse_test_run(output: CommandOutput, last_session: bool = False) -> TestRun | None:
    """Return the run that an output shows. A project that tests pytest plugins also prints the sessions of its own tests: for one
    command only the last session counts."""
    for form in FORMATS:
        rows = list(name_go_packages(output.lines) if form.nested else name_files(form, output.lines))
        if run := join_run(form, collect_lines(form, rows, last_session), output):
            return run
    return None


def name_files(form: TextFormat, lines: Sequence[str]) -> Iterator[Row]:
    """Yield each line with the file that printed it; of a second crate with such a file, also with the crate's name."""
    file, crates = "", dict[str, str]()
    for place, line in enumerate(lines):
        if match := form.file.match(line):
            groups = match.groupdict("")
            file, crate = groups["file"], groups.get("crate", "")
            file = file if crates.setdefault(file, crate) == crate else f"{file} ({crate})"
        yield place, file, line


GO_HEADER = re.compile(r"^# (\S+)")
GO_COMPILE_ERROR = re.compile(r"^(?:vet: )?\S+?\.go:\d+:\d+: ")
GO_WORDS = {"pass": ("PASS", "ok"), "fail": ("FAIL", "FAIL"), "skip": ("SKIP", "?")}
"""How `go test` prints what an event of `go test -json` says of a test, and of a package."""


def name_go_packages(lines: Sequence[str]) -> Iterator[Row]:
    """Yield each line with its package, which go names after its tests; events of `-json` as the lines that they stand for."""
    held, events, header = Block(), dict[str, Block](), ""
    package_line = next(form.file for form in FORMATS if form.nested)
    for place, line in enumerate(lines):
        if line.startswith('{"') and (event := parse_go_event(line)):
            package = event.get("Package") or event.get("ImportPath", "").partition(" ")[0]
            events.setdefault(package, []).extend((place, text) for text in print_go_event(event, package))
        elif match := package_line.match(line):
            yield from ((at, match["file"], text) for at, text in [*held, (place, line)])
            held.clear()
            header = ""
        elif match := GO_HEADER.match(line):
            header = match[1]
        elif header and GO_COMPILE_ERROR.match(line):
            yield place, header, line
        else:
            held.append((place, line))
    yield from ((place, "", line) for place, line in held)
    yield from ((place, package, line) for package, rows in events.items() for place, line in rows)


def parse_go_event(line: str) -> dict[str, str]:
    try:
        foreign_json = read_foreign_json(line)
        return {str(key): str(value) for key, value in foreign_json.items()} if foreign_json["Action"] else {}
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError):
        return {}


def print_go_event(event: dict[str, str], package: str) -> Iterator[str]:
    action, test = event["Action"], event.get("Test", "")
    if action in ("output", "build-output"):
        yield from [f"=== NAME  {test}"] if test else []
        yield event.get("Output", "").rstrip()
    elif action in GO_WORDS:
        yield f"--- {GO_WORDS[action][0]}: {test} (0s)" if test else f"{GO_WORDS[action][1]} {package} 0s"


def collect_lines(form: TextFormat, rows: Sequence[Row], last_session: bool) -> PrintedLines:
    seen, block, waiting = PrintedLines(), None, ""
    for place, file, line in rows:
        if last_session and PYTEST_SUMMARY.match(line):
            seen.ended.clear()
            seen.counted.clear()
        if form.counts.match(line):
            seen.counted.append(count_outcomes(line))
        seen.listed |= line.startswith("=== ")
        block = open_block(form, seen, block, (place, file, line))
        if match := next((found for outcome in form.outcomes if (found := outcome.match(line))), None):
            waiting = name_test(match, file)
            if word := match.groupdict().get("word"):
                seen.ended.append((waiting, outcome_from_word(word), place))
        if waiting and (match := form.word.search(line)):
            seen.ended.append((waiting, outcome_from_word(match[1]), place))
            waiting = ""
    return seen


def open_block(form: TextFormat, seen: PrintedLines, block: Block | None, row: Row) -> Block | None:
    """Record what a line says of files and failing tests, and return the block that the next line belongs to."""
    place, file, line = row
    if match := form.file.match(line):
        if word := match.groupdict().get("word"):
            seen.files[file] = outcome_from_word(word), place
        return None
    if match := form.section.match(line):
        name, word = name_test(match, file), match.groupdict().get("word")
        block = Block()
        seen.blocks.setdefault(name, []).append(block)
        if not form.titled and not form.nested:
            seen.failed.setdefault(name, (outcome_from_word(word) if word else FAILED if "::" in name else ERROR, place))
        return block
    if form.end.match(line):
        return Block()
    if block is not None:
        block.append((place, line))
    elif file:
        seen.blocks.setdefault(file, [Block()])[0].append((place, line))
    return block


def name_test(match: re.Match[str], file: str) -> str:
    """Return `file::test`, or the file alone. unittest repeats the method in the parentheses from Python 3.11 on."""
    groups = match.groupdict("")
    test, within = groups["test"], groups.get("within", "")
    if within:
        return within if within.endswith(f".{test}") else f"{within}.{test}"
    if own := groups.get("file"):
        file, test = own, test.replace(" > ", " › ")
    return f"{file}::{test}" if file and test else file or test


def count_outcomes(line: str) -> Counter[str]:
    counts = Counter[str]()
    for match in COUNT.finditer(line):
        if outcome := OUTCOME_BY_COUNTED_WORD.get(str(match[2] or match[3]).strip().lower()):
            counts[outcome] += int(match[1] or match[4])
    return counts


def join_run(form: TextFormat, seen: PrintedLines, output: CommandOutput) -> TestRun | None:
    if not seen.counted and not seen.files and not seen.failed and not (seen.ended and form.runner in RUNNERS_WITHOUT_COUNTS):
        return None
    tests = list(explain_tests(form, seen, find_worst(form, seen), output))
    counted, outcomes = sum(seen.counted, Counter[str]()), Counter(test.outcome for test in tests)
    said_to_pass = {test for test, outcome, _ in seen.ended if outcome == PASSED}
    failed = max(counted[FAILED], outcomes[FAILED] + outcomes[ERROR])
    skipped = max(counted[SKIPPED], outcomes[SKIPPED])
    passed = counted[PASSED] or max(outcomes[PASSED], counted["all"] - failed - skipped)
    stopped = any(INTERRUPTED_RUN.search(line) for line in output.lines) or (
        "--no-fail-fast" not in output.command and any(line.startswith(CARGO_STOPPED) for line in output.lines)
    )
    return TestRun(
        form.runner,
        tuple(tests),
        (passed, failed, skipped),
        named=seen.listed if form.nested else bool(tests) and len(said_to_pass) >= passed,
        complete=not stopped and bool(seen.counted or (form.nested and seen.files)),
        fine=frozenset(file for file, (outcome, _) in seen.files.items() if outcome == PASSED),
    )


Ended = tuple[str, str, int]
"""How a test ended, the reason beside its name, and the place of that line."""


def find_worst(form: TextFormat, seen: PrintedLines) -> dict[str, Ended]:
    """Return how each test ended, at worst; a file or package that fails without a failing test is an error by its own name."""
    ended = dict[str, Ended]()
    for name, outcome, place in seen.ended:
        test, said = split_message(name, seen.blocks) if form.titled and outcome != PASSED else (name, "")
        if test not in ended or OUTCOME_RANK[outcome] > OUTCOME_RANK[ended[test][0]]:
            ended[test] = outcome, said, place
    for test, (outcome, place) in seen.failed.items():
        ended.setdefault(test, (outcome, "", place))
    broken = [test for test, (outcome, *_) in ended.items() if outcome in (FAILED, ERROR)]
    for file, (outcome, place) in seen.files.items():
        if outcome == FAILED and not any(test == file or test.startswith(f"{file}::") for test in broken):
            ended[file] = ERROR, "", place
    if form.nested:  # a new subtest that fails breaks no old test
        parents = {test[:cut] for test in ended for cut, sign in enumerate(test) if sign == "/"}
        alone = {test for test in parents if not any(one.startswith(f"{test}/") for one in broken)}
        ended = {test: end for test, end in ended.items() if test not in parents or (test in alone and end[0] == FAILED)}
    return ended


def split_message(text: str, titles: Collection[str]) -> tuple[str, str]:
    """Split test and message, which may both contain ' - ': at a test that has a section, otherwise at the first with balanced
    brackets."""
    cuts = [(text[: match.start()], text[match.end() :]) for match in re.finditer(" - ", text)]
    whole = make_section_title(text) in titles
    named = [cut for cut in cuts if make_section_title(cut[0]) in titles]
    closed = [cut for cut in cuts if not whole and ("[" not in cut[0] or cut[0].endswith("]"))]
    return next(iter([*named, *closed]), (text, ""))


def make_section_title(test: str) -> str:
    """Return the title that pytest gives to what a test said."""
    _, separator, name = test.partition("::")
    return name.replace("::", ".") if separator else test


def explain_tests(
    form: TextFormat, seen: PrintedLines, ended: Mapping[str, Ended], output: CommandOutput
) -> Iterator[ReportedTest]:
    """Yield each test, one that fails with its section. Of several sections with one title each test gets one, in their order."""
    titles = {test: make_section_title(test) if form.titled else test for test, end in ended.items() if end[0] in (FAILED, ERROR)}
    left = Counter(titles.values())
    for test, (outcome, said, place) in ended.items():
        if test not in titles:
            yield ReportedTest(test, outcome)
            continue
        title = titles[test]
        held = seen.blocks.get(title) or next(
            (block for one, block in seen.blocks.items() if one.startswith(f"{title} (")), list[Block]()
        )
        left[title] -= 1
        taken = held[:1] if left[title] else held[:]
        del held[: len(taken)]
        message, detail, places = explain_failure(form, [line for block in taken for line in block])
        first, last = places or (place, place)
        yield ReportedTest(test, outcome, detail, message or said, output.span(first, last))


def explain_failure(form: TextFormat, block: Block) -> tuple[str, str, tuple[int, int] | None]:
    """Return the message of a section, its lines, and the places of the message."""
    lines = [(place, line) for place, line in block if line.strip()]
    hits = [at for at, (_, line) in enumerate(lines) if form.reason.search(line)]
    if form.tail:
        hits = [at for before, at in pairwise([-2, *hits]) if before + 1 < at][-1:]
    elif lines:
        hits = hits[:1] or [0]
    if not hits:
        return "", truncate_traceback([line for _, line in lines]), None
    said = lines[hits[0] : hits[0] + (1 if form.tail else MAX_MESSAGE_LINES)]
    match = form.reason.search(said[0][1])
    begin = match.end(1) if match and match.lastindex else match.start() if match else 0
    texts = [said[0][1][begin:].strip(), *[line.strip() for _, line in said[1:]]]
    after = [line for _, line in (lines if form.tail else lines[hits[0] + 1 :][: MAX_DETAIL_LINES - 1])]
    shown = after if form.tail else [texts[0], *after]
    return " ".join(texts).partition(" [recovered")[0], truncate_traceback(shown), (said[0][0], said[-1][0])
