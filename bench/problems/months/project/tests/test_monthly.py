import unittest
from datetime import date

from report.monthly import Sale, monthly

SALES = [Sale(date(2024, 2, 29), 300), Sale(date(2024, 3, 1), 500), Sale(date(2024, 3, 31), 100)]


class MonthlyReport(unittest.TestCase):
    def test_only_the_month_counts(self):
        self.assertEqual(monthly(SALES, 2024, 3).cents, 600)

    def test_a_leap_day_counts(self):
        found = monthly(SALES, 2024, 2)
        self.assertEqual((found.sales, found.days), (1, 29))
