import random

import pytest
from tongues import SAMPLES

from afresh.code.languages.tree_sitter_reader import MAX_BRACKET_ROUNDS, MAX_UNPAIRED_BRACKETS, unparsable_reason_from_content

CLOSING = str.maketrans("([{", ")]}")


def nested(depth: int) -> str:
    opening = "".join(random.Random(2).choices("([{", k=depth))
    return opening + opening[::-1].translate(CLOSING)


def test_brackets_may_be_nested_as_deeply_as_anybody_would():
    assert not unparsable_reason_from_content(nested(MAX_BRACKET_ROUNDS - 1).encode())
    assert "nested more than" in unparsable_reason_from_content(nested(3 * MAX_BRACKET_ROUNDS + 1).encode())


def test_brackets_without_a_partner_are_counted():
    lonely = "".join(random.Random(2).choices("([{", k=MAX_UNPAIRED_BRACKETS))
    assert not unparsable_reason_from_content(lonely.encode())
    assert f"{MAX_UNPAIRED_BRACKETS + 1:,} brackets" in unparsable_reason_from_content((lonely + "(").encode())
    assert not unparsable_reason_from_content(
        b"f(a[0], {x: (b)});\n" * MAX_UNPAIRED_BRACKETS + random.Random(2).randbytes(MAX_UNPAIRED_BRACKETS * 20)
    )


def test_what_repeats_without_end_is_data():
    assert (
        unparsable_reason_from_content(b"@" * 50_000)
        == unparsable_reason_from_content(b"if a = " * 10_000)
        == "the same over and over, data"
    )
    assert not unparsable_reason_from_content(b"@" * 1_000)
    assert not unparsable_reason_from_content(b"print(area(2))\n" * 10_000)
    assert unparsable_reason_from_content(b"1 +\n" * 10_000)


@pytest.mark.parametrize("path", sorted(SAMPLES))
def test_code_is_none_of_it(path: str):
    assert not unparsable_reason_from_content(SAMPLES[path].encode())
