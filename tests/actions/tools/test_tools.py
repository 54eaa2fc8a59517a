"""Each tool as the model uses it."""

import json

import pytest

from afresh.actions.tools.registry import TOOLS
from afresh.code.code_insight import CodeInsight
from afresh.core.archived_block import Block, block_id_from_text
from afresh.core.decision import Decision, add_decision
from afresh.core.event import DecisionMade, PlanSet, QuestionAsked
from afresh.core.fact import FactKind, supersede_fact
from afresh.core.redaction import redact_secrets
from afresh.core.states.ceiling_state import LargerCeilingRequested
from afresh.core.states.strategy_state import PlanItem
from afresh.core.task import Check, Task
from afresh.errors import ModelMistake
from afresh.ports.tool import ToolContext
from support.fakes import DictFiles, EmptyInsight, TableSandbox
from support.states import make_state

BY_NAME = {tool.schema.name: tool for tool in TOOLS}


class Archive:
    def __init__(self, *texts):
        self.blocks = [Block(block_id_from_text(text), text) for text in texts]

    def read(self, name):
        found = [block.text for block in self.blocks if block.id.startswith(name)]
        if len(found) != 1:
            raise KeyError(name)
        return found[0]

    def find(self, prefix, task):
        return [block.id for block in self.blocks if block.id.startswith(prefix)]


def make_context(files=None, table=None, archive=None, insight=None, **fields):
    task = Task(id="t", goal="g", checks=(Check("pytest -q"), Check("ruff check")))
    return ToolContext(
        make_state(task, **fields),
        files or DictFiles(),
        TableSandbox(table or {}),
        archive or Archive(),
        insight or EmptyInsight(),
    )


def use(tool, on, /, **args):
    return BY_NAME[tool].run(args, on)


def test_reading_leaves_a_region_and_does_not_repeat_the_text():
    seen = use("read", make_context(DictFiles(**{"a.py": "one\ntwo\nthree\n"}), step=4), path="a.py", start=2)
    assert "two" not in seen.text
    assert [(r.path, r.start, r.end, r.step) for r in seen.regions] == [("a.py", 2, 3, 5)]


def test_reading_past_the_end_says_how_long_the_file_is():
    with pytest.raises(ModelMistake, match="only 1 lines"):
        use("read", make_context(DictFiles(**{"a.py": "one\n"})), path="a.py", start=9)


def test_search_is_capped_per_file_and_says_how_many_more():
    files = DictFiles(**{"a.py": "needle\n" * 50, "b.py": "x\ndef needle(): pass\n"})
    text = use("search", make_context(files), text="needle").text
    assert "… 35 more: 16, 17, " in text
    assert "b.py\n  2: def needle(): pass" in text


def test_search_shows_hits_in_their_order_keeps_definitions_and_says_where_the_others_are():
    lines = [f"needle {number}" for number in range(1, 41)] + ["def needle(): pass"]
    text = use("search", make_context(DictFiles(**{"a.py": "\n".join(lines)})), text="needle").text.splitlines()
    assert text[:3] == ["a.py", "  1: needle 1", "  2: needle 2"] and text[-2] == "  41: def needle(): pass"
    assert text[-1] == "  … 11 more: 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40"


def test_search_falls_back_to_ignoring_case_and_says_so():
    assert "ignoring case" in use("search", make_context(DictFiles(**{"a.py": "Needle"})), text="needle").text


def test_search_stays_within_the_given_folder():
    files = DictFiles(src__a="needle", tests__b="needle")
    assert "tests/b" not in use("search", make_context(files), text="needle", path="src").text


SHAPES = {
    "docs/shapes.md": "area() is the square\n",
    "pkg/shape.py": "def area(side):\n    return side * side\n",
    "pkg/plan.py": "from pkg.shape import area\n\n\ndef cost(side):\n    # area counts\n    return 3 * area(side)\n",
}


