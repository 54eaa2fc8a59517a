"""A finding names lines that exist in the archived block and contain what it says, whatever surrounds them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import outputs
from afresh.core.command_output import MAX_OUTPUT_CHARACTERS, mask_volatile_names, output_from_text
from afresh.outputs.read_output import read_output, read_outputs, read_search_output

KINDS = {
    "pytest": lambda m: (
        f"____ test_a ____\n    assert x\nE   ValueError: {m}\n=== short test summary info ===\n"
        f"FAILED t/test_a.py::test_a - ValueError: {m}\n1 failed in 0.1s"
    ),
    "pytest summary": lambda m: f"=== short test summary info ===\nFAILED t/test_a.py::test_a - {m}\n1 failed in 0.1s",
    "unittest": lambda m: (
        f"{'=' * 70}\nFAIL: test_a (t.C.test_a)\n{'-' * 70}\nTraceback (most recent call last):\n"
        f'  File "/p/t.py", line 9, in test_a\nAssertionError: {m}\n\nRan 1 test in 0.1s\n\n'
        "FAILED (failures=1)"
    ),
    "jest": lambda m: (
        f"FAIL src/a.test.js\n  ● suite › name\n\n    {m}\n\n      at x (src/a.test.js:3:48)\n\nTests:       1 failed, 1 total"
    ),
    "vitest": lambda m: f" FAIL  src/a.spec.ts > suite > name\nError: {m}\n ❯ src/a.spec.ts:6:30\n      Tests  1 failed (1)",
    "go": lambda m: f"--- FAIL: TestA (0.00s)\n    a_test.go:7: {m}\nFAIL\nFAIL\texample.com/m/a\t0.1s",
    "go events": lambda m: (
        '{"Action":"output","Package":"m/a","Test":"TestA","Output":"    a_test.go:7: ' + m + '\\n"}\n'
        '{"Action":"fail","Package":"m/a","Test":"TestA"}\n{"Action":"fail","Package":"m/a"}'
    ),
    "cargo": lambda m: (
        "     Running unittests src/lib.rs (target/x)\ntest tests::a ... FAILED\n---- tests::a stdout ----\n"
        f"thread 'tests::a' panicked at src/lib.rs:19:9:\n{m}\nnote: run\n\nfailures:\n"
        "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s"
    ),
    "one line": lambda m: f"src/a.c:2:10: error: {m}",
    "arrows": lambda m: f"error[E0308]: {m}\n --> src/main.rs:3:18\n  |",
    "stylish": lambda m: f"/p/src/a.js\n  1:34  error  {m}  semi",
    "build": lambda m: f"make: *** [Makefile:3: {m}] Error 1",
    "python": lambda m: f'Traceback (most recent call last):\n  File "/p/a.py", line 3, in main\n    go()\nValueError: {m}',
    "node": lambda m: f"TypeError: {m}\n    at inner (/p/crash.js:1:32)",
    "java": lambda m: f"java.lang.IllegalStateException: {m}\n\tat app.A.main(A.java:4)",
    "go panic": lambda m: f"panic: {m}\n\ngoroutine 1 [running]:\nmain.main()\n\t/p/main.go:8 +0x59",
    "rust panic": lambda m: f"thread 'main' panicked at src/main.rs:3:21:\n{m}\nnote: run with",
    "generic": lambda m: f"deploy failed: {m}",
}
messages = st.text("abcdefghij", min_size=3, max_size=12).map(lambda word: f"zz{word}zz")
noise = st.lists(st.sampled_from(["", "plain words", "  indented words", "12 of 40 done", "…", "ok"]), max_size=30)
LONG = ["x" * 900] * (MAX_OUTPUT_CHARACTERS // 800)


@given(st.sampled_from(sorted(KINDS)), messages, noise, noise, st.sampled_from(["before", "after", ""]), st.booleans())
def test_the_lines_named_hold_the_message(kind, message, before, after, long, script):
    echo = ["$ cat > a <<E", "exit", "E"] if script else ["$ x"]
    first, last = (LONG if long == place else [] for place in ("before", "after"))
    text = "\n".join([*echo, "exit 1", *first, *before, *KINDS[kind](message).splitlines(), *after, *last])
    lines, reading = text.splitlines(), read_output("x", text)
    told = [one for one in reading.findings if message in one.subject + one.text]
    assert told, f"{kind}: {reading}"
    begins, ends = told[0].lines
    assert 1 <= begins <= ends <= len(lines)
    assert message in "\n".join(lines[begins - 1 : ends])


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_stands_in_the_part_that_is_not_looked_at_is_not_told(kind):
    text = "\n".join(["$ x", "exit 1", *LONG, *KINDS[kind]("zzmissedzz").splitlines(), *LONG])
    reading = read_output("x", text)
    assert "zzmissedzz" not in reading.phrase and not [one for one in reading.findings if "zzmissedzz" in one.text]


SAMPLES = [value for name, value in vars(outputs).items() if name.isupper()]


@given(
    st.lists(st.one_of(st.sampled_from("\n".join(SAMPLES).splitlines()), st.text(max_size=60)), max_size=60),
    st.sampled_from(["\n", "\r\n", "\r", "\x0c", "\u2028"]),
    st.sampled_from(["x", "git status; git log", "grep -rn x", "cat x.log", "cargo test"]),
    st.sampled_from([read_output, lambda _, text: read_outputs(text), lambda _, text: read_search_output(text)]),
)
def test_any_output_is_read_and_names_lines_that_exist(lines, newline, command, read):
    text = f"$ {command}\nexit 1\n" + newline.join(lines)
    reading = read(command, text)
    assert reading.phrase and "\n" not in reading.phrase and len(reading.phrase) <= 200 and len(reading.findings) <= 4
    for one in reading.findings:
        assert 0 < one.lines[0] <= one.lines[1] <= len(text.splitlines())
        assert one.text and len(one.text) <= 200 and one.confidence < 1 and not one.subject.startswith(" ")


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=3_000), max_size=80))
def test_each_line_that_is_looked_at_has_its_own_number(lines):
    text = "$ x\nexit 1\n" + "\n".join(lines)
    output, rows = output_from_text(text), text.splitlines()
    assert sum(len(line) + 1 for line in output.lines) <= MAX_OUTPUT_CHARACTERS + 2
    assert list(output.numbers) == sorted(set(output.numbers)) or "…" in output.lines
    for line, number in zip(output.lines, output.numbers, strict=True):
        assert line == "…" or rows[number - 1][:1_000].startswith(re.split(r"\x1b", line)[0][:40])


def test_the_end_of_a_long_output_keeps_its_numbers():
    text = "\n".join(["$ x", "exit 1", *["x" * 100] * 10_000, "src/a.c:2:10: error: boom"])
    assert read_output("x", text).findings[0].lines == (10_003, 10_003)


@given(st.sampled_from(["0x7f3a2b1c9d10", "0xdeadbeef"]), st.sampled_from(["tmp8x2k1q9z", "pytest-of-me/pytest-12"]))
def test_what_differs_from_run_to_run_is_not_in_a_subject(address, folder):
    first, second = f"<A at {address}> /tmp/{folder}/src/a.py", "<A at 0x7ffffff0> /tmp/tmpabcdefgh/src/a.py"
    assert mask_volatile_names(first) == mask_volatile_names(second) == "<A at 0x…> /tmp/…/src/a.py"
    assert mask_volatile_names("/tmp/project/src/a.py 0x1") == "/tmp/project/src/a.py 0x1"
