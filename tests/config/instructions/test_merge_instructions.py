"""Deeper wins, part by part and where it holds; nothing else is lost."""

from hypothesis import given
from hypothesis import strategies as st

from afresh.config.instructions.merge_instructions import merge_instructions
from afresh.config.instructions.parse_instructions import parse_own_instructions, part_from_rule, split_into_parts
from afresh.core.instructions import InstructionChain, InstructionFile, InstructionLevel, NumberedLine


def source(
    file: str, text: str, level: InstructionLevel = InstructionLevel.PROJECT, rules: dict[str, str] | None = None, **more
) -> InstructionFile:
    lines = [NumberedLine(number, line) for number, line in enumerate(text.split("\n"), 1)]
    named = [part_from_rule(name, said, 1) for name, said in (rules or {}).items()]
    return InstructionFile(file, level, (*named, *split_into_parts(lines)), **more)


def shown(chain: InstructionChain) -> dict[str, str]:
    return {one.file: "\n".join(line.text for part in one.parts for line in part.lines) for one in chain.sources}


def gone(chain: InstructionChain) -> list[tuple[str, str, str, str]]:
    return [(one.file, one.part.title, one.by, one.where) for one in chain.overruled]


PROJECT = source("p", "intro\n## Testing\nuse pytest\n### Unit\nfast\n## Style\nplain", rules={"naming": "whole words"})


def test_a_constraint_holds_whatever_a_more_special_file_says() -> None:
    def file(name: str, text: str, level: InstructionLevel) -> InstructionFile:
        read = parse_own_instructions(name, text, (), is_user_file=False)
        assert not read.faults
        return InstructionFile(name, level, read.parts, replaces=read.replaces)

    general = file("a", "---\nconstraints: [No network.]\nrules: {naming: x}\n---\n", InstructionLevel.PROJECT)
    special = file("b", "---\nreplaces: true\nrules: {naming: y}\n---\n", InstructionLevel.TYPE)
    shown = [
        line.text for source in merge_instructions([general, special]).sources for part in source.parts for line in part.lines
    ]
    assert shown == ["- always: No network.", "- naming: y"]


def test_a_section_of_the_same_heading_replaces_the_other_with_all_that_stands_under_it():
    chain = merge_instructions([PROJECT, source("t", "## testing:\nuse unittest", InstructionLevel.TYPE)])
    assert shown(chain) == {"p": "- naming: whole words\nintro\n## Style\nplain", "t": "## testing:\nuse unittest"}
    assert gone(chain) == [("p", "Testing", "t", ""), ("p", "Unit", "t", "")]


def test_a_rule_of_the_same_name_replaces_the_other_and_a_heading_of_that_name_does_not():
    rules = merge_instructions([PROJECT, source("t", "", InstructionLevel.TYPE, {"naming": "as it is"})])
    assert "naming" not in shown(rules)["p"] and shown(rules)["t"] == "- naming: as it is"
    assert (
        "- naming: whole words" in shown(merge_instructions([PROJECT, source("t", "## naming\nx", InstructionLevel.TYPE)]))["p"]
    )


def test_a_heading_is_dropped_with_the_last_that_stood_below_it_and_kept_when_it_stands_for_itself():
    under = source("p", "## Testing\n### Unit\nfast\n## Never push\n")
    assert (
        shown(merge_instructions([under, source("t", "## Testing\n### Unit\nslow", InstructionLevel.TYPE)]))["p"]
        == "## Never push"
    )


def test_one_that_replaces_stands_alone():
    chain = merge_instructions(
        [source("u", "one", InstructionLevel.USER), PROJECT, source("t", "only this", InstructionLevel.TYPE, replaces=True)]
    )
    assert shown(chain) == {"t": "only this"} and len(chain.overruled) == 6


def test_a_firm_one_is_replaced_by_nothing():
    firm = source("u", "## Testing\nalways", InstructionLevel.USER, {"naming": "mine"}, firm=True)
    chain = merge_instructions([firm, PROJECT, source("t", "x", InstructionLevel.TYPE, replaces=True)])
    assert shown(chain) == {"u": "- naming: mine\n## Testing\nalways", "t": "x"}
    assert ("p", "naming", "u", "") in gone(chain) and ("p", "Unit", "u", "") in gone(chain)


