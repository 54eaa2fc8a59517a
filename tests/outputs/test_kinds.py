"""The result of each kind of output: what failed, why, and in which lines."""

import pytest

import outputs
from afresh.outputs.read_output import read_output, read_outputs


def said(command, printed, code=1):
    return read_output(command, f"$ {command}\nexit {code}\n{printed}")


def shown(command, printed, finding):
    return "\n".join(f"$ {command}\nexit 1\n{printed}".splitlines()[finding.lines[0] - 1 : finding.lines[1]])


RUNS = [
    (
        "npx jest",
        outputs.JEST,
        "2 failed, 2 passed, 1 skipped: sum › adds 1 + 2: expect(received).toBe(expected) // Object.is equality Expected: 3",
        "src/sum.test.js::sum › adds 1 + 2",
        "Expected: 3 Received: -1",
        "Received: -1",
    ),
    (
        "npx vitest run",
        outputs.VITEST,
        "1 failed, 3 passed: sum › adds: AssertionError: expected -1 to be 3",
        "vt/sum.spec.mjs::sum › adds",
        "expected -1 to be 3",
        "expected -1 to be 3",
    ),
    (
        "go test ./...",
        outputs.GO,
        "4 failed, 1 ok: TestAdd: calc_test.go:7: Add(1, 2) = -1, want 3",
        "example.com/m/calc::TestAdd",
        "calc_test.go:7: Add(1, 2) = -1, want 3",
        "want 3",
    ),
    (
        "go test -v ./calc",
        outputs.GO_VERBOSE,
        "2 failed, 2 passed, 1 skipped: TestAdd: calc_test.go:7",
        "example.com/m/calc::TestTable/neg",
        "calc_test.go:12: negative",
        "calc_test.go:12: negative",
    ),
    (
        "go test -json ./...",
        outputs.GO_EVENTS,
        "2 failed, 1 passed: TestAdd: calc_test.go:7: want 3",
        "example.com/m/calc::TestAdd",
        "calc_test.go:7: want 3",
        "calc_test.go:7: want 3",
    ),
    (
        "cargo test",
        outputs.CARGO,
        '2 failed, 1 passed, 1 skipped: result: Error: "no luck"',
        "src/lib.rs::tests::adds",
        "panicked at src/lib.rs:19:9: assertion `left == right` failed: sum left: -1 right: 3",
        "left: -1",
    ),
]


@pytest.mark.parametrize(("command", "printed", "phrase", "test", "message", "evidence"), RUNS)
def test_a_test_run_is_told_by_its_counts_and_by_what_fails(command, printed, phrase, test, message, evidence):
    reading = said(command, printed)
    assert reading.phrase.startswith(phrase) and reading.runner
    found = {finding.subject: finding for finding in reading.findings}
    assert message in found[test].text
    assert evidence in shown(command, printed, found[test])


@pytest.mark.parametrize(
    ("command", "printed", "fine"),
    [
        ("npx jest", outputs.JEST, {"src/ok.test.js"}),
        ("npx vitest run", outputs.VITEST, {"vt/ok.spec.mjs"}),
        ("go test ./...", outputs.GO, {"example.com/m/fine"}),
        ("go test -v", outputs.GO_VERBOSE, {"example.com/m/calc::TestFine", "example.com/m/calc::TestTable/pos_one"}),
        ("go test -json", outputs.GO_EVENTS, {"example.com/m/calc::TestFine"}),
        ("cargo test", outputs.CARGO, {"src/lib.rs::tests::doubles"}),
    ],
)
def test_what_is_said_to_pass_is_known_by_name(command, printed, fine):
    assert said(command, printed).fine == fine


def test_a_test_whose_name_begins_another_is_not_taken_for_it():
    lines = [
        "=== short test summary info ===",
        "FAILED t.py::test_a - boom",
        "FAILED t.py::test_a_more - boom",
        "2 failed in 0.1s",
    ]
    assert [one.lines for one in said("pytest", "\n".join(lines)).findings] == [(4, 4), (5, 5)]


def test_a_test_that_fails_only_with_one_inside_it_is_not_told_apart():
    assert not [one for one in said("go test", outputs.GO).findings if one.subject.endswith("::TestTable")]


