"""Templates: what may stand in one, what wins, and that nothing in a file can do more than say how a window is laid out."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from afresh.actions.tools.registry import TOOLS
from afresh.config.templates.load_template import list_task_types, load_call_template, load_template, merge_template
from afresh.config.templates.template_files import TemplateLayers, layers_for_project
from afresh.core.prompt import Tier
from afresh.core.template import CODE_PHASES, DISCOVERY_PHASES, REPORT_PHASES, SectionShare
from afresh.errors import BadInput

Put = Callable[..., None]
EIGHT = {"fix_violation", "implement_feature", "write_tests", "refactor", "spec_design", "code_review", "discovery", "bridge"}


def order(name: str, shelf: TemplateLayers, phase: str = "understand") -> list[str]:
    return [share.section for share in load_template(name, shelf).at(phase).shares]


def share(name: str, section: str, shelf: TemplateLayers, phase: str = "understand") -> SectionShare:
    return next(one for one in load_template(name, shelf).at(phase).shares if one.section == section)


# What is shipped


def test_there_is_a_template_for_every_type_of_task():
    assert set(list_task_types()) == EIGHT | {"fix_bug"}


@pytest.mark.parametrize("name", list_task_types())
def test_a_shipped_type_has_a_line_about_it_a_ceiling_and_steps_for_each_of_its_phases(name: str):
    made = load_template(name)
    assert made.about and made.kind == "work" and 4_000 <= made.ceiling <= 8_000
    others = {"spec_design": REPORT_PHASES, "code_review": REPORT_PHASES, "discovery": DISCOVERY_PHASES}
    assert tuple(phase.name for phase in made.phases) == others.get(name, CODE_PHASES)
    assert all(phase.steps and (phase.guidance or phase.opening) for phase in made.phases)


@pytest.mark.parametrize("name", list_task_types())
def test_phases_share_the_system_text_and_the_tools_and_each_has_guidance_of_its_own(name: str):
    made = load_template(name)
    for phase in made.phases:
        layout = made.at(phase.name)
        assert (layout.system, layout.guidance) == (made.system, phase.guidance)
        assert layout.tools == made.at("").tools and set(layout.open) == set(phase.tools)
    assert len({phase.guidance for phase in made.phases}) == len(made.phases)


@pytest.mark.parametrize("name", list_task_types())
def test_a_type_is_told_of_tests_and_changes_only_if_it_may_make_them(name: str):
    texts = [load_template(name).at(phase.name).system for phase in load_template(name).phases]
    reports = name in ("spec_design", "code_review", "discovery")
    for text in texts:
        assert ("Affected tests run after each reply" in text) != reports and ("You write one file" in text) == reports
        assert reports or "Change existing tests only where the task asks" in text


@pytest.mark.parametrize("name", list_task_types())
def test_a_type_is_told_of_no_tool_that_it_does_not_have(name: str):
    for phase in load_template(name).phases:
        told = f"{load_template(name).system}\n{phase.guidance}"
        spoken = set(re.findall(r"`(\w+)`", told)) & {tool.schema.name for tool in TOOLS}
        assert spoken <= set(phase.tools), phase.name


def test_a_summary_has_its_own_small_ceiling_no_tools_and_says_nothing_of_tools():
    made = load_call_template("summary")
    assert (made.kind, made.ceiling, made.tools, made.phases) == ("summary", 2_000, (), ())
    assert "identifiers" in made.system and "exactly as written" in made.system and "tool" not in made.system
    assert "summary" not in list_task_types()


# What wins


def test_a_child_overrides_value_by_value_and_keeps_the_rest(shelf: TemplateLayers, put: Put):
    put("mine", "extends: fix_bug\nlimit: 5000\nsections: {files: {cap: 0.7}}\nphases: {change: {steps: 7}}\n")
    mine, parent = load_template("mine", shelf), load_template("fix_bug")
    assert (mine.ceiling, mine.at("change").steps, mine.at("verify").steps) == (5_000, 7, parent.at("verify").steps)
    assert share("mine", "files", shelf) == SectionShare("files", 0.6, 0.7, Tier.DEMAND)
    assert (mine.system, mine.at("change").guidance) == (parent.system, parent.at("change").guidance)
    assert "mine" in list_task_types(shelf)


def test_the_project_wins_over_the_user_and_the_user_over_what_is_shipped(shelf: TemplateLayers, put: Put):
    put("fix_bug", "limit: 5000\nreserve: 0.3\n", "user")
    put("fix_bug", "limit: 7000\n")
    made = load_template("fix_bug", shelf)
    assert (made.ceiling, made.reserve, made.about) == (7_000, 0.3, load_template("fix_bug").about)


def test_what_is_said_of_a_phase_goes_before_what_is_said_of_all(shelf: TemplateLayers, put: Put):
    put(
        "mine",
        "extends: fix_bug\nsections: {files: {share: 0.3}}\nphases: {change: {reserve: 0.4, tools: [complete]}}\n",
    )
    made = load_template("mine", shelf)
    assert share("mine", "files", shelf, "change").part == 0.3
    assert share("mine", "outline", shelf, "understand").part == 0.12, "base.yaml says so of this phase"
    assert (made.at("change").reserve, made.at("verify").reserve) == (0.4, 0.25)
    assert (made.at("change").open, made.at("verify").open) == (("complete",), load_template("fix_bug").tools)
    assert made.at("change").tools == load_template("fix_bug").tools, "offered, and refused"


def test_sections_claim_in_the_order_of_the_nearest_file_that_names_them(shelf: TemplateLayers, put: Put):
    usual = order("fix_bug", shelf)
    put("mine", "extends: fix_bug\nsections: {archive: {share: 0.1}, fingerprint: {share: 0.1}}\n")
    swapped = order("mine", shelf)
    assert (swapped[0], swapped[-1]) == (usual[-1], usual[0]) and swapped[1:-1] == usual[1:-1]
    put("mine", "extends: fix_bug\nsections: {summary: {share: 0.1}, files: {share: 0.5}, work: {share: 0.1}}\n")
    placed = order("mine", shelf)
    assert placed.index("summary") < placed.index("files") < placed.index("work")
    moved = ("summary", "files", "work")
    assert [name for name in placed if name not in moved] == [name for name in usual if name not in moved]


# How a user's own type is judged


@pytest.mark.parametrize(
    ("text", "family"),
    [("extends: code_review\n", "code_review"), ("extends: write_tests\n", "write_tests"), ("about: Mine\n", "")],
)
def test_a_type_of_the_users_own_is_judged_as_the_shipped_one_it_builds_on(
    shelf: TemplateLayers, put: Put, text: str, family: str
):
    put("mine", text)
    put("ours", "extends: mine\n")
    assert merge_template("ours", shelf).family == family


def test_a_repository_cannot_have_a_shipped_type_judged_as_another(shelf: TemplateLayers, put: Put):
    put("fix_bug", "extends: write_tests\n")
    assert merge_template("fix_bug", shelf).family == "fix_bug"
    put("mine", "extends: fix_bug\n")
    assert merge_template("mine", shelf).family == "fix_bug"


# What a file can't do


@pytest.mark.parametrize("target", ["secret", "project/secret"])
def test_a_repositorys_template_may_not_be_a_link(shelf: TemplateLayers, tmp_path: Path, target: str):
    (tmp_path / target).write_text("about: secret\n")
    (shelf.layers[0].folder / "mine.yaml").symlink_to(tmp_path / target)
    with pytest.raises(BadInput, match=r"mine\.yaml:1: is a link"):
        load_template("mine", shelf)


def test_a_repositorys_folder_of_templates_may_not_lead_out_of_it(tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere/mine.yaml").write_text("about: secret\n")
    (tmp_path / "project/.afresh").mkdir(parents=True)
    (tmp_path / "project/.afresh/templates").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadInput, match="is a link"):
        load_template("mine", layers_for_project(tmp_path / "project"))


def test_what_is_hidden_in_a_guidance_is_shown_to_the_model(shelf: TemplateLayers, put: Put):
    put("mine", 'guidance: "a\\u202eb\\ud800c"\n')
    assert load_template("mine", shelf).system.endswith("a\\u202eb\\ud800c")


def test_the_users_folder_and_the_projects_are_where_the_documents_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    shelf = layers_for_project(tmp_path / "repo")
    folders = {layer.origin: layer.folder for layer in shelf.layers}
    assert folders["user"] == tmp_path / "config/afresh/templates"
    assert folders["project"] == tmp_path / "repo/.afresh/templates"
    assert list_task_types(shelf) == list_task_types(), "folders that do not exist hold nothing"
