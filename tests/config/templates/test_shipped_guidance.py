"""What the shipped types ask for, in few words."""

import pytest

from afresh.config.templates.load_template import load_template

ASKED = {
    ("refactor", "understand"): ("smell", "duplicate", "feature envy"),
    ("refactor", "change"): ("extract or inline function", "parameter object", "guard clauses"),
    ("write_tests", "understand"): ("every public function, branch and error path",),
    ("write_tests", "verify"): ("what is covered now and what is not",),
    ("spec_design", "understand"): ("users, callers, operators, maintainers", "stakeholders with their constraints"),
    ("discovery", "scan"): ("Scan:", "list these parts in the `plan`"),
    ("discovery", "analyse"): ("Analyse,", "Write the file once you can answer"),
    ("discovery", "synthesise"): ("Synthesise:",),
}
MAX_GUIDANCE_CHARACTERS = 850
"""Every call of a phase pays for it."""


@pytest.mark.parametrize(("place", "words"), ASKED.items(), ids=[" ".join(place) for place in ASKED])
def test_a_type_asks_for_what_its_work_needs_in_few_words(place: tuple[str, str], words: tuple[str, ...]) -> None:
    type, name = place
    guidance = next(phase.guidance for phase in load_template(type).phases if phase.name == name)
    assert all(word in guidance for word in words) and len(guidance) <= MAX_GUIDANCE_CHARACTERS