def test_a_run_of_cargo_that_stopped_at_a_target_is_not_whole():
    assert not said("cargo test", outputs.CARGO).complete
    assert said("cargo test --no-fail-fast", outputs.CARGO).complete
    assert not said("cargo test add", outputs.CARGO.replace("0 filtered", "3 filtered").replace("error: test", "")).complete


COMPLAINTS = [
    (
        "cargo build",
        outputs.RUSTC,
        "1 error, 1 warning in 2 files: src/main.rs:3 error[E0308]: mismatched types",
        "src/main.rs:3",
    ),
    (
        "npx eslint src",
        outputs.ESLINT,
        "2 errors, 1 warning in 2 files: /project/src/sum.js:2 error: 'unused' is assigned a value but never used",
        "/project/src/sum.js:2",
    ),
    (
        "gcc -c a.c",
        outputs.GCC,
        "1 error, 1 warning in 1 file: a.c:2 error: ‘y’ undeclared (first use in this function)",
        "a.c:2",
    ),
    ("pyright", outputs.PYRIGHT, '1 error in 1 file: /project/src/a.py:5 error: Type "int"', "/project/src/a.py:5"),
    ("npx tsc", outputs.TSC, "1 error in 1 file: a.ts:1 error TS2322: Type 'string' is not.", "a.ts:1"),
    ("go build", outputs.GO_BUILD, '2 errors in 1 file: main.go:5 "os" imported and not used', "main.go:5"),
    (
        "go vet",
        "# m\nvet: bad/bad_test.go:5:28: undefined: x\n",
        "1 error in 1 file: bad/bad_test.go:5 undefined: x",
        "bad/bad_test.go:5",
    ),
    ("javac B.java", outputs.JAVAC, "1 error in 1 file: B.java:2 error: incompatible types", "B.java:2"),
    (
        "mvn compile",
        "[ERROR] /project/B.java:[2,5] ';' expected\n",
        "1 error in 1 file: /project/B.java:2 ';' expected",
        "/project/B.java:2",
    ),
    (
        "mypy .",
        "src/a.py: error: Source file found twice\n",
        "1 error in 1 file: src/a.py error: Source file found twice",
        "src/a.py",
    ),
    (
        "pylint src",
        "src/a.py:4:4: W0612: Unused variable 'y' (unused-variable)\n",
        "1 finding in 1 file: src/a.py:4 W0612:",
        "src/a.py:4",
    ),
    (
        "ruff check",
        "F401 [*] `os` imported but unused\n --> src/a.py:1:8\n",
        "1 finding in 1 file: src/a.py:1 F401 `os` imported",
        "src/a.py:1",
    ),
    (
        "ruff format --check",
        "unformatted: File would be reformatted\n --> src/a.py:3:1\n",
        "1 finding in 1 file: src/a.py:3",
        "src/a.py:3",
    ),
]


@pytest.mark.parametrize(("command", "printed", "phrase", "place"), COMPLAINTS)
def test_compilers_and_linters_are_told_by_place_and_gravest_first(command, printed, phrase, place):
    reading = said(command, printed)
    assert reading.phrase.startswith(phrase)
    assert reading.findings[0].subject == place and reading.findings[0].lines > (2, 2)


@pytest.mark.parametrize("line", ["All checks passed!", "0 issues.", "Success: no issues found in 3 source files"])
def test_a_linter_with_nothing_to_say_is_told_so_unless_the_command_failed(line):
    assert said("ruff check", f"{line}\n", 0).phrase == line
    assert said("ruff check", f"{line}\nboom failed\n", 1).phrase == "exit 1: boom failed"


