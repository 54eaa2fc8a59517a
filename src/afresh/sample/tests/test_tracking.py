import pytest

from parcel import summarise


def test_nothing_is_known_without_events():
    assert summarise([]) == {"status": "unknown", "place": "", "attempts": 0, "skipped": 0, "since": "", "message": ""}


def test_the_way_is_told_by_places():
    found = summarise(["2024-05-01 handed_over Hamburg", "2024-05-02 transit Kassel", "2024-05-03 TRANSIT Kassel"])
    assert (found["status"], found["since"], found["message"]) == ("transit", "2024-05-03", "Hamburg → Kassel")


@pytest.mark.parametrize(
    ("last", "message"),
    [("delivered Köln", "delivered in Köln"), ("lost", "lost after Hamburg"), ("attempted Köln", "1 attempts so far")],
)
def test_the_end_is_told_in_words(last, message):
    assert summarise(["2024-05-01 handed_over Hamburg", f"2024-05-02 {last}"])["message"] == message


def test_an_end_without_a_place():
    assert summarise(["2024-05-01 delivered"])["message"] == "delivered"
    assert summarise(["2024-05-01 lost"])["message"] == "lost"


def test_three_attempts_send_it_back():
    found = summarise([f"2024-05-0{day} attempted Köln" for day in (1, 2, 3, 4)])
    assert (found["status"], found["attempts"], found["skipped"], found["since"]) == ("returned", 3, 1, "2024-05-03")


def test_malformed_and_unknown_events_are_counted():
    found = summarise(["", "yesterday transit", "2024-05-01", "2024-05-01 exploded", "2024-05-01 customs Basel"])
    assert (found["status"], found["skipped"], found["place"]) == ("customs", 4, "Basel")


def test_nothing_counts_after_the_end():
    found = summarise(["2024-05-01 delivered Köln", "2024-05-02 transit Bonn"])
    assert (found["status"], found["place"], found["skipped"]) == ("delivered", "Köln", 1)