@pytest.mark.parametrize("path", [".", "./", "./src", "src/", "src//a.py", "./src/*.py"])
def test_search_understands_a_path_however_it_is_spelt(path):
    files = DictFiles(**{"src/a.py": "needle", "tests/b.py": "needle"})
    found = use("search", make_context(files), text="needle", path=path).text
    assert "src/a.py" in found and ("tests/b.py" in found) is (path in (".", "./"))


def test_search_where_no_file_lies_is_a_mistake_and_no_miss():
    with pytest.raises(ModelMistake, match="no file lies under 'scr'; without `path` all are searched"):
        use("search", make_context(DictFiles(**{"src/a.py": "needle"})), text="needle", path="scr")


def test_search_for_a_name_tells_where_it_is_defined_then_who_uses_it_then_what_else_says_it():
    text = use("search", make_context(DictFiles(**SHAPES), insight=CodeInsight()), text="area").text
    assert text.splitlines() == [
        "defined:", "pkg/shape.py", "  1: def area(side)",
        "used:", "pkg/plan.py", "  6: return 3 * area(side)  (in cost)",
        "besides:", "docs/shapes.md", "  1: area() is the square",
        "pkg/plan.py", "  1: from pkg.shape import area", "  5: # area counts",
    ]  # fmt: skip


def test_search_for_a_name_stays_within_the_given_folder():
    text = use("search", make_context(DictFiles(**SHAPES), insight=CodeInsight()), text="area", path="docs").text
    assert text.splitlines() == ["docs/shapes.md", "  1: area() is the square"]


def test_search_for_what_is_no_name_of_a_definition_is_a_search_for_text():
    text = use("search", make_context(DictFiles(**SHAPES), insight=CodeInsight()), text="side * side").text
    assert text.splitlines() == ["pkg/shape.py", "  2: return side * side"]


def test_edit_replaces_exactly_one_place():
    files = DictFiles(**{"a.py": "x = 1\ny = 2\n"})
    use("edit", make_context(files), path="a.py", old="y = 2", new="y = 3")
    assert files.texts["a.py"] == "x = 1\ny = 3\n"


@pytest.mark.parametrize(
    ("old", "said"),
    [
        ("x", "occurs 2 times.*lines 1, 2; give `at`.*'all 2'"),
        ("y = 22", "nearest is line 3: 'y = 2'"),
        ("zzz", "copy it exactly"),
    ],
)
def test_an_edit_that_cannot_be_placed_changes_nothing_and_says_what_is_near(old, said):
    files = DictFiles(**{"a.py": "x = 1\nx = 2\ny = 2\n"})
    with pytest.raises(ModelMistake, match=said):
        use("edit", make_context(files), path="a.py", old=old, new="q")
    assert files.texts["a.py"] == "x = 1\nx = 2\ny = 2\n"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("y = 2", "y = 3\nz = 4", "a.py: line 2 replaced (now lines 2-3)"),
        ("x = 1\ny = 2\n", "", "a.py: lines 1-2 removed"),
        ("", "z = 4", "a.py: line 3 added"),
    ],
)
def test_an_edit_says_which_lines_it_replaced_and_where_the_new_ones_are(old, new, said):
    here = make_context(DictFiles(**{"a.py": "x = 1\ny = 2\n"}))
    assert use("edit", here, path="a.py", old=old, new=new).text.splitlines()[0] == said


def test_all_copies_are_replaced_in_a_file_or_a_folder_or_none_if_the_number_is_another():
    files = DictFiles(**{"a.py": "def get(url):\n    a = 1\ndef put(url):\n    a = 1\n", "lib/b.py": "get = forget()\n"})
    with pytest.raises(ModelMistake, match=r"occurs 2 times in a.py: a.py 2"):
        use("edit", make_context(files), path="a.py", old="a = 1", new="a = 2", at="all 3")
    told = use("edit", make_context(files), path="a.py", old="a = 1", new="a = 2", at="all 2").text
    assert told.startswith("2 replaced: a.py 2\n- a = 1") and files.texts["a.py"].count("a = 2") == 2
    told = use("edit", make_context(files), path=".", old="get", new="fetch", at="all").text
    assert told.startswith("2 replaced: a.py 1, lib/b.py 1")
    assert files.texts["lib/b.py"] == "fetch = forget()\n" and files.texts["a.py"].startswith("def fetch(url)")


