import unittest
from datetime import date

from report.calendar import is_leap, length, span
from report.monthly import Sale, monthly


class Hidden(unittest.TestCase):
    def test_december(self):
        sales = [Sale(date(2023, 12, 1), 5), Sale(date(2023, 12, 31), 7), Sale(date(2024, 1, 1), 100)]
        found = monthly(sales, 2023, 12)
        self.assertEqual((found.sales, found.cents, found.days), (2, 12, 31))
        self.assertEqual(span(2023, 12), (date(2023, 12, 1), date(2024, 1, 1)))

    def test_leap_years(self):
        self.assertEqual([year for year in (1900, 2000, 2023, 2024, 2100, 2400) if is_leap(year)], [2000, 2024, 2400])

    def test_lengths(self):
        self.assertEqual([length(2100, month) for month in (1, 2, 4, 12)], [31, 28, 30, 31])
        self.assertEqual(monthly([], 2100, 2).days, 28)

    def test_other_months_are_as_before(self):
        self.assertEqual(span(2024, 2), (date(2024, 2, 1), date(2024, 3, 1)))
