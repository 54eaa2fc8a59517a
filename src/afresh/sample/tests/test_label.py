import unittest
from dataclasses import replace

from parcel import Address, Parcel, Size, render_label

KOELN = Address("Ada Lovelace", "Domkloster 4", "50667", "Köln", "DE")
PARCEL = Parcel(1200, Size(30, 20, 10))


def lines(parcel=PARCEL, address=KOELN, **options):
    return [line[2:-2].rstrip() for line in render_label(parcel, address, 5.4, **options).splitlines()[1:-1]]


class LabelTest(unittest.TestCase):
    def test_a_plain_label(self):
        expected = [
            "+----------------------+",
            "| STANDARD     5.40 EUR |"[:22] + " |",
            "|                      |",
            "| Ada Lovelace         |",
            "| Domkloster 4         |",
            "| 50667 Köln           |",
            "| DE                   |",
            "+----------------------+",
        ]
        self.assertEqual(render_label(PARCEL, KOELN, 5.4, width=24).splitlines(), expected)

    def test_every_line_is_as_wide_as_the_label(self):
        text = render_label(PARCEL, replace(KOELN, company="A Company With A Very Long Name Indeed And Sons"), 5.4)
        self.assertEqual({len(line) for line in text.splitlines()}, {40})

    def test_long_names_are_wrapped_and_company_stands_second(self):
        found = lines(address=replace(KOELN, company="Analytical Engines and Difference Machines"))
        self.assertEqual(found[2:5], ["Ada Lovelace", "Analytical Engines and Difference", "  Machines"])

    def test_the_postcode_stands_where_the_country_wants_it(self):
        self.assertIn("50667 Köln", lines())
        self.assertIn("Cambridge CB1 2AB", lines(address=replace(KOELN, postcode="CB1 2AB", city="Cambridge", country="GB")))

    def test_marks_stand_below(self):
        for parcel, marks in [
            (replace(PARCEL, fragile=True), "FRAGILE"),
            (replace(PARCEL, weight=12_000), "TWO HANDS"),
            (replace(PARCEL, weight=24_000, fragile=True), "FRAGILE · HEAVY"),
            (replace(PARCEL, size=Size(110, 5, 5)), "LONG"),
        ]:
            with self.subTest(parcel=parcel):
                self.assertEqual(lines(parcel)[-2:], ["", marks])

    def test_couriers_get_the_phone_number(self):
        reachable = replace(KOELN, phone="0221 123")
        self.assertEqual(lines(address=reachable)[-1], "DE")
        self.assertEqual(lines(address=reachable, service="express")[-1], "CALL 0221 123")

    def test_a_narrow_label_is_refused(self):
        with self.assertRaises(ValueError):
            render_label(PARCEL, KOELN, 5.4, width=23)
