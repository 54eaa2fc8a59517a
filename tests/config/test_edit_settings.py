"""A file of settings is edited as a careful person would: one value, and nothing else."""

from pathlib import Path

import pytest

from afresh.config.edit_settings import SettingChange, change_settings_file, set_text_value
from afresh.errors import BadInput

FILE = """# my settings
mode = "supervised"   # I like to look

# the one I pay for
[models.sonnet]
provider = "anthropic"
model = "claude"  # the old one
[limits]
day = 3
"""
MODEL = SettingChange("", "model", "sonnet")


def test_a_new_value_comes_after_the_others_of_its_table_and_all_comments_stay() -> None:
    text = set_text_value(FILE, MODEL)
    assert text.splitlines()[1:3] == ['mode = "supervised"   # I like to look', 'model = "sonnet"']
    assert [line for line in text.splitlines() if line != 'model = "sonnet"'] == FILE.splitlines()


def test_an_old_value_is_replaced_in_its_place_with_its_comment() -> None:
    text = set_text_value(FILE, SettingChange("models.sonnet", "model", "claude-2"))
    assert text == FILE.replace('model = "claude"  # the old one', 'model = "claude-2"  # the old one')


def test_a_new_table_is_added_at_the_end_and_an_empty_file_gets_both(tmp_path: Path) -> None:
    config = tmp_path / "afresh" / "config.toml"
    changes = [SettingChange("", "model", "my-box"), SettingChange("models.my-box", "provider", "vllm")]
    assert change_settings_file(config, changes)
    assert config.read_text() == 'model = "my-box"\n\n[models.my-box]\nprovider = "vllm"\n'
    assert not change_settings_file(config, changes), "the second time nothing is left to do"


@pytest.mark.parametrize(
    "text",
    ['model = """\nold"""\n', "model = 3\n", 'models = { sonnet = { provider = "x", model = "y" } }\n', "mode = \n"],
)
def test_what_can_not_be_edited_safely_is_left_alone(tmp_path: Path, text: str) -> None:
    config = tmp_path / "config.toml"
    config.write_text(text)
    with pytest.raises(BadInput, match="can't be edited") as refused:
        change_settings_file(config, [MODEL, SettingChange("models.sonnet", "provider", "vllm")])
    assert 'model = "sonnet"' in refused.value.next and config.read_text() == text
