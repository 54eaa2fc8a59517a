from dataclasses import replace

import pytest

from parcel import Address, Parcel, Size, render_label

KOELN = Address("Ada Lovelace", "Domkloster 4", "50667", "Köln", "DE")
PARCEL = Parcel(1200, Size(30, 20, 10))


def lines(parcel=PARCEL, address=KOELN, **options):
    return [line[2:-2].rstrip() for line in render_label(parcel, address, 5.4, **options).splitlines()[1:-1]]


def test_a_plain_label():
    assert render_label(PARCEL, KOELN, 5.4, width=24).splitlines() == [
        "+----------------------+",
        "| STANDARD     5.40 EUR |"[:22] + " |",
        "|                      |",
        "| Ada Lovelace         |",
        "| Domkloster 4         |",
        "| 50667 Köln           |",
        "| DE                   |",
        "+----------------------+",
    ]


def test_every_line_is_as_wide_as_the_label():
    text = render_label(PARCEL, replace(KOELN, company="A Company With A Very Long Name Indeed And Sons"), 5.4)
    assert {len(line) for line in text.splitlines()} == {40}


def test_long_names_are_wrapped_and_company_stands_second():
    found = lines(address=replace(KOELN, company="Analytical Engines and Difference Machines"))
    assert found[2:5] == ["Ada Lovelace", "Analytical Engines and Difference", "  Machines"]


def test_the_postcode_stands_where_the_country_wants_it():
    assert "50667 Köln" in lines()
    assert "Cambridge CB1 2AB" in lines(address=replace(KOELN, postcode="CB1 2AB", city="Cambridge", country="GB"))


@pytest.mark.parametrize(
    ("parcel", "marks"),
    [
        (replace(PARCEL, fragile=True), "FRAGILE"),
        (replace(PARCEL, weight=12_000), "TWO HANDS"),
        (replace(PARCEL, weight=24_000, fragile=True), "FRAGILE · HEAVY"),
        (replace(PARCEL, size=Size(110, 5, 5)), "LONG"),
    ],
)
def test_marks_stand_below(parcel, marks):
    assert lines(parcel)[-2:] == ["", marks]


def test_couriers_get_the_phone_number():
    reachable = replace(KOELN, phone="0221 123")
    assert lines(address=reachable)[-1] == "DE"
    assert lines(address=reachable, service="express")[-1] == "CALL 0221 123"


def test_a_narrow_label_is_refused():
    with pytest.raises(ValueError):
        render_label(PARCEL, KOELN, 5.4, width=23)
