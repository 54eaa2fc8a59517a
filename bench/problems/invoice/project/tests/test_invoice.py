import unittest

from billing.invoice import Line, total
from billing.money import show
from billing.printed import printed

LINES = [Line("book", "2", "10.00"), Line("pen", "1", "1.50", discount="50")]


class Invoice(unittest.TestCase):
    def test_total(self):
        self.assertEqual(show(total(LINES)), "24.90")

    def test_printed(self):
        self.assertEqual(
            [line.split() for line in printed(LINES).splitlines()],
            [["2", "x", "book", "20.00"], ["1", "x", "pen", "0.75"], ["tax", "20", "%", "4.15"], ["total", "24.90"]],
        )
