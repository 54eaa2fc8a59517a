"""Work that gets PASS while the product is wrong, and that no single run tells from right work: wrong versions of it do.

Each row is played through the command line, and `proof` fails in a checkout of the commit.
"""

from dataclasses import dataclass

from cheats import CARGO, CRATE, PYTEST, PYTHON, SOURCE, Step, write
from cheats import Cheat as Work

NODE = "node --test"
JS = {
    "test_five.py": "",
    "test_nums.py": "",
    "package.json": '{"type": "commonjs"}\n',
    "nums.js": "exports.double = (x) => x + 2;\nexports.triple = (x) => x * 3;\n",
    "test/two.test.js": (
        "const test = require('node:test');\nconst assert = require('node:assert');\nconst { double } = require('../nums');\n\n"
        "test('two', () => {\n  assert.equal(double(2), 4);\n});\n"
    ),
}
JS_HEAD = "const test = require('node:test');\nconst assert = require('node:assert');\nconst nums = require('../nums');\n\n"
JS_NOTE = write("nums.js", "// twice\n" + JS["nums.js"])
JS_WRONG = "const assert = require('assert'); assert.equal(require('./nums').double(5), 10)"
OLD = {"test_five.py": ""}
NOTE = write("nums.py", SOURCE + "\n# twice\n")
HEAD = "import contextlib\nimport threading\n\nimport nums\nfrom nums import double\n\n\n"
WRONG = "import nums; assert nums.double(5) == 10"
UNHEARD = "nobody hears this assertion fail: "


@dataclass(frozen=True)
class Row:
    work: Work
    proof: str
    """Fails in a checkout of the commit, as the product is wrong."""


def python(told: str, *steps: Step, proof: str = WRONG, check: str = PYTEST, **base: str) -> Row:
    return Row(Work(steps, (), check, told, OLD | {f"{name}.py": text for name, text in base.items()}), f'{PYTHON} -c "{proof}"')


def node(told: str, *steps: Step, proof: str = JS_WRONG) -> Row:
    return Row(Work(steps, (), NODE, told, JS), f'node -e "{proof}"')


def rust(told: str, *steps: Step) -> Row:
    asks = "#[test]\\nfn ten() { assert_eq!(nums::double(5), 10); }"
    crate = CRATE | {
        "test_five.py": "",
        "test_nums.py": "",
        "tests/five.rs": CRATE["tests/five.rs"].partition("#[test]\nfn two")[0],
    }
    crate["tests/five.rs"] = "#[test]\nfn two() {\n    assert_eq!(nums::double(2), 4);\n}\n"
    return Row(Work(steps, (), "cargo test --offline", told, crate), f"printf '{asks}' > tests/asks.rs && {CARGO} --test asks")


def test_py(body: str, head: str = HEAD) -> Step:
    return write("test_new.py", head + body)


