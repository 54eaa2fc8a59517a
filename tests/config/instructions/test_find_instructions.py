"""Where instructions are found, in which order, and what is refused; always in the checkout, and never outside it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.config.instructions.find_instructions import MAX_INSTRUCTION_BYTES, FoundInstructions, InstructionFiles
from afresh.config.instructions.parse_instructions import parse_own_instructions
from afresh.errors import BadInstructions

Put = Callable[..., None]
TYPES = ("fix_bug", "refactor")


@pytest.fixture
def files(tmp_path: Path) -> InstructionFiles:
    (tmp_path / "repo").mkdir()
    return InstructionFiles(tmp_path / "config", tmp_path / "repo", TYPES)


@pytest.fixture
def put(tmp_path: Path) -> Put:
    def write(path: str, text: str | bytes = "x", at: str = "repo") -> None:
        target = tmp_path / at / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(text if isinstance(text, bytes) else text.encode())

    return write


def names(found: FoundInstructions) -> list[str]:
    return [source.file.rpartition("/config/")[2] for source in found.sources]


def test_they_come_from_general_to_special(files: InstructionFiles, put: Put):
    for path in ("AGENT.md", "tasks/fix_bug.md"):
        put(path, at="config")
    for path in (".afresh/AGENT.md", ".afresh/tasks/fix_bug.md", "src/AGENT.md", "src/a/CLAUDE.md", "src/b/AGENT.md"):
        put(path)
    found = files.look(("fix_bug",), ("src/a/x.py", "y.py"))
    assert names(found) == ["AGENT.md", ".afresh/AGENT.md", "src/AGENT.md", "src/a/CLAUDE.md", "tasks/fix_bug.md",
                            ".afresh/tasks/fix_bug.md"]  # fmt: skip
    assert [source.level.value for source in found.sources] == ["user", "project", "folder", "folder", "task type", "task type"]
    assert [source.folder for source in found.sources] == ["", "", "src", "src/a", "", ""]
    assert names(files.look((), ("src/b",)))[-1] == "src/b/AGENT.md", "a folder may be named itself"


def test_a_repository_that_stands_inside_has_rules_of_its_own_but_a_submodule_is_part_of_this_one(
    files: InstructionFiles, put: Put
):
    for path in ("lib/other/AGENT.md", "lib/other/.git/HEAD", "lib/other/deep/AGENT.md", "part/AGENT.md"):
        put(path)
    put("part/.git", "gitdir: ../.git/modules/part")
    assert names(files.look((), ("lib/other/x.py", "lib/other/deep/x.py", "part/x.py"))) == ["part/AGENT.md"]


@pytest.mark.parametrize("count", range(5))
def test_of_a_projects_files_the_first_that_is_there_counts_and_the_others_are_told(
    files: InstructionFiles, put: Put, count: int
) -> None:
    order = (".afresh/AGENT.md", "AGENT.md", "AGENTS.md", "CLAUDE.md", ".cursorrules")[count:]
    for path in order:
        put(path)
    found = files.look((), ())
    assert names(found) == [order[0]] and list(found.notes) == [
        f"{other} is not read: {order[0]} goes before it" for other in order[1:]
    ]


def test_a_type_builds_on_what_is_said_of_its_family(files: InstructionFiles, put: Put):
    put(".afresh/tasks/fix_bug.md")
    put(".afresh/tasks/refactor.md")
    assert names(files.look(("fix_bug", "refactor"), ())) == [".afresh/tasks/fix_bug.md", ".afresh/tasks/refactor.md"]


def test_a_file_for_a_type_that_there_is_not_is_told(files: InstructionFiles, put: Put):
    put(".afresh/tasks/fix_bgu.md")
    assert files.look(("fix_bug",), ()).notes == (".afresh/tasks/fix_bgu.md is never read: there is no task type fix_bgu",)


def test_what_was_written_for_afresh_is_its_own_and_a_plain_agent_file_in_the_tree_is_taken_as_it_is(
    files: InstructionFiles, put: Put
) -> None:
    put("AGENT.md")
    put("a/AGENT.md", "---\nreplaces: true\n---\nx")
    put(".afresh/tasks/fix_bug.md")
    put("AGENT.md", at="config")
    assert [source.own for source in files.look(("fix_bug",), ("a/x",)).sources] == [True, False, True, True]


def test_types_and_patterns_say_for_which_tasks_a_file_counts(files: InstructionFiles, put: Put):
    put(".afresh/AGENT.md", "---\ntypes: [refactor]\napplies_to: [src/**/*.py, '*.c']\n---\nx")
    assert files.look(("fix_bug",), ("src/x.py",)).notes == (".afresh/AGENT.md counts only for tasks of type refactor",)
    assert files.look(("refactor",), ("x.py",)).notes == (".afresh/AGENT.md counts only for work on src/**/*.py, *.c",)
    assert (
        names(files.look(("refactor",), ("src/a/x.py",)))
        == names(files.look(("refactor",), ("deep/x.c",)))
        == [".afresh/AGENT.md"]
    )


WRONG = {
    "unknown field": ("---\nauthor: x\n---\n", 2, "author", "there is no field 'author'", "known: types"),
    "near field": ("---\n\nrule: {a: b}\n---\n", 3, "rule", "there is no field", "did you mean rules?"),
    "rule's name": ("---\nrules:\n  a: b\n  No Spaces: c\n---\n", 4, "rules.No Spaces", "there is no rule", "small letters"),
    "rule a number": ("---\nrules:\n  a: 3\n---\n", 3, "rules.a", "should be a text", "in quotes"),
    "rule empty": ("---\nrules:\n  a:\n---\n", 3, "rules.a", "is empty", ""),
    "rule twice": ("---\nrules:\n  a: b\n  a: c\n---\n", 4, "rules.a", "is given twice", ""),
    "rules a list": ("---\nrules: [a]\n---\n", 2, "rules", "should be a mapping such as", ""),
    "no such type": ("---\ntypes: [fix_bgu]\n---\n", 2, "types", "there is no task type 'fix_bgu'", "did you mean fix_bug?"),
    "types a word": ("---\ntypes: fix_bug\n---\n", 2, "types", "should be a list of types", ""),
    "no pattern": ("---\napplies_to: [../x]\n---\n", 2, "applies_to", "is no pattern below the root", "src/**/*.py"),
    "no patterns": ("---\napplies_to: []\n---\n", 2, "applies_to", "should be a list of patterns", ""),
    "truth": ("---\nreplaces: yes\n---\n", 2, "replaces", "should be true or false, 'yes' is not", ""),
    "firm in a repository": ("---\nfirm: true\n---\n", 2, "firm", "only a file of the user's own", "take it out"),
    "no end": ("---\nrules: {}\n\ntext", 1, "", "has no end", "close it with a line ---"),
    "not YAML": ("---\nrules: {\n---\n", 2, "", "is not YAML", ""),
    "a list": ("---\n- a\n---\n", 2, "", "should be a mapping such as {rules", ""),
    "an object": ("---\nrules: {a: !!python/object/apply:os.system [ls]}\n---\n", 2, "rules.a", "should be a text", ""),
    "not UTF-8": (b"ok\nna\xefve\n", 2, "", "is not UTF-8", "save it as UTF-8"),
    "NUL": (b"ok\n\0", 2, "", "NUL", ""),
    "too large": (b"x" * (MAX_INSTRUCTION_BYTES + 1), 1, "", "bytes, 100,000 are allowed", "say it shorter"),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "key", "what", "advice"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_with_its_place(
    files: InstructionFiles, put: Put, text: str | bytes, line: int, key: str, what: str, advice: str
) -> None:
    put(".afresh/AGENT.md", text)
    with pytest.raises(BadInstructions) as caught:
        files.chain(("fix_bug",), (), ())
    assert caught.value.what.startswith(f".afresh/AGENT.md:{line}: {key + ': ' if key else ''}"), caught.value.what
    assert what in caught.value.what and advice in caught.value.next and caught.value.safe == "nothing was changed"


def test_all_faults_of_all_files_are_found_at_once(files: InstructionFiles, put: Put):
    put(".afresh/AGENT.md", "---\ntitle: x\nfirm: true\n---\n")
    put("src/AGENT.md", "---\nx: y\n---\n")
    found = files.look((), ("src/a.py",))
    assert [(fault.file, fault.line) for fault in found.faults] == [
        (".afresh/AGENT.md", 2),
        (".afresh/AGENT.md", 3),
        ("src/AGENT.md", 2),
    ]
    with pytest.raises(BadInstructions, match=r"and 2 more: `afresh context instructions`"):
        files.chain((), ("src/a.py",), ())


def test_the_users_own_file_may_be_firm_and_may_name_types_of_other_projects(files: InstructionFiles, put: Put):
    put("AGENT.md", "---\nfirm: true\ntypes: [theirs, fix_bug]\n---\nx", at="config")
    assert [source.firm for source in files.look(("fix_bug",), ()).sources] == [True]


def test_front_matter_may_be_empty_or_missing_and_lines_are_those_of_the_file(files: InstructionFiles, put: Put):
    put(".afresh/AGENT.md", b"\xef\xbb\xbf---\r\n# nothing\r\n---\r\n\r\nfirst\r\n## A\r\nx\r\n")
    (one,) = files.look((), ()).sources
    assert [(part.path, part.first, part.last) for part in one.parts] == [((), 5, 5), (("a",), 6, 7)]
    put(".afresh/AGENT.md", "---\nrules:\n  naming: |\n    Whole words.\n    Always.\n...\ntext")
    (one,) = files.look((), ()).sources
    assert [(line.number, line.text) for line in one.parts[0].lines] == [(3, "- naming: Whole words."), (3, "  Always.")]


def test_files_of_other_tools_are_taken_as_they_are_and_what_they_import_is_not_followed(files: InstructionFiles, put: Put):
    put("CLAUDE.md", "---\nanything: [\n---\n@docs/style.md\n- @~/mine.md\nask @maintainer\n@AGENTS\n")
    found = files.look((), ())
    assert not found.faults and found.sources[0].parts[0].last == 7
    assert found.notes == (
        "CLAUDE.md:4: @docs/style.md is not followed; the line is shown as it stands",
        "CLAUDE.md:5: @~/mine.md is not followed; the line is shown as it stands",
    )
    put("CLAUDE.md", b"na\xefve")
    assert files.look((), ()) == FoundInstructions(notes=("CLAUDE.md is not shown: it is not UTF-8",))


def test_rules_of_cursor_count_where_nothing_else_is_there_and_where_they_say_so(files: InstructionFiles, put: Put):
    put(".cursor/rules/all.mdc", "---\nalwaysApply: true\n---\nalways")
    put(".cursor/rules/some.mdc", "---\ndescription: x\nglobs: *.py,lib/**\nalwaysApply: false\n---\nfor python")
    put(".cursor/rules/asked.mdc", "---\ndescription: x\n---\non demand")
    put(".cursor/rules/plain.md", "plain")
    assert [name.rpartition("/")[2] for name in names(files.look((), ("a.py",)))] == ["all.mdc", "plain.md", "some.mdc"]
    found = files.look((), ("a.c",))
    assert found.sources[0].parts[0].lines[0].number == 4 and not found.sources[0].own
    assert ".cursor/rules/asked.mdc is not shown: it says neither alwaysApply nor globs" in found.notes
    put("AGENTS.md")
    assert names(files.look((), ("a.py",))) == ["AGENTS.md"]


def test_a_link_may_lead_to_a_file_of_the_repository_and_nowhere_else(files: InstructionFiles, put: Put, tmp_path: Path):
    put("AGENTS.md", "shared")
    put("src/x.py")
    put("secret.md", at="elsewhere")
    os.symlink("../AGENTS.md", tmp_path / "repo/src/CLAUDE.md")
    assert names(files.look((), ("src/x.py",))) == ["AGENTS.md", "src/CLAUDE.md"]
    (tmp_path / "repo/AGENTS.md").unlink()
    os.symlink("../elsewhere/secret.md", tmp_path / "repo/AGENTS.md")
    assert files.look((), ()).notes == (
        "AGENTS.md is not shown: it is a link that leads outside the project; only files inside it can be used",
    )
    put(".afresh/tasks/x")
    os.symlink("/etc/passwd", tmp_path / "repo/.afresh/AGENT.md")
    fault = files.look((), ()).faults[0]
    assert "is a link that leads outside the project" in fault.what and str(fault).startswith(".afresh/AGENT.md:1: is a link")


@given(st.text(st.characters(codec="utf-8"), max_size=60), st.text(max_size=30))
def test_junk_is_a_fault_and_never_a_crash(front: str, body: str):
    found = parse_own_instructions("f", f"---\n{front}\n---\n{body}", TYPES, True)
    assert all(fault.line >= 1 and fault.what for fault in found.faults) and (found.faults == () or found.parts == ())
