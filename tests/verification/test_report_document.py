"""What a document cites exists, or it is told what does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from afresh.context.citations import Citation, find_citations
from afresh.verification.report_document import find_absent_paths, find_dead_citations

TREE = {"src/parcel/pricing.py": 65, "src/parcel/label.py": 40, "Makefile": 9, ".github/check.yml": 5, "README.md": 12}


def cited(text: str) -> list[str]:
    return [str(one) for one in find_citations(text, TREE)]


def lost(text: str) -> list[str]:
    return list(find_dead_citations(find_citations(text, TREE), TREE, TREE.__getitem__))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("see src/parcel/pricing.py:12.", ["src/parcel/pricing.py:12"]),
        ("(`src/parcel/pricing.py:12-20`), ./Makefile:3", ["src/parcel/pricing.py:12-20", "Makefile:3"]),
        ("[here](src/parcel/pricing.py#L3-L9) and .github/check.yml:1", ["src/parcel/pricing.py:3-9", ".github/check.yml:1"]),
        ("src/parcel/pricing.py:12:5 and again src/parcel/pricing.py:12", ["src/parcel/pricing.py:12"]),
        ("pricing.py:3 is cited by its name alone", ["pricing.py:3"]),
        ("at 12:30, port example.org:443, https://host.org/a.py:3, ratio 1.5:2, Step 3:4, key:7", []),
        ("no line: src/parcel/pricing.py", []),
    ],
)
def test_places_are_told_from_times_ports_and_words(text: str, found: list[str]):
    assert cited(text) == found


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("src/parcel/pricing.py:65 README.md:1-12", []),
        ("src/parcel/pricing.py:66", ["src/parcel/pricing.py:66 (the file has 65 lines)"]),
        ("src/parcel/pricing.py:60-70", ["src/parcel/pricing.py:60-70 (the file has 65 lines)"]),
        ("src/parcel/pricing.py:0", ["src/parcel/pricing.py:0 (the file has 65 lines)"]),
        ("src/parcel/pricing.py:9-3", ["src/parcel/pricing.py:9-3 (the file has 65 lines)"]),
        ("pricing.py:3", ["pricing.py:3 (no such file; is it src/parcel/pricing.py?)"]),
        ("src/parcel/pricin.py:3", ["src/parcel/pricin.py:3 (no such file; is it src/parcel/pricing.py?)"]),
        ("quite/other.py:3", ["quite/other.py:3 (no such file)"]),
    ],
)
def test_a_citation_that_leads_nowhere_is_told_with_what_was_meant(text: str, wrong: list[str]):
    assert lost(text) == wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("`src/parcel/label.py`, `src/parcel/`, `src/parcel`, `README.md`", []),
        ("`src/parcel/cache.py`", ["src/parcel/cache.py (no such file"]),
        ("`src/parcel/cache.py` (new) does it; `src/parcel/cache.py` is small", []),
        ("`src/store` (new): `src/store/disk.py` and `src/store/net/http.py`", []),
        ("`src/stores/disk.py`; `src/store` (new)", ["src/stores/disk.py (no such file"]),
        ("`and/or`, `a / b`, `application/json`, `cache.py`", []),
        ("```\n`src/parcel/shown.py`\n```", []),
    ],
)
def test_a_path_that_does_not_exist_must_be_marked_as_new(text: str, wrong: list[str]):
    found = list(find_absent_paths(text, TREE))
    assert len(found) == len(wrong) and all(one.startswith(start) for one, start in zip(found, wrong, strict=True))


@given(st.text(st.sampled_from("ab./:#L-0129 `\n(new)pyMakefile"), max_size=60))
def test_any_text_is_judged_and_every_citation_is_either_there_or_told(text: str):
    found = find_citations(text, TREE)
    wrong = list(find_dead_citations(found, TREE, TREE.__getitem__))
    there = [one for one in found if one.path in TREE and 1 <= one.first <= one.last <= TREE[one.path]]
    assert len(wrong) + len(there) == len(found) == len(set(found))
    assert all(isinstance(one, Citation) for one in found)
    list(find_absent_paths(text, TREE))