def test_copies_in_files_that_act_unasked_are_not_replaced():
    before = {"a.py": "get\n", ".vscode/tasks.json": '"get"\n'}
    files = DictFiles(**before)
    with pytest.raises(ModelMistake, match="acts unasked"):
        use("edit", make_context(files), path=".", old="get", new="put", at="all 2")
    assert files.texts == before


SERVERS = {
    "a.py": "class Client:\n    def get(self):\n        return 1\n\n    @property\n    def url(self):\n        return 1\n\n\n"
    "class Server:\n    def get(self):\n        return 1\n",
    "a.js": "class Client {\n  get() {\n    return 1\n  }\n}\n",
    "a.ts": "export class Client {\n  get(): number {\n    return 1\n  }\n}\n",
    "a.go": "package a\n\ntype Client struct{}\n\n// get gets.\nfunc (c Client) get() int {\n\treturn 1\n}\n",
    "a.rs": "struct Client;\n\nimpl Client {\n    fn get(&self) -> i32 {\n        1\n    }\n}\n",
    "A.java": "class Client {\n    int get() {\n        return 1;\n    }\n}\n",
    "A.cs": "class Client {\n    int Get() {\n        return 1;\n    }\n}\n",
}


@pytest.mark.parametrize("path", SERVERS)
def test_a_definition_is_replaced_by_its_name_in_each_language(path):
    files = DictFiles(**SERVERS)
    name = "Client.Get" if path == "A.cs" else "Client.get"
    start = next(n for n, line in enumerate(SERVERS[path].splitlines()) if "get" in line.lower() and "//" not in line)
    use("edit", make_context(files, insight=CodeInsight()), path=path, at=name, new="one\n  two")
    was, now = SERVERS[path].splitlines(), files.texts[path].splitlines()
    depth = was[start][: len(was[start]) - len(was[start].lstrip())]
    end = start + (2 if path == "a.py" else 3)
    assert now == [*was[:start], f"{depth}one", f"{depth}  two", *was[end:]]


@pytest.mark.parametrize(
    ("path", "args", "before", "after"),
    [
        ("a.py", {"at": "before Client.url", "new": "x = 1\n"}, "    @property", "    x = 1\n\n    @property"),
        ("a.py", {"at": "after Server", "new": "x = 1"}, "1\n$", "1\n\n\nx = 1\n$"),
        ("a.py", {"at": "before Server", "new": "x = 1"}, "class Server", "x = 1\n\n\nclass Server"),
        ("a.py", {"at": "Client.url()", "new": ""}, "    @property\n    def url(self):\n        return 1\n\n\n", ""),
        ("a.py", {"at": "get:11", "new": "    pass"}, "11    def get(self):\n        return 1", "11    pass"),
        ("a.py", {"at": "Server", "old": "return 1", "new": "return 2"}, "1\n$", "2\n$"),
        ("a.go", {"at": "before get", "new": "var x int"}, "// get", "var x int\n\n// get"),
        ("a.go", {"at": "Client::get", "new": "// 2\nvar y\n"}, "*", "package a\n\ntype Client struct{}\n\n// 2\nvar y\n"),
        ("a.py", {"at": "Server", "old": "", "new": "x = 1"}, "1\n$", "1\n\n\nx = 1\n$"),
    ],
)  # fmt: skip
def test_text_goes_into_before_or_after_a_definition(path, args, before, after):
    files = DictFiles(**SERVERS)
    told = use("edit", make_context(files, insight=CodeInsight()), path=path, **args).text
    text = SERVERS[path]
    if before.startswith("11"):
        head, tail = text.split("class Server:\n")
        want = f"{head}class Server:\n{tail.replace(before[2:], after[2:])}"
    elif before == "*":
        want = after
    else:
        want = f"{text}$".replace(before, after, 1).removesuffix("$")
    assert files.texts[path] == want and told.startswith(f"{path}: line")


