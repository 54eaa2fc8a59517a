"""Which names a name implies, and which files belong together."""

import pytest

from afresh.memory.history.names import find_subject, list_implied_names


@pytest.mark.parametrize(
    ("name", "implied"),
    [
        ("src/parcel/pricing.py", {"src/parcel", "/parcel/pricing.py", "parcel", "pricing.py", "pricing"}),
        ("/home/me/parcel/src", {"/home/me", "/home/me/parcel", "me/parcel", "/parcel/src"}),
        ("session.SessionData", {"SessionData", "session"}),
        ("a.store.SearchHits", {"a.store", "store.SearchHits", "SearchHits"}),
        ("plain_name", {"plain_name"}),
    ],
)
def test_who_sees_a_path_or_a_chain_has_seen_its_parts(name, implied):
    assert implied <= set(list_implied_names(name))
    assert all(part in name for part in list_implied_names(name))


@pytest.mark.parametrize(
    "name", ["resume.go", "resume_tui.go", "resume_test.go", "test_resume.py", "resume.test.ts", "_resume.py"]
)
def test_a_file_and_its_tests_and_companions_have_one_subject(name):
    assert find_subject(name) == "resume"


@pytest.mark.parametrize("name", ["__init__.py", ".gitignore", "test_.py", "_", "latest.py"])
def test_every_file_has_a_subject(name):
    assert find_subject(name)
