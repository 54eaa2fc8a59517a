"""What a call is paid where a provider caches its beginning."""

import pytest

from afresh.core.cache_rates import CacheRates
from afresh.core.usage import Usage

RATES = CacheRates(read=0.1, write=1.25, minimum=1_024)


@pytest.mark.parametrize(
    ("tokens", "same", "expected"),
    [
        (4_000, 3_000, Usage(4_000, cached=3_000, written=1_000)),
        (4_000, 0, Usage(4_000, written=4_000)),
        (4_000, 1_023, Usage(4_000, written=4_000)),
        (1_000, 900, Usage(1_000)),
    ],
    ids=["shared", "new", "a prefix under the minimum", "a call under the minimum"],
)
def test_a_shared_prefix_is_read_from_the_cache_and_the_rest_is_written(tokens: int, same: int, expected: Usage):
    assert RATES.estimate_usage(tokens, same) == expected


def test_paid_tokens_are_weighed_by_what_they_cost():
    assert RATES.count_paid_tokens(Usage(4_000, 100, cached=3_000, written=600)) == 400 + 300 + 750
    assert RATES.count_paid_tokens(Usage(4_000, 100)) == 4_000
