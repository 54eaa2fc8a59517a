"""YAML is read the same way, whichever reader does it, and no nesting ends the process."""

import subprocess
import sys
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from afresh.config.yaml_reader import compose_yaml

SIGNS = st.lists(st.sampled_from(["a", "1", "no", ": ", "- ", "\n", "  ", "[", "]", "{", "}", ",", '"', "'", "#", "é", "|\n "]))


def plain(node: Any) -> Any:
    """Kind, tag, line and what it holds."""
    held = node.value
    if isinstance(held, list):
        held = [tuple(map(plain, one)) if isinstance(one, tuple) else plain(one) for one in held]
    return type(node).__name__, node.tag, node.start_mark.line, held


def read(text: str, loader: Any) -> Any:
    try:
        node = yaml.compose(text, Loader=loader)
    except yaml.YAMLError:
        return "refused"
    return node and plain(node)


@given(SIGNS.map("".join))
def test_both_readers_agree_on_what_both_take(text: str) -> None:
    slow = read(text, yaml.SafeLoader)
    try:
        node = compose_yaml(text)
    except yaml.YAMLError:
        assert slow == "refused"
        return
    assert slow in ("refused", node and plain(node))


@pytest.mark.parametrize("text", ["[" * 20_000, "{a: " * 8_000, "- " * 15_000, "? " * 15_000])
def test_no_nesting_ends_the_process(text: str) -> None:
    code = "import sys; from afresh.config.yaml_reader import compose_yaml\ntry: compose_yaml(sys.stdin.read())\n"
    code += "except RecursionError: print('deep')"
    done = subprocess.run([sys.executable, "-c", code], input=text, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "deep\n"), done.stderr[-300:]


def test_words_of_a_refusal_are_those_of_the_slow_reader() -> None:
    said = list[str]()
    for reader in (compose_yaml, lambda text: yaml.compose(text, Loader=yaml.SafeLoader)):
        with pytest.raises(yaml.YAMLError) as fault:
            reader("a: [1\nb: 2")
        said.append(str(fault.value))
    assert said[0] == said[1]
