"""Repositories in which a test was red before the task: honest work passes and names it, a new failure behind it does not.

`scripts/run-without bubblewrap -- pytest -m "torture or not torture" tests/scenarios/test_red_before.py` tries the other level.
"""

import os
import pwd
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from person import Person, Step

pytestmark = pytest.mark.reported

DONE: Step = ("complete", {"summary": "Add third"})
PYTEST = f"PYTEST_DISABLE_PLUGIN_AUTOLOAD=1 {sys.executable} -m pytest -q"
MODULE = "def double(x):\n    return x * 2\n\n\ndef old(x):\n    return x\n"
THIRD = MODULE + "\n\ndef third(x):\n    return x / 3\n"
TESTS = "import m\n\n\ndef test_double():\n    assert m.double(2) == 4\n\n\ndef test_old():\n    assert m.old(1) == 2\n"
UNIT = (
    "import unittest\n\nimport m\n\n\nclass Sums(unittest.TestCase):\n    def test_double(self):\n"
    "        self.assertEqual(m.double(2), 4)\n\n    def test_old(self):\n        self.assertEqual(m.old(1), 2)\n"
)
NODE_HEAD = "const { test } = require('node:test');\nconst assert = require('node:assert');\nconst m = require('./m');\n"
NODE_TESTS = NODE_HEAD + (
    "test('doubles', () => assert.strictEqual(m.double(2), 4));\ntest('is old', () => assert.strictEqual(m.old(1), 2));\n"
)
NODE = "exports.double = (x) => x * 2;\nexports.old = (x) => x;\n"
RUST = (
    "pub fn double(x: u32) -> u32 {\n    x * 2\n}\n\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn doubles() {\n"
    "        assert_eq!(super::double(2), 4);\n    }\n\n    #[test]\n    fn is_old() {\n"
    "        assert_eq!(super::double(1), 3);\n    }\n}\n"
)
CASES = "import m\nimport pytest\n\n\n@pytest.mark.parametrize('case', m.CASES, ids=lambda case: f'{id(case)}-{m.NOW}')\n"
CASES += "def test_case(case):\n    assert case.ok\n"
CASED = "import time\n\nNOW = time.monotonic_ns()\n\n\nclass Case:\n    def __init__(self, ok):\n        self.ok = ok\n\n\n"
XFAIL = TESTS.replace("def test_old", "import pytest\n\n\n@pytest.mark.xfail(strict=True)\ndef test_old").replace("== 2", "== 1")
FLAKY = "\n\ndef test_flaky():\n    from pathlib import Path\n\n    ran = Path('ran').exists()\n"
FLAKY += "    Path('ran').touch()\n    assert ran\n"
FIXTURE = "import m\nimport pytest\n\n\n@pytest.fixture\ndef ready():\n    m.old(1)\n"
NEW_TEST = "def test_third():\n    assert 1 / 3 == 3\n"


def write(path: str, text: str) -> Step:
    return "edit", {"path": path, "new": text}


BREAK = write("m.py", THIRD.replace("x * 2", "x * 3"))


@dataclass(frozen=True)
class Repository:
    files: dict[str, str]
    check: str = PYTEST
    cheat: tuple[Step, ...] = (BREAK,)
    honest: tuple[Step, ...] = (write("m.py", THIRD),)
    told: str = "1 test passed before and fails now"
    """What refuses the cheat."""
    refused: str = ""
    """Why honest work is refused, too; empty if it passes."""
    needs: str = ""
    red: str = "1 test failed before the task and still fails"


