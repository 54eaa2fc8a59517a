import ast

import pytest

from afresh.code.refactoring.identifier_words import CONVERTING_TYPES, only_selects


@pytest.mark.parametrize(
    ("text", "selects"),
    [
        ("if a:\n    kind = 'x'\nelse:\n    kind = b.get('y')", True),
        ("if a:\n    raise ValueError(a)\nkind = a", False),
        ("if a:\n    text = open(a).read()", False),
        ("if a:\n    value = int(a)", False),
        ("if a:\n    text = a.decode()", False),
    ],
)
def test_a_piece_that_raises_reads_or_converts_does_not_only_select(text: str, selects: bool) -> None:
    assert only_selects(ast.walk(ast.parse(text)), CONVERTING_TYPES) is selects