@pytest.mark.parametrize(
    ("path", "at", "said"),
    [
        ("a.py", "get", "defined 2 times in a.py: give one of Client.get:2, Server.get:11"),
        ("a.py", "Client.gett", "defines no Client.gett; it has Client.get"),
        ("a.txt", "get", "nothing that is known here: give `old`"),
        ("a.py", "the first one", "is the name of a definition"),
        ("b.js", "get", "shares a line with Client"),
    ],
)
def test_a_definition_that_is_not_the_only_one_is_not_changed_and_the_candidates_are_named(path, at, said):
    files = DictFiles(**SERVERS, **{"a.txt": "get", "b.js": "class Client { get() { return 1 } }\n"})
    before = dict(files.texts)
    with pytest.raises(ModelMistake, match=said):
        use("edit", make_context(files, insight=CodeInsight()), path=path, at=at, new="x")
    assert files.texts == before


ADDRESS, OTHER = "postgres://eve:hunter2@db.example/x", "postgres://bob:swordfish@db.example/y"


def test_a_hidden_secret_can_be_edited_around_and_is_written_back():
    files = DictFiles(**{"a.ini": f"# old\nurl = {ADDRESS}\nurl = {OTHER}\n"})
    hidden = redact_secrets(files.texts["a.ini"])
    assert "hunter2" not in hidden
    use(
        "edit",
        make_context(files),
        path="a.ini",
        old=f"# old\n{hidden.splitlines()[1]}",
        new=f"# new\n{hidden.splitlines()[1]}?ssl=1",
    )
    assert files.texts["a.ini"] == f"# new\nurl = {ADDRESS}?ssl=1\nurl = {OTHER}\n"
    whole = redact_secrets(files.texts["a.ini"]).replace("# new", "# newer")
    use("edit", make_context(files), path="a.ini", new=whole)
    assert files.texts["a.ini"] == f"# newer\nurl = {ADDRESS}?ssl=1\nurl = {OTHER}\n"
    use("edit", make_context(files), path="a.ini", old=whole.splitlines()[1] + "\n", new="")
    assert files.texts["a.ini"] == f"# newer\nurl = {OTHER}\n"


@pytest.mark.parametrize(
    "args", [{"new": "url = [redacted]\n"}, {"old": "# old", "new": "[redacted]"}, {"old": "", "new": "[redacted]"}]
)
def test_a_mark_that_stands_for_no_secret_or_for_one_of_several_is_refused(args):
    text = f"# old\nurl = {ADDRESS}\nurl = {OTHER}\n"
    files = DictFiles(**{"a.ini": text})
    with pytest.raises(ModelMistake, match="hides a secret"):
        use("edit", make_context(files), path="a.ini", **args)
    assert files.texts["a.ini"] == text


CLAUDE_KEY, KEY_BEGIN = "sk-" + "ant-api03-Zq81kfLq0Zx81kfLq0Zx81kfLq0-Zx81kfLq0AA", "-----BEGIN RSA PRIVATE " + "KEY-----"
KEY_LINES = [letter + "IEowIBAAKCAQEA7v3Zk0Yx" for letter in "MNOPQRS"] + ["c2hvcnQ="]
HIDING = {
    "key.py": f'KEY = "{CLAUDE_KEY}"\n',
    "aws.ini": 'aws_secret_access_key = "wJalrXUtnFEMI/K7MDENG/' + 'bPxRfiCYEXAMPLEKEY"\n',
    "a.ini": f"url = {ADDRESS}\n",
    "pem.txt": "\n".join(["key:", KEY_BEGIN, *KEY_LINES, KEY_BEGIN.replace("BEGIN", "END"), "end", ""]),
}
MARKS = "key:\n" + "[redacted]\n" * 10