PLAIN = {"m.py": MODULE, "test_m.py": TESTS}
REPOSITORIES = {
    "pytest": Repository(
        PLAIN,
        honest=(
            write("m.py", THIRD),
            write("test_m.py", TESTS.replace("def", "def test_third():\n    assert m.third(3) == 1\n\n\ndef", 1)),
        ),
        cheat=(write("m.py", THIRD), write("test_n.py", NEW_TEST)),
        told="1 test fails: test_n.py::test_third",
    ),
    "unittest": Repository({"m.py": MODULE, "test_m.py": UNIT}, f"{sys.executable} -m unittest"),
    "script": Repository(
        {"m.py": MODULE}, "grep -q tripled m.py", told="no test result can be read", refused="no test result can be read"
    ),
    "make": Repository({**PLAIN, "Makefile": f"test:\n\t@{PYTEST}\n"}, "make -s test"),
    "wrapper": Repository({**PLAIN, "run.sh": f"set -e\ncd $(dirname $0)\n{PYTEST} $*\n"}, "sh run.sh"),
    "printed": Repository(
        {**PLAIN, "conftest.py": "import sys\nsys.path.insert(0, '.')\n"},
        f"{sys.executable} -I -m pytest -q -rA -p no:cacheprovider",
    ),
    "error instead": Repository(
        {"m.py": MODULE, "test_m.py": TESTS.replace("test_old()", "test_old(ready)"), "conftest.py": FIXTURE},
        cheat=(write("m.py", THIRD.replace("    return x\n", "    raise ValueError(x)\n")),),
        told="1 test fails: test_m.py::test_old",
    ),
    "cases": Repository(
        {"m.py": CASED + "CASES = [Case(True), Case(False)]\n", "test_m.py": CASES},
        honest=(write("n.py", THIRD),),
        cheat=(write("m.py", CASED + "CASES = [Case(True), Case(False), Case(False)]\n"),),
        told="2 tests fail: test_m.py::test_case",
    ),
    "collection": Repository(
        {**PLAIN, "test_gone.py": "import nowhere\n"},
        f"{PYTEST} --continue-on-collection-errors",
        refused="1 test fails: test_gone.py",
    ),
    "stops": Repository(
        PLAIN | {"test_a.py": "def test_a():\n    assert 0\n"},
        f"{PYTEST} -x",
        refused="stops before all tests",
        told="must exit 0",
    ),
    "xfail": Repository({"m.py": MODULE, "test_m.py": XFAIL}),
    "flaky": Repository({"m.py": MODULE, "test_m.py": TESTS + FLAKY}),
    "node": Repository(
        {"m.js": NODE, "m.test.js": NODE_TESTS},
        "node --test",
        honest=(write("m.js", NODE + "exports.third = (x) => x / 3;\n"),),
        cheat=(write("m.test.js", NODE_TESTS + "test('is old', () => assert.ok(false));\n"),),
        told="2 tests fail, and only 1 can be named",
        needs="node",
    ),
    "cargo": Repository(
        {
            "Cargo.toml": '[package]\nname = "m"\nversion = "0.1.0"\nedition = "2021"\n\n[lib]\ndoctest = false\n',
            "src/lib.rs": RUST,
        },
        "CARGO_NET_OFFLINE=true cargo test",
        honest=(write("src/lib.rs", "pub fn third(x: u32) -> u32 {\n    x / 3\n}\n\n" + RUST),),
        cheat=(write("src/lib.rs", RUST.replace("x * 2", "x * 4")),),
        needs="cargo",
    ),
    "go": Repository(
        {
            "go.mod": "module example.com/m\n\ngo 1.19\n",
            "m.go": "package m\n\nfunc Double(x int) int { return x * 2 }\n",
            "m_test.go": 'package m\n\nimport "testing"\n\n'
            "func TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fatal(2)\n\t}\n}\n"
            'func TestOld(t *testing.T) { t.Fatal("old") }\n',
        },
        "go test ./...",
        honest=(write("m.go", "package m\n\nfunc Double(x int) int { return x + x }\n"),),
        cheat=(write("m.go", "package m\n\nfunc Double(x int) int { return x * 3 }\n"),),
        needs="go",
    ),
}
FEATURE = ("--type", "implement_feature")
QUICK = ("pytest", "unittest", "script")


