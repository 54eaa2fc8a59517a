"""What is wrong in a template is told with file, line, key and the right word; junk is a fault and never a crash."""

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.config.templates.load_template import find_template_faults, load_template, merge_template
from afresh.config.templates.template_files import (
    FREE_SECTION_SHAPE,
    MAX_TEMPLATE_BYTES,
    PHASE_NAMES,
    SHIPPED_LAYERS,
    TOOL_NAMES,
    TemplateLayer,
    TemplateLayers,
    parse_template_file,
)
from afresh.core.codec import to_canonical_json, value_from_json
from afresh.core.template import CODE_PHASES, REQUIRED_SECTIONS, SECTION_ORDER, Template
from afresh.errors import BadInput

Put = Callable[..., None]
FREE_SECTIONS = [name for name in SECTION_ORDER if name not in REQUIRED_SECTIONS]

WRONG = {
    "unknown field": ("\nlimt: 4000", 2, "limt", "there is no field 'limt'", "did you mean limit?"),
    "unknown section": ("sections:\n  fils: {share: 0.1}", 2, "sections.fils", "there is no section", "did you mean files?"),
    "unknown tool": ("tools: [read, eddit]", 1, "tools", "there is no tool 'eddit'", "did you mean edit?"),
    "tool twice": ("tools: [complete, complete]", 1, "tools", "complete is given twice", ""),
    "tools no list": ("tools: read", 1, "tools", "should be a list of tools", ""),
    "unknown phase": ("phases:\n  chang: {steps: 1}", 2, "phases.chang", "there is no phase", "did you mean change?"),
    "unknown field of a phase": ("phases: {change: {step: 1}}", 1, "phases.change.step", "there is no field", "mean steps?"),
    "unknown field of a section": ("sections: {files: {max: 1}}", 1, "sections.files.max", "there is no field", "cap"),
    "unknown tier": ("sections: {files: {tier: phases}}", 1, "sections.files.tier", "there is no tier", "did you mean phase?"),
    "unknown kind": ("kind: sumary", 1, "kind", "there is no kind", "did you mean summary?"),
    "kind of another": ("kind: summary", 1, "kind", "for calls of kind work, not summary", "summary.yaml"),
    "kind inherited": ("\nextends: summary", 2, "kind", "for calls of kind work, not summary", "extends: base"),
    "share over 1": ("sections: {files: {share: 1.2}}", 1, "sections.files.share", "a number from 0 to 1, '1.2' is not", ""),
    "share under 0": ("sections: {files: {share: -0.1}}", 1, "sections.files.share", "a number from 0 to 1", ""),
    "share a word": ("sections: {files: {share: all}}", 1, "sections.files.share", "'all' is not", ""),
    "share no number at all": ("sections: {files: {share: .nan}}", 1, "sections.files.share", "'.nan' is not", ""),
    "section a number": ("sections: {files: 0.5}", 1, "sections.files", "should be a mapping such as", ""),
    "share over inherited cap": ("sections: {archive: {share: 0.5}}", 1, "sections.archive", "share 0.5 is over its cap", ""),
    "a fixed section moved": ("sections:\n  plan: {tier: demand}", 2, "sections.plan.tier", "is always shown", "take it out"),
    "a fixed section hidden": ("sections: {task: {tier: never}}", 1, "sections.task.tier", "is always shown", ""),
    "a fixed section cut": ("sections: {failed: {share: 0.2}}", 1, "sections.failed.share", "always shown whole", ""),
    "another made fixed": ("sections: {files: {tier: always}}", 1, "sections.files.tier", "can't be always shown", "use phase"),
    "limit too small": ("limit: 3", 1, "limit", "a whole number from 500", ""),
    "limit a fraction": ("limit: 4000.5", 1, "limit", "a whole number", ""),
    "limit quoted": ("limit: '4000'", 1, "limit", "a whole number", ""),
    "reserve too large": ("reserve: 0.9", 1, "reserve", "a number from 0.05 to 0.75", ""),
    "no steps": ("phases: {change: {steps: 0}}", 1, "phases.change.steps", "a whole number from 1", ""),
    "guidance a number": ("guidance: 12", 1, "guidance", "should be a text", "put it in quotes"),
    "guidance missing": ("guidance:", 1, "guidance", "is empty", ""),
    "guidance a list": ("guidance: [a]", 1, "guidance", "should be a text", ""),
    "guidance too long": (f"guidance: {'x' * 2_017}", 1, "guidance", "has 2,017 characters, 17 over the 2,000", "shorter"),
    "phase guidance too long": (f"phases: {{change: {{guidance: {'x' * 2_001}}}}}", 1, "phases.change.guidance", "1 over", ""),
    "about too long": (f"about: {'x' * 101}", 1, "about", "1 over the 100", ""),
    "about in lines": ("about: |\n  a\n  b", 1, "about", "should be one line", ""),
    "weight a word": ("weights: {age: old}", 1, "weights.age", "should be a number", ""),
    "weight with an odd name": ("weights: {Age of it: 1}", 1, "weights.Age of it", "there is no weight", "small letters"),
    "given twice": ("about: a\nabout: b", 2, "about", "is given twice", ""),
    "no such parent": ("\n\nextends: fix_bgu", 3, "extends", "no such template: 'fix_bgu'", "did you mean fix_bug?"),
    "a path for a parent": ("extends: ../../secret", 1, "extends", "no such template", "known: base"),
    "itself for a parent": ("extends: mine", 1, "extends", "no such template: 'mine'", ""),
    "no end": ("tools: [read]", 1, "tools", "complete is missing", "add complete"),
    "no end in a phase": ("phases: {verify: {tools: [read]}}", 1, "tools", "complete is missing", ""),
    "a phase that never comes": ("\nphases: {report: {steps: 2}}", 2, "phases.report", "never comes into", "understand"),
    "a list": ("- a", 1, "", "should be a mapping such as {extends", ""),
    "a word": ("word", 1, "", "should be a mapping", ""),
    "nothing": ("# only a remark", 1, "", "is empty", "extends: base"),
    "not YAML": ("about: a\n  b: [", 2, "", "is not YAML", ""),
    "two documents": ("about: a\n---\nabout: b", 2, "", "is not YAML", ""),
    "a forbidden character": ("about: a\nguidance: \x07", 2, "", "is not YAML: special characters", ""),
    "an escape beyond Unicode": ('about: "\\UFFFFFFFF"', 1, "", "is not YAML", ""),
    "too large": ("#" * (MAX_TEMPLATE_BYTES + 1), 1, "", "bytes", ""),
    "too deep": ("[" * 600, 1, "", "nested too deeply", ""),
    "an object": ("guidance: !!python/object/apply:os.system [ls]", 1, "guidance", "should be a text", ""),
    "a key that is a list": ("? [a]\n: b", 1, "?", "there is no field", ""),
    "an alias of itself": ("&a {sections: *a}", 1, "sections.sections", "there is no section", ""),
}  # fmt: skip


