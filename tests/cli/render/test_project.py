"""The fingerprint as a person reads it."""

from samples import rendered

from afresh.app.code.project_profile import ProfileReport
from afresh.app.test_commands.try_commands import CommandTrial, TrialResults
from afresh.cli.render.project import build_profile
from afresh.code.project_profile.profile import MAX_LEVEL_TOKENS, ProjectProfile
from afresh.code.project_profile.statements import ProfileStatement

TRIALS = (
    CommandTrial("pytest -q", "tox.ini [testenv]", True, True, 0, 1234, 3.21),
    CommandTrial("pytest --nothing", ".github/workflows/ci.yml", exit=4, said="exit 4: unrecognized arguments"),
    CommandTrial("pytest | tee \x1b[31mlog", "Makefile: test", said="'|' is more than a plain command", tried=False),
)
MADE = ProjectProfile(
    (
        ("user", ()),
        (
            "project",
            (
                ProfileStatement("project", ("shop", "Python")),
                ProfileStatement("style", ("snake_case functions", "double \x1b]0;quotes")),
            ),
        ),
        ("type", (ProfileStatement("for fix_bug", ("tests belong in tests",)),)),
        ("task", ()),
    )
)


def shown(*levels: str, width: int = 90) -> str:
    report = ProfileReport(MADE, TrialResults("", TRIALS), "fix_bug")
    return rendered(build_profile(report, levels or tuple(MAX_LEVEL_TOKENS), is_plain=False), width)


def test_levels_and_commands_stand_one_below_the_other():
    assert (
        shown()
        == """
The project
project  shop · Python
style    snake_case functions · double \\x1b]0;quotes

For a task of type fix_bug
what matters  tests belong in tests

For this task
  Give a goal: afresh code profile --for "make the parser accept tabs".

Test commands
  ✓  pytest -q
     1,234 tests ran in 3.2 s: all pass (tox.ini [testenv])
  ✗  pytest --nothing
     exit 4: unrecognized arguments (.github/workflows/ci.yml)
  ·  pytest | tee \\x1b[31mlog
     not tried: '|' is more than a plain command (Makefile: test)
"""
    )


def test_a_person_who_asks_for_their_own_level_is_told_how_to_have_one():
    assert "afresh memory add" in shown("user") and "afresh memory add" not in shown()


def test_a_narrow_terminal_is_enough():
    assert all(len(line) <= 50 for line in shown(width=50).split("\n"))
