"""Damaged text for the parsers of what others wrote, by `bench/fuzz.py`."""

from faults.count import Count, Row, Twin
from fuzz import fuzz_parsers

FULL = 1_000_000
SHORT = 20_000
TWIN_INPUTS = 9_000


def measure(count: Count) -> list[Row]:
    counts, faults = fuzz_parsers(count.tries("parsers", FULL, SHORT), count.seed)
    for fault in faults:
        count.note("parsers", lost=fault)
    found = fuzz_parsers(TWIN_INPUTS, count.seed, twin=True)[1]
    caught = sum(fault.startswith("twin:") for fault in found)
    twins = (Twin("a parser that trips over NUL", TWIN_INPUTS // (len(counts) + 1), caught),)
    return [Row("damaged text for parsers", sum(counts.values()), len(faults), twins, by_kind=counts)]
