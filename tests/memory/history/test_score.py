"""Each weight of a template does what is said of it: it decides between two things that differ in nothing else."""

from dataclasses import fields

import pytest
from traces import Said, traced

from afresh.config.templates.load_template import load_template
from afresh.core.step_history import PassageVoice
from afresh.memory.history.score import OddsWeights, weights_from_policy
from afresh.memory.history.select import SelectionBudget, select_history

ACTION, THOUGHT, OUTPUT = PassageVoice.ACTION, PassageVoice.THOUGHT, PassageVoice.OUTPUT
NOW = 10
ONE = {"name": "aaa_bb", "line": "what is said on this line is long"}
OTHER = {"name": "ccc_dd", "line": "quite another thing is spoken of here"}
NOISE = ["noise_1", "noise_2", "noise_3"]


def differing(feature: str, one: str, other: str) -> list[Said]:
    """`one` has more of the feature than `other`."""
    scenes: dict[str, list[Said]] = {
        "action": [(5, ACTION, one), (5, OUTPUT, other)],
        "thought": [(5, THOUGHT, one), (5, OUTPUT, other)],
        "output": [(5, OUTPUT, one), (5, ACTION, other)],
        "age": [(1, OUTPUT, one), (8, OUTPUT, other)],
        "age_of_action": [(1, ACTION, one), (8, ACTION, other)],
        "age_of_thought": [(1, THOUGHT, one), (8, THOUGHT, other)],
        "crowd": [(5, OUTPUT, "\n".join([one, *NOISE])), (5, OUTPUT, other)],
        "used": [(2, ACTION, one), (3, ACTION, f"noise_1\n{one}"), (3, ACTION, other), (5, OUTPUT, one), (5, OUTPUT, other)],
        "seen": [(2, OUTPUT, one), (5, OUTPUT, f"noise_1\n{one}"), (5, OUTPUT, other)],
        "was_used": [(2, ACTION, one), (5, OUTPUT, one), (5, OUTPUT, other)],
        "was_spoken": [(2, THOUGHT, one), (5, OUTPUT, one), (5, OUTPUT, other)],
        "length": [(5, OUTPUT, one + " and more of it" if " " in one else f"{one}_and_more"), (5, OUTPUT, other)],
        "path": [(5, OUTPUT, one.replace("_", "/").replace(" on ", " / ")), (5, OUTPUT, other)],
        "dotted": [(5, OUTPUT, one.replace("_", ".").replace(" on ", " . ")), (5, OUTPUT, other)],
        "capital": [(5, OUTPUT, one.capitalize()), (5, OUTPUT, other)],
    }
    return scenes[feature]


def preferred(kind: str, spoken: list[Said], **policy: float) -> str:
    """Of what every line costs the same, and there is room for one."""
    given = {f"{kind}_{name}" if name not in ("line", "density") else name: value for name, value in policy.items()}
    rows, _ = select_history(
        traced(spoken), NOW, SelectionBudget(15, 0, 0), set(NOISE), weights_from_policy(tuple(given.items())), lambda text: 10.0
    )
    [(_, row)] = rows
    return "other" if row.line.key == OTHER[kind] else "one"


FEATURES = [field.name for field in fields(OddsWeights) if field.name not in ("bias", "hot", "heat")]


@pytest.mark.parametrize("kind", ["name", "line"])
@pytest.mark.parametrize("feature", FEATURES)
def test_a_weight_decides_for_what_has_more_of_its_feature(kind, feature):
    spoken = differing(feature, ONE[kind], OTHER[kind])
    assert preferred(kind, spoken, bias=-4.0, **{feature: 1.0}) == "one"
    assert preferred(kind, spoken, bias=-4.0, **{feature: -1.0}) == "other"


@pytest.mark.parametrize("kind", ["name", "line"])
def test_what_speaks_of_a_file_is_warm_when_an_action_named_the_file_lately(kind):
    hot = [(5, OUTPUT, f"{ONE[kind]}\nwarm.py"), (5, OUTPUT, OTHER[kind]), (9, ACTION, "cat warm.py")]
    covered = {"warm.py", "cat warm.py"}

    def preferred_by(spoken: list[Said], **policy: float) -> str:
        given = tuple((f"{kind}_{name}", value) for name, value in policy.items())
        rows, _ = select_history(
            traced(spoken), NOW, SelectionBudget(15, 0, 0), set(covered), weights_from_policy(given), lambda text: 10.0
        )
        [(_, row)] = rows
        return "other" if row.line.key == OTHER[kind] else "one"

    assert preferred_by(hot, hot=3.0) == "one" and preferred_by(hot, hot=-3.0) == "other"
    companion = [*hot[:2], (9, ACTION, "cat test_warm.py")]
    covered |= {"test_warm.py", "cat test_warm.py"}
    assert preferred_by(companion, hot=3.0) == "one" and preferred_by(companion, hot=-3.0) == "other"
    cooled = [(5, OUTPUT, f"{ONE[kind]}\ncold.py"), (5, OUTPUT, f"{OTHER[kind]}\nwarm.py"), (2, ACTION, "cat cold.py"), hot[2]]
    covered |= {"cold.py", "cat cold.py"}
    assert preferred_by(cooled, heat=-1.0) == "other" and preferred_by(cooled, heat=1.0) == "one"


def test_a_line_is_worth_so_many_names():
    spoken = [(5, OUTPUT, ONE["line"]), (5, OUTPUT, ONE["name"])]

    def first(line: float) -> str:
        rows, _ = select_history(
            traced(spoken), NOW, SelectionBudget(15, 0, 0), set(), weights_from_policy((("line", line),)), lambda text: 10.0
        )
        return rows[0][1].line.key

    assert first(5.0) == ONE["line"] and first(0.2) == ONE["name"]


def test_density_decides_between_what_is_worth_more_and_what_is_worth_more_for_its_price():
    long = "a_name_that_is_very_long_indeed"
    spoken = [(5, ACTION, long), (5, OUTPUT, "ccc_dd")]

    def first(density: float) -> str:
        policy = weights_from_policy((("name_action", 0.5), ("name_output", -0.5), ("density", density)))
        return select_history(traced(spoken), NOW, SelectionBudget(36, 0, 0), set(), policy, len)[0][0][1].line.key

    assert first(1.0) == "ccc_dd" and first(0.0) == long


def test_the_bias_moves_names_against_lines():
    spoken = [(5, OUTPUT, ONE["line"]), (5, OUTPUT, ONE["name"])]

    def first(**policy: float) -> str:
        return select_history(
            traced(spoken),
            NOW,
            SelectionBudget(15, 0, 0),
            set(),
            weights_from_policy(tuple(policy.items())),
            lambda text: 10.0,
        )[0][0][1].line.key

    assert first(name_bias=2.0) == ONE["name"] and first(line_bias=2.0) == ONE["line"]


def test_every_weight_that_is_shipped_has_an_effect_and_every_effect_a_weight():
    known = {f"{kind}_{field.name}" for kind in ("name", "line") for field in fields(OddsWeights)} | {"line", "density"}
    assert {name for name, _ in load_template("implement_feature").weights} == known