STACKS = [
    (
        "node crash.js",
        outputs.NODE,
        "TypeError: Cannot read properties of undefined (reading 'b') at /project/crash.js:1 in inner",
        "TypeError",
    ),
    ("node crash.js", outputs.NODE_SYNTAX, "SyntaxError: Unexpected token ';' at /project/crash.js:4", "SyntaxError"),
    (
        "go run .",
        outputs.GO_PANIC,
        "panic: runtime error: index out of range [3] with length 1 at /project/main.go:5 in main.inner",
        "panic",
    ),
    (
        "cargo run",
        outputs.RUST_PANIC,
        "panicked at src/main.rs:3:21: index out of bounds: the len is 0 but the index is 3",
        "index out",
    ),
    ("old", "thread 'main' panicked at 'no luck', src/main.rs:3:21\n", "panicked at 'no luck', src/main.rs:3:21", "no luck"),
    (
        "java A",
        outputs.JAVA,
        "java.lang.ArrayIndexOutOfBoundsException: Index 3 out of bounds at A.java:2 in app.A.f",
        "Index 3",
    ),
    (
        "pip install .",
        outputs.PIP_BUILD,
        "ModuleNotFoundError: No module named 'nosuch_build' at /project/setup.py:2 in <module>",
        "nosuch",
    ),
    ("python group.py", outputs.GROUP, "ExceptionGroup: many (2 sub-exceptions) at /project/group.py:3 in <module>", "many"),
    (
        "python a.py",
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\nre.error: bad escape\n',
        "re.error: bad escape at a.py:3 in f",
        "bad",
    ),
    ("python syn.py", outputs.SYNTAX, "SyntaxError: invalid syntax at /project/syn.py:1", "invalid syntax"),
]


@pytest.mark.parametrize(("command", "printed", "told", "evidence"), STACKS)
def test_what_was_raised_is_told_with_its_place_in_code_of_the_project(command, printed, told, evidence):
    reading = said(command, printed)
    assert reading.phrase == told and reading.findings[0].text == told and reading.findings[0].subject == ""
    assert evidence in shown(command, printed, reading.findings[0])


@pytest.mark.parametrize(
    ("command", "printed", "subject", "text"),
    [
        ("make c", "make: *** No rule to make target 'x.c', needed by 'c'.  Stop.\n", "make", "No rule to make target"),
        ("make", "cc x\nmake[1]: *** [Makefile:3: all] Error 2\n", "make all", "Error 2"),
        (
            "pip install nix",
            "ERROR: Could not find a version\nERROR: No matching distribution found for nix\n",
            "pip nix",
            "No matching",
        ),
        ("python -m nix", "/usr/bin/python3: No module named nix\n", "module nix", "No module named"),
        (
            "python x.py",
            "python: can't open file '/project/x.py': [Errno 2] No such file or directory\n",
            "file /project/x.py",
            "open",
        ),
        ("foo", "bash: line 1: foo: command not found\n", "command foo", "not found"),
        ("ls a.py", "ls: cannot access 'a.py': No such file or directory\n", "file a.py", "No such file"),
        ("cat a.py", "cat: a.py: No such file or directory\n", "file a.py", "No such file"),
        ("sed -i s/a/b/ a.py", "sed: can't read a.py: No such file or directory\n", "file a.py", "No such file"),
        (
            "pytest t.py",
            "ERROR: file or directory not found: t.py\n\n=== 7 warnings in 0.01s ===\n",
            "tests t.py",
            "not found: t.py",
        ),
        ("npm run nix", 'npm error code 1\nnpm error Missing script: "nix"\n', "npm", "Missing script"),
        ("cargo build", "error: failed to load manifest at `/project/Cargo.toml`\n", "cargo", "failed to load"),
    ],
)
def test_what_stops_a_build_is_told_by_what_is_missing(command, printed, subject, text):
    reading = said(command, printed)
    assert reading.findings[0].subject == subject and text in reading.findings[0].text
    assert text in shown(command, printed, reading.findings[0])
    assert not said(command, printed, 0).findings


@pytest.mark.parametrize(
    ("command", "printed", "phrase"),
    [
        ("git merge other", outputs.CONFLICT, "git: 2 conflicts: Merge conflict in a.py"),
        ("git push", outputs.REJECTED, "git: push of main to main refused: fetch first"),
        ("git log --oneline -2", "1a2b3c4 Mend it\n2b3c4d5 Break it\n", "2 commits: 1a2b3c4 Mend it"),
        ("git log -1", f"commit {'1a' * 20}\nAuthor: A <a@b.c>\n\n    Mend it\n", "1 commit: 1a1a1a1a Mend it"),
        (
            "git diff",
            "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n-x\n+y\n+z\n",
            "diff of 1 file (+2 −1): a.py",
        ),
        (
            "git diff --stat",
            " a.py | 2 +-\n 1 file changed, 1 insertion(+), 1 deletion(-)\n",
            "1 file changed, 1 insertion(+), 1 deletion(-)",
        ),
        ("git checkout -b x", "Switched to a new branch 'x'\n", "Switched to a new branch 'x'"),
        ("git branch", "  main\n* topic\n", "on topic; 2 branches"),
        ("cd a && git status --short", " M a.py\n?? b.py\n", "2 changed: a.py, b.py"),
        ("git status", "On branch main\nnothing to commit, working tree clean\n", "on main: nothing changed"),
        (
            "git checkout nix",
            "error: pathspec 'nix' did not match any file(s) known to git\n",
            "git: pathspec 'nix' did not match any",
        ),
    ],
)
def test_git_is_told_by_what_it_did_or_refused(command, printed, phrase):
    assert said(command, printed).phrase.startswith(phrase)