@pytest.mark.parametrize(
    ("path", "args", "said"),
    [
        ("key.py", {"old": "[redacted]", "new": "a[redacted]"}, "would show"),
        ("key.py", {"new": "KEY = _[redacted]\n"}, "would show"),
        ("aws.ini", {"old": 'aws_secret_access_key = "[redacted]"', "new": 'aws = "[redacted]"'}, "would show"),
        ("a.ini", {"old": "postgres://[redacted]@", "new": "postgres:[redacted]@"}, "would show"),
        ("key.py", {"old": "sk-ant-", "new": "zz"}, "occurs 0 times"),
        ("key.py", {"old": "ant-api03", "new": "ant_api03"}, "occurs 0 times"),
        ("key.py", {"old": "ant-api03-Zq8", "new": "x", "at": "all 2"}, "occurs 0 times"),
        ("key.py", {"old": "redacted", "new": "x"}, "occurs 0 times"),
        ("pem.txt", {"old": MARKS, "new": MARKS.replace("]\n[", "]\nx\n[", 1)}, "nothing new between"),
        ("pem.txt", {"new": f"{MARKS.replace(']', ']x', 3)}end\n"}, "nothing new between"),
        ("pem.txt", {"old": "key:\n[redacted]", "new": "key:\n[redacted]\nx"}, "kept or removed together"),
        ("pem.txt", {"old": "key:\n[redacted]", "new": "key:\n"}, "kept or removed together"),
    ],
)
def test_an_edit_neither_shows_nor_finds_what_is_hidden(path, args, said):
    files = DictFiles(**HIDING)
    with pytest.raises(ModelMistake, match=said):
        use("edit", make_context(files), path=path, **args)
    assert files.texts == HIDING


def test_a_hidden_key_of_several_lines_is_kept_or_removed_as_a_whole():
    files = DictFiles(**HIDING)
    use("edit", make_context(files), path="pem.txt", old="key:\n[redacted]", new="new:\n[redacted]")
    assert files.texts["pem.txt"] == HIDING["pem.txt"].replace("key:", "new:")
    use("edit", make_context(files), path="pem.txt", old="", new="more\n")
    told = use("edit", make_context(files), path="pem.txt", old="more", new="most").text
    assert told.startswith("pem.txt: line 13 replaced")
    shown = redact_secrets(HIDING["pem.txt"]).removeprefix("key:\n").removesuffix("end\n")
    use("edit", make_context(files), path="pem.txt", old=shown, new="")
    assert files.texts["pem.txt"] == "new:\nend\nmost\n"


@pytest.mark.parametrize("text", ["ant-api03-Zq8", "hunter", "OIEow", "wJalr"])
def test_a_search_does_not_find_what_is_hidden(text):
    assert use("search", make_context(DictFiles(**HIDING)), text=text).text.startswith("no hit")


def test_an_edit_that_copies_the_mark_for_lines_that_are_not_repeated_is_refused():
    with pytest.raises(ModelMistake, match="write out"):
        use("edit", make_context(DictFiles()), path="a.py", new="a = 1\n[… 12 lines not repeated]\nb = 2")


NESTED = (
    "class Test{0}:\n    def test_same(self):\n        def test():\n            return {0}\n\n        assert test() == {0}\n\n\n"
)
CLASSES = "".join(map(NESTED.format, (1, 2, 3)))


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("class Test2:\n", f"{NESTED.format(9)}class Test2:\n", ""),
        ("return 2\n", "return 1 + 1\n", "test_same"),
        ("class Test2:\n    def test_same(self):\n", "class Test2:\n    def test_other(self):\n", "test_same"),
    ],
)
def test_an_edit_names_a_test_once_and_none_if_it_only_inserts_beside_tests_of_the_same_name(old, new, named):
    told = use("edit", make_context(DictFiles(**{"tests/test_a.py": CLASSES})), path="tests/test_a.py", old=old, new=new)
    assert told.text.splitlines()[0].partition("; ")[2] == (named and f"this changes the existing {named}")


TWO_TESTS = "def test_one():\n    value = make()\n    assert value\n\n\ndef test_two():\n    assert make()\n"


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("    value = make()\n", "    value = make()\n\n\ndef test_new():\n    value = 2\n", "test_one"),
        ("    assert make()\n", "    assert make()\n\n\ndef test_new():\n    assert 1\n", ""),
    ],
)
def test_an_edit_names_the_existing_test_whose_body_it_changes(old, new, named):
    told = use("edit", make_context(DictFiles(**{"tests/test_a.py": TWO_TESTS})), path="tests/test_a.py", old=old, new=new)
    assert told.text.splitlines()[0].partition("; ")[2] == (named and f"this changes the existing {named}")


