"""Which tasks may think by default: those of types that are mostly thought, where the model is a provider's."""

import pytest

from afresh.app.orders.tasks import TaskOrder, choose_ceiling
from afresh.app.settings import Settings
from afresh.config.templates.load_template import load_template


@pytest.mark.parametrize("type_", ["spec_design", "code_review", "discovery", "refactor"])
def test_a_type_with_a_thinking_budget_adds_it_to_the_ceiling_of_a_providers_model_only(type_):
    style = load_template(type_)
    bought = choose_ceiling(style, TaskOrder("g"), Settings(), "anthropic:claude-sonnet-4-5")
    assert bought == style.ceiling + 2_048
    for model in ("", "offline", "mailbox:box"):
        assert choose_ceiling(style, TaskOrder("g"), Settings(), model) == style.ceiling, model


def test_a_type_without_one_keeps_its_ceiling():
    style = load_template("fix_bug")
    assert choose_ceiling(style, TaskOrder("g"), Settings(), "anthropic:claude-sonnet-4-5") == style.ceiling
