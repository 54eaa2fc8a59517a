import random

import pytest
from tongues import SAMPLES

from afresh.insight.languages.brackets import DEEPEST, LONELY, tangled

CLOSING = str.maketrans("([{", ")]}")


def nested(depth: int) -> str:
    opening = "".join(random.Random(2).choices("([{", k=depth))
    return opening + opening[::-1].translate(CLOSING)


def test_brackets_may_be_nested_as_deeply_as_anybody_would():
    assert not tangled(nested(DEEPEST - 1).encode())
    assert "nested more than" in tangled(nested(3 * DEEPEST + 1).encode())


def test_brackets_without_a_partner_are_counted():
    lonely = "".join(random.Random(2).choices("([{", k=LONELY))
    assert not tangled(lonely.encode())
    assert f"{LONELY + 1:,} brackets" in tangled((lonely + "(").encode())
    assert not tangled(b"f(a[0], {x: (b)});\n" * LONELY + random.Random(2).randbytes(LONELY * 20))


def test_what_repeats_without_end_is_data():
    assert tangled(b"@" * 50_000) == tangled(b"if a = " * 10_000) == "the same over and over, data"
    assert not tangled(b"@" * 1_000)


@pytest.mark.parametrize("path", sorted(SAMPLES))
def test_code_is_none_of_it(path: str):
    assert not tangled(SAMPLES[path].encode())