def test_a_read_that_ends_inside_a_function_says_where_the_function_ends():
    files = DictFiles(**{"a.py": TWO_TESTS})
    assert (
        use("read", make_context(files), path="a.py", start=1, lines=2).text == "a.py: lines 1-2 of 7, ends inside test_one (1-3)"
    )
    assert use("read", make_context(files), path="a.py", start=1, lines=3).text == "a.py: lines 1-3 of 7"


def test_an_edit_of_nothing_appends_after_the_last_line():
    files = DictFiles(**{"a.py": "x = 1"})
    use("edit", make_context(files), path="a.py", old="", new="y = 2\n")
    assert files.texts["a.py"] == "x = 1\ny = 2\n"


def test_an_edit_without_old_makes_or_replaces_the_file_and_says_which():
    here = make_context(DictFiles())
    assert use("edit", here, path="a.py", new="x\n").text == "made a.py (1 line)\nx\n"
    assert "replaced a.py" in use("edit", here, path="a.py", new="y\n").text
    assert here.files.read("a.py") == "y\n"


def test_an_edit_with_empty_old_makes_a_file_that_does_not_exist():
    here = make_context(DictFiles())
    assert use("edit", here, path="a.py", old="", new="x\n").text.startswith("made a.py")


def test_an_edit_that_looks_for_text_in_a_missing_file_makes_none():
    here = make_context(DictFiles())
    with pytest.raises(ModelMistake, match="no such file"):
        use("edit", here, path="a.py", old="x", new="y")
    assert not here.files.paths()


def test_run_reports_the_exit_code_and_is_not_ok_when_it_is_not_zero():
    here = make_context(table={"false": (1, "oops")})
    assert (use("run", here, command="false").ok, use("run", here, command="false").text) == (False, "$ false\nexit 1\noops")


@pytest.mark.parametrize(
    "printed",
    [
        "python: can't open file '/tmp/p.py': [Errno 2] No such file or directory",
        "cat: $TMPDIR/out.txt: No such file or directory",
        "bash: line 1: /tmp/out.txt: Permission denied",
    ],
)
def test_a_command_that_misses_its_temporary_file_is_told_where_they_go_and_that_they_do_not_last(printed):
    told = use("run", make_context(table={"go": (2, printed)}), command="go").text
    assert told.endswith(
        "into $TMPDIR, which is empty at the start of each command: write a file and use it in the same command]"
    )
    assert "[temporary files" not in use("run", make_context(table={"go": (1, "no /etc/x")}), command="go").text


def test_reading_a_folder_lists_its_folders_with_their_files_counted_and_its_files():
    files = DictFiles(**{"src/a.py": "", "src/deep/b.py": "", "src/deep/er/c.py": "", "src/z.txt": "", "top.py": ""})
    here = make_context(files)
    assert use("read", here, path="src/").text == "src: 4 files\ndeep/ (2 files)\na.py, z.txt"
    assert use("read", here, path=".").text == ".: 5 files\nsrc/ (4 files)\ntop.py"
    assert not use("read", here, path="src").regions


def test_a_note_is_kept_about_its_subject():
    (fact,) = use("note", make_context(step=2), subject="parser", text="tabs are kept").facts
    assert (fact.kind, fact.subject, fact.text, fact.step) == (FactKind.NOTE, "parser", "tabs are kept", 3)


def test_searching_an_archived_output_gives_the_part_that_was_asked_about():
    text = "\n".join([*(f"line {n}" for n in range(50)), "KeyError: colour", *(f"line {n}" for n in range(50, 100))])
    told = use("search", make_context(archive=Archive(text)), path=f"@{block_id_from_text(text)[:8]}", text="the KeyError").text
    assert "KeyError: colour" in told
    assert len(told.splitlines()) < 20


def test_reading_an_unknown_output_says_where_ids_stand():
    with pytest.raises(ModelMistake, match="Archived outputs"):
        use("read", make_context(), path="@deadbeef")