FOLDER = source("src/a/AGENT.md", "## Testing\nhere unittest", InstructionLevel.FOLDER, folder="src/a")


def test_where_work_goes_on_outside_a_folder_both_are_kept_and_the_other_is_marked():
    chain = merge_instructions([PROJECT, FOLDER], ["src/a/x.py", "src/ab/y.py"])
    marks = {part.title: part.elsewhere for part in chain.sources[0].parts}
    assert marks == {"naming": (), "": (), "Testing": ("src/a",), "Unit": ("src/a",), "Style": ()}
    assert gone(chain)[0] == ("p", "Testing", "src/a/AGENT.md", "src/a")
    alone = merge_instructions(
        [PROJECT, source("f", "x", InstructionLevel.FOLDER, folder="src/a", replaces=True)], ["src/a/x.py", "y.py"]
    )
    assert alone.sources[0].elsewhere == ("src/a",) and len(alone.sources[0].parts) == 5


def test_a_folder_says_nothing_about_its_neighbour_but_goes_before_the_one_that_it_is_in():
    beside = source("src/b/AGENT.md", "## Testing\nother", InstructionLevel.FOLDER, folder="src/b")
    inside = source("src/a/deep/AGENT.md", "## Testing\ndeep", InstructionLevel.FOLDER, folder="src/a/deep")
    assert len(merge_instructions([FOLDER, beside], ["src/a/x", "src/b/y"]).overruled) == 0
    assert set(shown(merge_instructions([FOLDER, inside], ["src/a/deep/x"]))) == {"src/a/deep/AGENT.md"}


def test_several_files_of_a_project_are_beside_each_other():
    chain = merge_instructions([source("one", "## A\nx"), source("two", "## A\ny")])
    assert not chain.overruled and set(shown(chain)) == {"one", "two"}


SECTIONS = st.lists(st.tuples(st.integers(1, 3), st.sampled_from("ABC"), st.booleans()), max_size=4)
PLACES = [
    (InstructionLevel.USER, ""),
    (InstructionLevel.PROJECT, ""),
    (InstructionLevel.FOLDER, "src"),
    (InstructionLevel.FOLDER, "src/a"),
    (InstructionLevel.TYPE, ""),
]


@st.composite
def sources(draw: st.DrawFn) -> list[InstructionFile]:
    made: list[InstructionFile] = []
    chosen = draw(st.sets(st.sampled_from(PLACES), min_size=1))
    for number, (level, folder) in enumerate(sorted(chosen, key=PLACES.index)):
        text = "".join(f"{'#' * depth} {title}\n{f'of {number}' * said}\n" for depth, title, said in draw(SECTIONS))
        names = draw(st.sets(st.sampled_from(["one", "two"])))
        firm = level is InstructionLevel.USER and draw(st.booleans())
        made.append(source(f"{number}", text, level, dict.fromkeys(names, f"of {number}"), folder=folder, firm=firm))
    return made


@given(sources())
def test_of_a_subject_only_the_deepest_is_left_and_of_what_is_gone_nothing_is(given_sources: list[InstructionFile]):
    chain = merge_instructions(given_sources, ["src/a/x.py"])
    kept = [(at, one, part) for at, one in enumerate(chain.sources) for part in one.parts]
    for at, one, part in kept:
        over = [said for later in chain.sources[at + 1 :] for said in later.parts if said.covers(part)]
        assert one.firm or not over, "something deeper speaks of it"
        firm = [said for before in chain.sources[:at] if before.firm for said in before.parts if said.covers(part)]
        assert not firm
    left = {(one.file, part) for _, one, part in kept}
    assert not left & {(one.file, one.part) for one in chain.overruled}


@given(sources())
def test_what_is_not_left_is_on_record_with_what_goes_before_it(given_sources: list[InstructionFile]):
    chain = merge_instructions(given_sources, ["src/a/x.py"])
    left = {(one.file, part) for one in chain.sources for part in one.parts}
    recorded = {(one.file, one.part): one for one in chain.overruled}
    every = {one.file: one.parts for one in given_sources}
    for file, parts in every.items():
        for part in parts:
            assert (file, part) in left or (file, part) in recorded or part.bare
    for (_, part), one in recorded.items():
        assert any(said.first == one.line and said.covers(part) for said in every[one.by])