def test_each_conflict_is_a_finding_with_its_own_line():
    found = said("git merge other", outputs.CONFLICT).findings
    assert [one.lines for one in found] == [(4, 4), (5, 5)] and found[0].subject == "conflict in a.py"


@pytest.mark.parametrize(
    ("command", "printed", "phrase"),
    [
        ("grep -n foo src/a.py", "3:foo\n9:foo\n", "2 hits in src/a.py: lines 3, 9"),
        ("grep -rnC1 foo src", "src/a.py-2-x\nsrc/a.py:3:foo\nsrc/a.py-4-y\n", "1 hit in 1 file: src/a.py"),
        ("grep -r foo src", "src/a.py:foo\nsrc/b.py:foo\n", "2 hits in 2 files: src/a.py, src/b.py"),
        ("cat a.py | grep -n foo", "3:foo\n", "1 hit in a.py: line 3"),
        ("cat src/a.py", "x = 1\n", "prints src/a.py"),
        (
            "cd /project && sed -n '10,40p' src/a.py; echo; head -5 b.py",
            "x = 1\n",
            "prints src/a.py lines 10-40; b.py first 5 lines",
        ),
        ("nl -ba src/a.py | sed -n 1,20p", "x\n", "prints src/a.py lines 1-20"),
        ("tail -n 20 src/a.py", "x\n", "prints src/a.py last 20 lines"),
        ("sed -n '/def f/,/return/p' src/a.py", "x\n", "prints src/a.py from 'def f'"),
        ("ls src", "a.py\nb.py\n", "2 names: a.py, b.py"),
        ("sed -i s/a/b/ src/a.py; echo done", "done\n", "done"),
        ("cat src/a.py > b.py; echo done", "done\n", "done"),
        ("cat build.log", "src/a.c:3:1: error: boom\n", "1 error in 1 file: src/a.c:3 error: boom"),
        ("cat notes.txt", "all is well\n", "prints notes.txt"),
    ],
)
def test_what_was_looked_at_is_told_by_files_and_lines(command, printed, phrase):
    assert said(command, printed, 0).phrase == phrase


def test_a_filter_behind_another_program_is_no_search():
    assert said("go vet ./... | grep -v ok", "a.go:3:1: undefined: x\n").phrase.startswith("1 error in 1 file")
    assert said("go test ./... | grep FAIL", "--- FAIL: TestA (0.00s)\nFAIL\tm/a\t0.1s\n").phrase.startswith("1 failed")


def test_a_search_without_a_hit_says_so():
    assert read_output("grep -rn foo src", "$ grep -rn foo src\nexit 1, no output").phrase == "no hit"


def test_an_unknown_failure_is_told_by_its_last_telling_line():
    reading = said("./deploy", "start\nerror: cannot read conf/app.yaml for load_settings\nstopping\ndeploy failed\nbye\n")
    assert reading.phrase == "exit 1: deploy failed"
    assert reading.findings[0].lines == (6, 6) and reading.findings[0].confidence < 0.8


def test_several_commands_in_one_output_are_all_told():
    text = (
        "$ ruff check\nexit 1\na.py:1:1: F401 unused\n\n$ pytest -q\nexit 1\nFAILED t.py::test_a - assert 0\n1 failed in 0.1s\n"
    )
    reading = read_outputs(text)
    assert reading.phrase == "1 finding in 1 file: a.py:1 F401 unused; 1 failed: test_a: assert 0"
    assert {one.subject: one.lines for one in reading.findings} == {"a.py:1": (3, 3), "t.py::test_a": (7, 7)}