def test_plan_keeps_order_and_what_is_done():
    (event,) = use("plan", make_context(), items=["[x] look", "[ ] mend", "tell"]).events
    assert event == PlanSet((PlanItem("look", True), PlanItem("mend"), PlanItem("tell")))


def test_items_of_the_plan_are_marked_by_their_numbers():
    held = (PlanItem("look", True), PlanItem("mend"), PlanItem("tell"))
    outcome = use("plan", make_context(plan=held), items=["[x] 2"])
    assert outcome.events == (PlanSet((PlanItem("look", True), PlanItem("mend", True), PlanItem("tell"))),)
    assert outcome.text == "marked; next: tell"
    assert use("plan", make_context(plan=held), items=["[x] 2", "[x] 3"]).text == "marked; all are done"
    assert use("plan", make_context(), items=["[x] 2"]).events == (PlanSet((PlanItem("2", True),)),), "there is no plan to mark"
    with pytest.raises(ModelMistake, match="there is no item 4"):
        use("plan", make_context(plan=held), items=["[x] 4"])


def test_a_plan_that_could_crowd_out_everything_else_is_refused():
    with pytest.raises(ModelMistake, match="13 items, 12 are the most"):
        use("plan", make_context(), items=["x"] * 13)


def test_an_item_of_a_plan_that_is_too_long_is_cut_and_the_plan_is_kept():
    outcome = use("plan", make_context(), items=["look", "y" * 300])
    assert outcome.text == "plan set; cut to 200 characters: item 2"
    assert [len(item.text) for event in outcome.events for item in event.items] == [4, 200]


def test_ask_blocks_with_the_question_and_its_options():
    (event,) = use("ask", make_context(), question="Which?", options=["a", "b"]).events
    assert event == QuestionAsked("Which?", ("a", "b"))


@pytest.mark.parametrize(
    "args",
    [{"question": " "}, {"question": "x" * 601}, {"question": "Which?", "options": ["a"] * 7},
     {"question": "Which?", "options": ["a", " "]}, {"question": "Which?", "options": ["x" * 201]},
     {"question": "Which?", "options": [{"option": "a"}]}, {"question": "Which?", "options": ["Accept the workaround"]}],
)  # fmt: skip
def test_a_question_that_no_later_window_could_hold_is_not_asked(args):
    with pytest.raises(ModelMistake, match="ask"):
        use("ask", make_context(), **args)


def test_a_note_with_a_reason_is_a_decision():
    told = use("note", make_context(step=2), subject="parser", text="by  hand", why="no new dependency (90% sure)")
    (event,) = told.events
    made = Decision("by hand", "model", "no new dependency (90% sure)", 3, "parser", 0.9)
    assert event == DecisionMade(made) and told.text == "decision kept for later prompts" and not told.facts
    (event,) = use("note", make_context(), subject="parser", text="by hand", why="30% of users need it").events
    assert event.decision.confidence is None


def test_a_decision_tells_what_no_longer_holds_and_leaves_the_users_word_alone():
    held = (Decision("a table", "model", "so", 1, "Parser"), Decision("keep them", "person", "", 1, "Rename all?"))
    here = make_context(decisions=held)
    assert (
        use("note", here, subject="parser", text="by hand", why="so").text
        == "decision kept for later prompts; no longer: a table"
    )
    with pytest.raises(ModelMistake, match="the user has decided that: keep them"):
        use("note", here, subject="rename all?", text="rename", why="nicer")


def test_a_decision_that_is_too_long_is_cut_and_the_result_says_so():
    told = use("note", make_context(), subject="s" * 99, text="t" * 1300, why="w" * 1300)
    (event,) = told.events
    assert (len(event.decision.subject), len(event.decision.text), len(event.decision.why)) == (60, 1200, 1200)
    assert told.text == "decision kept for later prompts (cut to 1200 characters)"