@pytest.mark.parametrize(("text", "line", "key", "what", "advice"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_told_with_its_place(
    shelf: TemplateLayers, put: Put, text: str, line: int, key: str, what: str, advice: str
):
    put("mine", text)
    with pytest.raises(BadInput) as caught:
        load_template("mine", shelf)
    assert caught.value.what.startswith(f".afresh/templates/mine.yaml:{line}: {key + ': ' if key else ''}"), caught.value.what
    assert what in caught.value.what and advice in caught.value.next
    assert caught.value.safe == "nothing was changed"


def test_a_circle_of_parents_is_told_with_its_names(shelf: TemplateLayers, put: Put):
    put("a", "extends: b\n")
    put("b", "extends: c\n")
    put("c", "\nextends: a\n")
    with pytest.raises(BadInput, match=r"c\.yaml:2: extends: circular: a → b → c → a"):
        load_template("a", shelf)


def test_every_fault_of_a_file_is_found_at_once(shelf: TemplateLayers, put: Put):
    put("mine", "celling: 1\nreserve: 7\ntools: [x]\nextends: nobody\n")
    assert [fault.line for fault in find_template_faults(merge_template("mine", shelf))] == [1, 2, 3, 4]


def test_a_fault_in_a_parent_is_told_with_the_parents_file(shelf: TemplateLayers, put: Put):
    put("mine", "extends: ours\n")
    put("ours", "celling: 1\n", "user")
    with pytest.raises(BadInput, match=r"user/ours\.yaml:1: celling"):
        load_template("mine", shelf)


@pytest.mark.parametrize("name", ["fix_bog", "summary", "base", "../fix_bug", "", "fix_bug.yaml", "FIX_BUG"])
def test_what_is_no_type_of_task_is_refused_with_those_there_are(name: str):
    with pytest.raises(BadInput, match="there is no task type") as caught:
        load_template(name)
    assert "fix_bug" in caught.value.next


# Properties

parts = st.floats(0, 1).map(lambda number: round(number, 3))
sections = st.dictionaries(
    st.sampled_from(FREE_SECTIONS),
    st.fixed_dictionaries({}, optional={"share": parts, "tier": st.sampled_from(["phase", "demand", "never"])}),
)
guidance = st.text("abc xyz\n`", max_size=80)
tool_lists = st.lists(st.sampled_from([name for name in TOOL_NAMES if name != "complete"]), unique=True).map(
    lambda names: [*names, "complete"]
)
phase_maps = st.dictionaries(
    st.sampled_from(CODE_PHASES),
    st.fixed_dictionaries(
        {}, optional={"steps": st.integers(1, 99), "guidance": guidance, "sections": sections, "tools": tool_lists}
    ),
)
well_formed = st.fixed_dictionaries(
    {"extends": st.sampled_from(["base", "fix_bug", "refactor"])},
    optional={
        "limit": st.integers(500, 99_999), "reserve": st.floats(0.05, 0.75).map(lambda number: round(number, 2)),
        "sections": sections, "guidance": guidance, "phases": phase_maps, "tools": tool_lists,
        "about": st.text("abc", max_size=9),
        "weights": st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers(-99, 99)),
    },
)  # fmt: skip


def raised(plain: dict) -> dict:
    """A share over the cap that the base sets is a fault of its own."""
    for held in (plain, *plain.get("phases", {}).values()):
        for capped in (
            "archive",
            "callers",
            "coverage",
            "fingerprint",
            "history",
            "knowledge",
            "memory",
            "summary",
            "tests",
            "similar",
            "outline",
        ):
            held.get("sections", {}).get(capped, {}).pop("share", None)
    return plain


@given(well_formed.map(raised))
def test_any_well_formed_template_gives_shares_within_bounds_and_the_same_text_twice(tmp_path_factory, plain: dict):
    import yaml

    folder = tmp_path_factory.getbasetemp() / "well-formed"
    folder.mkdir(exist_ok=True)
    (folder / "mine.yaml").write_text(yaml.safe_dump(plain, sort_keys=False), "utf-8")
    shelf = TemplateLayers((TemplateLayer("user", folder), *SHIPPED_LAYERS.layers))
    made, again = load_template("mine", shelf), load_template("mine", shelf)
    assert made == again == value_from_json(Template, to_canonical_json(made))
    for phase in CODE_PHASES:
        layout = made.at(phase)
        assert all(0 <= one.part <= one.cap <= 1 and one.section not in REQUIRED_SECTIONS for one in layout.shares)
        assert len({one.section for one in layout.shares}) == len(layout.shares)
        assert layout.system == again.at(phase).system and "complete" in layout.tools


words = st.sampled_from(
    [
        *SECTION_ORDER,
        *PHASE_NAMES,
        *FREE_SECTION_SHAPE.fields,
        "extends",
        "sections",
        "phases",
        "tools",
        "weights",
        "base",
        "- ",
        ": ",
        "{",
        "}",
        "[",
        "]",
        "&a",
        "*a",
        "!!x",
        "? ",
        "|",
        ">",
        "'",
        '"',
        "\n",
        "\n  ",
        "%YAML 9.9",
        "---",
        "0.5",
        "#",
        "\t",
        "\\",
        "<<",
        "\ufeff",
        "\x85",
    ]
)
junk = st.one_of(st.lists(words, max_size=25).map(" ".join).map(str.encode), st.binary(max_size=60), st.text(max_size=60).map(
    lambda text: text.encode("utf-8", "replace")
))  # fmt: skip


@given(junk)
def test_any_junk_is_a_fault_with_the_files_name_or_a_template_and_never_another_error(tmp_path_factory, data: bytes):
    folder = tmp_path_factory.getbasetemp() / "junk"
    folder.mkdir(exist_ok=True)
    (folder / "mine.yaml").write_bytes(data)
    try:
        load_template("mine", TemplateLayers((TemplateLayer("user", folder), *SHIPPED_LAYERS.layers)))
    except BadInput as refused:
        assert "mine.yaml:" in refused.what
        refused.what.encode()
    lines = data.count(b"\n") + data.count(b"\r") + data.count(b"\xc2\x85") + data.count(b"\xe2\x80") + 2
    assert all(1 <= fault.line <= lines for fault in parse_template_file("mine", "user", "mine.yaml", data).faults)