def begin(person: Person, one: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    if one.needs and shutil.which(one.needs) is None:
        pytest.skip(f"{one.needs} is not installed")
    if one.needs == "cargo" and (rustup := Path(pwd.getpwuid(os.getuid()).pw_dir) / ".rustup").is_dir():
        monkeypatch.setenv("RUSTUP_HOME", os.environ.get("RUSTUP_HOME", str(rustup)))
    person.repo.mkdir(exist_ok=True)
    person.git("init", "-q", "-b", "main", "--template=")
    for path, text in {".gitignore": "__pycache__/\ntarget/\n", **one.files}.items():
        person.write(path, text)
    person.commit()


@pytest.mark.promise("Tests that fail before the task")
@pytest.mark.parametrize("name", [one if one in QUICK else pytest.param(one, marks=pytest.mark.torture) for one in REPOSITORIES])
def test_a_red_test_of_before_may_stay_red_and_hides_nothing(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, requires_sandbox: Any
) -> None:
    requires_sandbox()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    one, person = REPOSITORIES[name], Person(tmp_path)
    begin(person, one, monkeypatch)
    told = person.runs(
        person.script([*one.honest, DONE]), "--type", "implement_feature", goal="third is missing", check=one.check
    )
    shown = person.shown()
    assert ("already" in told.words) is not bool(one.refused), told.words
    if one.refused:
        assert "It must exit 0 in the end" in told.words and shown["verdict"]["ruling"] == "FAIL"
        assert one.refused in shown["verdict"]["reason"]
    else:
        assert shown["status"] == "done" and shown["verdict"]["ruling"] == "PASS", shown["verdict"]
        assert one.red in shown["verdict"]["reason"] and "otherwise" not in shown["verdict"]["reason"], "it stands lower now"
    person.runs(person.script([*one.cheat, DONE], name="cheat"), *FEATURE, goal="third is missing", check=one.check)
    shown = person.shown()
    assert shown["status"] != "done" and shown["verdict"]["ruling"] == "FAIL", shown["verdict"]
    assert one.told in shown["verdict"]["reason"] or (one.refused and one.refused in shown["verdict"]["reason"])


TOUCH: Step = ("edit", {"path": "calc.py", "old": "x + 2", "new": "2 + x"})
CLAIM: Step = ("complete", {"summary": "Done"})
NAMED = "test_five fails"


def test_a_person_takes_refused_work_as_it_is_and_the_task_ends(person: Person) -> None:
    ask: Step = ("ask", {"question": "May test_five stay red?", "options": ["yes", "no"]})
    assert person.runs(person.script([TOUCH], [CLAIM], [ask]), goal=NAMED).code != 0
    shown = person.shown()
    assert shown["status"] == "blocked" and shown["options"][-1].startswith("accept the work: the task ends"), shown["options"]
    told = person.types("answer", "accept the work with this failure", "--resume")
    shown = person.shown()
    assert (
        told.code == 0
        and "is done, with the work as it is: afresh apply" in told.words
        and shown["status"] == "done"
        and shown["verdict"]["ruling"] == "ACCEPTED"
    ), told
    assert " has accepted the work as it is; the checks said FAIL: " in shown["verdict"]["reason"]
    assert "PASS" not in person.types("show").words
    assert person.types("apply").code == 0 and "2 + x" in (person.repo / "calc.py").read_text()
    assert "Not verified: " in person.git("log", "-1", "--format=%B")


def test_what_a_failed_an_interrupted_and_a_blocked_task_have_kept_can_be_had(person: Person) -> None:
    blocked: Step = ("ask", {"question": "Which way?", "options": ["left", "right"]})
    ends = {"failed": [[TOUCH], *[[CLAIM]] * 3], "blocked": [[TOUCH], [blocked]]}
    for status, replies in ends.items():
        person.runs(person.script(*replies, name=status), goal=NAMED)
        task = person.shown()["task"]["id"]
        assert person.shown(task)["status"] == status
        refused = person.types("apply", task)
        assert refused.code == 1 and "--unverified" in refused.words and "has changed nothing" not in refused.words
        (person.folder / "x.patch").write_text(person.types("diff", task).out)
        person.git("apply", "--check", str(person.folder / "x.patch"))
        assert person.types("apply", task, "--unverified").code == 0, status
        assert "2 + x" in (person.repo / "calc.py").read_text()
        assert f"Not verified: {status}" in person.git("log", "-1", "--format=%B")
        person.git("reset", "-q", "--hard", "HEAD~1")
    task = person.adds(NAMED)
    refused = person.types("apply", task, "--unverified")
    assert refused.code == 1 and "has changed nothing" in refused.words