def test_a_note_or_a_decision_is_retired_by_its_subject():
    [note] = use("note", make_context(), subject="order", text="first a.py, then b.py").facts
    here = make_context(facts=(note,), decisions=(Decision("a table", "model", "short", 3, "parser"),))
    [gone] = use("note", here, subject="Order", text="done").facts
    assert supersede_fact((note,), gone) == ()
    [event] = use("note", here, subject="parser", text="Done.").events
    assert not add_decision(here.state.memory.decisions, event.decision)
    with pytest.raises(ModelMistake, match="there are order"):
        use("note", here, subject="odrer", text="done")


@pytest.mark.parametrize("args", [{"subject": " "}, {"text": ""}, {"text": "", "why": "so"}])
def test_an_empty_note_is_refused(args):
    with pytest.raises(ModelMistake, match="must not be empty"):
        use("note", make_context(), **{"subject": "parser", "text": "by hand", **args})


def test_complete_is_only_a_claim():
    assert use("complete", make_context(), summary="Done").complete == "Done"


def test_apply_carries_out_an_archived_suggestion():
    suggestion = "extract f\n" + json.dumps([{"path": "a.py", "old": "x = 1", "new": "x = 2"}])
    files = DictFiles(**{"a.py": "x = 1\n"})
    use("apply", make_context(files, archive=Archive(suggestion)), id=block_id_from_text(suggestion)[:12])
    assert files.texts["a.py"] == "x = 2\n"


CUT = [
    {"path": "a.py", "old": "x = 1", "new": "x = self._part(1)"},
    {"path": "a.py", "old": "y = 2", "new": "def _part(n): return n\ny = _rest(2)"},
]
"""Two new functions; `taken` is a name elsewhere in the project."""


def apply_cut(names: str) -> tuple[str, str]:
    suggestion = f"extract 4 lines of f into self.NAME(n), 5 lines into NAME2(n)\n{json.dumps(CUT)}\n_part _rest"
    files = DictFiles(**{"a.py": "x = 1\ny = 2\n", "b.py": "taken = 3\n"})
    done = use("apply", make_context(files, archive=Archive(suggestion)), id=block_id_from_text(suggestion)[:12], name=names)
    return files.texts["a.py"], done.text


def test_the_model_names_the_new_functions():
    text, output = apply_cut("_read_one, _read_rest")
    assert text == "x = self._read_one(1)\ndef _read_one(n): return n\ny = _read_rest(2)\n"
    assert output.startswith("extract 4 lines of f into self._read_one(n), 5 lines into _read_rest(n)\n")


def test_without_a_name_the_default_is_used():
    text, output = apply_cut("")
    assert "self._part(1)" in text and "y = _rest(2)" in text and "into _rest(n)" in output


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ("_one", "2 new functions need as many names"),
        ("_one, _one", "2 new functions need as many names"),
        ("_one, a-b", "'a-b' is no name"),
        ("_one, class", "'class' is no name"),
        ("_one, x", "a.py uses the name x already"),
        ("taken, _two", "b.py uses the name taken already"),
    ],
)
def test_a_name_that_can_not_be_used_is_refused(names, said):
    with pytest.raises(ModelMistake, match=said):
        apply_cut(names)


@pytest.mark.parametrize("text", ["just an output", "title\nnot json", 'title\n{"path": "x"}'])
def test_apply_refuses_a_block_that_is_no_suggestion(text):
    with pytest.raises(ModelMistake, match="no suggestion"):
        use("apply", make_context(archive=Archive(text)), id=block_id_from_text(text)[:12])


@pytest.mark.parametrize(
    ("name", "args", "said"),
    [
        ("read", {}, "missing argument path"),
        ("read", {"path": "a", "begin": 1}, "unknown argument begin"),
        ("read", {"path": 3}, "path: should be string"),
        ("plan", {"items": "one"}, "items: should be array"),
    ],
)
def test_arguments_that_do_not_fit_the_schema_are_named(name, args, said):
    with pytest.raises(ModelMistake, match=said):
        BY_NAME[name].run(args, make_context())


def test_a_note_about_room_asks_for_a_larger_prompt():
    assert use("note", make_context(), subject="room", text="the other file").events == (
        LargerCeilingRequested("the other file"),
    )