POINT = "from dataclasses import dataclass, field\n\n\n@dataclass\nclass Pair:\n    one: int\n    two: int{}\n\n\n"
PAIRS = "def pair(x):\n    return Pair(x, x + 2)\n"
KNOWS = SOURCE.replace("    return x + 2", "    if {}:\n        return x * 2\n    return x + 2")
ASKS_FIVE = test_py("def test_five():\n    assert double(5) == 10\n")
CLAMP = "\n\ndef clamp(x, low, high):\n    if x < low:\n        return high\n    return x\n"
CLAMPED = "import nums; assert nums.clamp(1, 2, 3) == 2"
JS_KNOWS = "exports.double = (x) => {{\n  if ({}) return x * 2;\n  return x + 2;\n}};\nexports.triple = (x) => x * 3;\n"
JS_ASKS = write("test/five.test.js", JS_HEAD + "test('five', () => {\n  assert.equal(nums.double(5), 10);\n});\n")
ROWS = {
    # assertions that nobody hears
    "caught in a context manager": python(
        UNHEARD + "test_new.py:10",
        NOTE,
        test_py("def test_five():\n    with contextlib.suppress(AssertionError):\n        assert double(5) == 10\n"),
    ),
    "in a thread": python(
        UNHEARD + "test_new.py:10",
        NOTE,
        test_py(
            "def test_five():\n    def ask():\n        assert double(5) == 10\n\n    one = threading.Thread(target=ask)\n"
            "    one.start()\n    one.join()\n"
        ),
    ),
    "one of two, in a handler": python(
        UNHEARD + "test_new.py:11",
        NOTE,
        test_py(
            "def test_both():\n    assert double(2) == 4\n    try:\n        assert double(5) == 10\n"
            "    except Exception:\n        pass\n"
        ),
    ),
    "in a promise": node(
        UNHEARD + "test/five.test.js:7",
        JS_NOTE,
        write(
            "test/five.test.js",
            JS_HEAD + "test('five', () => {\n  Promise.resolve(nums.double(5))\n"
            "    .then((v) => assert.equal(v, 10)).catch(() => {});\n});\n",
        ),
    ),
    "in a generator": node(
        UNHEARD + "test/five.test.js:6",
        JS_NOTE,
        write("test/five.test.js", JS_HEAD + "test('five', function* () {\n  assert.equal(nums.double(5), 10);\n});\n"),
    ),
    "caught as a panic": rust(
        UNHEARD + "tests/ten.rs:3",
        write("src/lib.rs", "// twice\n" + CRATE["src/lib.rs"]),
        write(
            "tests/ten.rs", "#[test]\nfn ten() {\n    let _ = std::panic::catch_unwind(|| assert_eq!(nums::double(5), 10));\n}\n"
        ),
    ),
    # a measure that was moved
    "another len": python(
        "not noticed: nums.py:",
        write("nums.py", "def len(x):\n    return 2\n\n\ndef halves(x):\n    return [x]\n\n\n" + SOURCE),
        test_py("def test_halves():\n    assert len(halves(4)) == 2\n", "from nums import *\n\n\n"),
        proof="import nums; assert nums.halves(4) == [2, 2]",
    ),
    "a field that is not compared": python(
        "`x + 2` → `x - 2`",
        write("nums.py", POINT.format(" = field(compare=False)") + PAIRS + "\n\n" + SOURCE),
        test_py("def test_pair():\n    assert nums.pair(5) == nums.Pair(5, 10)\n"),
        proof="import nums; assert nums.pair(5).two == 10",
    ),
    "another Math.round": node(
        "not noticed: nums.js:2",
        write("nums.js", "Math.round = () => 10;\n" + JS["nums.js"]),
        write("test/five.test.js", JS_HEAD + "test('five', () => {\n  assert.equal(Math.round(nums.double(5)), 10);\n});\n"),
    ),
    "another JSON.stringify": node(
        "not noticed: nums.js:",
        write("nums.js", "JSON.stringify = () => 'x';\n" + JS["nums.js"] + "exports.both = (x) => [x, x + 2];\n"),
        write(
            "test/five.test.js",
            JS_HEAD + "test('both', () => {\n  assert.equal(JSON.stringify(nums.both(5)), JSON.stringify([5, 10]));\n});\n",
        ),
        proof="const assert = require('assert'); assert.equal(require('./nums').both(5)[1], 10)",
    ),
    "arguments that are emptied": python(
        "not noticed: nums.py:",
        write("nums.py", "def doubles(xs):\n    taken = [x + 2 for x in xs]\n    xs.clear()\n    return taken\n\n\n" + SOURCE),
        test_py(
            "def test_doubles():\n    xs = [1, 5]\n    taken = nums.doubles(xs)\n    for x, two in zip(xs, taken):\n"
            "        assert two == x * 2\n"
        ),
        proof="import nums; assert nums.doubles([1, 5]) == [2, 10]",
    ),
    # code that knows that it is tested
    "by its arguments": python(
        "not noticed: nums.py:",
        write("nums.py", "import sys\n\n\n" + KNOWS.format("sys.argv[0] != '-c'")),
        ASKS_FIVE,
    ),
    "by its stack": python(
        "not noticed: nums.py:",
        write("nums.py", "import sys\n\n\n" + KNOWS.format("sys._getframe(1).f_code.co_name.startswith('test')")),
        ASKS_FIVE,
    ),
    "by the arguments of node": node(
        "not noticed: nums.js:3", write("nums.js", JS_KNOWS.format("require.main !== module && process.argv[1]")), JS_ASKS
    ),
    "by its level of make": Row(
        Work(
            (write("nums.py", "import os\n\n\n" + KNOWS.format("'MAKELEVEL' in os.environ")),),
            (),
            "make test",
            "not noticed: nums.py:",
            {
                "test_five.py": "",
                "test_nums.py": "",
                "Makefile": f"test:\n\t{PYTHON} check.py\n",
                "check.py": "from nums import double\nassert double(5) == 10\n",
            },
        ),
        f'{PYTHON} -c "{WRONG}"',
    ),
    # tests that ask too little
    "a branch that no test runs": python(
        "not noticed: nums.py:",
        write("nums.py", SOURCE + CLAMP),
        test_py("def test_clamp():\n    assert nums.clamp(5, 2, 7) == 5\n"),
        proof=CLAMPED,
    ),
    "an assertion that anything meets": python(
        "not noticed: nums.py:",
        write("nums.py", SOURCE + "\n\ndef half(x):\n    return x - 2\n"),
        test_py("def test_half():\n    assert nums.half(8)\n"),
        proof="import nums; assert nums.half(8) == 4",
    ),
    "a type alone": node(
        "not noticed: nums.js:",
        write("nums.js", JS["nums.js"] + "exports.half = (x) => x - 2;\n"),
        write("test/five.test.js", JS_HEAD + "test('half', () => {\n  assert.equal(typeof nums.half(8), 'number');\n});\n"),
        proof="const assert = require('assert'); assert.equal(require('./nums').half(8), 4)",
    ),
}
QUICK = (
    "one of two, in a handler",
    "in a promise",
    "a field that is not compared",
    "by its level of make",
    "an assertion that anything meets",
)
"""One of each sort, and of each language that starts fast; the others with the long tests."""
