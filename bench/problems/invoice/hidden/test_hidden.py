import random
import unittest
from decimal import Decimal
from fractions import Fraction

from billing.invoice import Line, amount, taxes, total
from billing.money import show
from billing.printed import printed


def cents(value):
    """Rounded half up, exactly."""
    return int((value * 100 + Fraction(1, 2)) // 1)


def expected(lines):
    own = [(line.tax, cents(Fraction(line.pieces) * Fraction(line.price) * (1 - Fraction(line.discount) / 100))) for line in lines]
    rates = {rate: cents(Fraction(sum(value for tax, value in own if tax == rate), 100) * Fraction(rate) / 100) for rate, _ in own}
    return [value for _, value in own], rates, sum(value for _, value in own) + sum(rates.values())


def shown(value):
    return f"{value // 100}.{value % 100:02}"


class Hidden(unittest.TestCase):
    def check(self, lines):
        own, rates, whole = expected(lines)
        self.assertEqual([show(amount(line)) for line in lines], [shown(value) for value in own])
        self.assertEqual({rate: show(tax) for rate, tax in taxes(lines).items()}, {rate: shown(tax) for rate, tax in rates.items()})
        self.assertEqual(show(total(lines)), shown(whole))

    def test_halves_go_up(self):
        self.check([Line("a", "1", "1.01", discount="50")])
        self.check([Line("a", "3", "0.335", tax="10")])
        self.check([Line("a", "0.333", "2.15"), Line("b", "1", "1.005")])

    def test_nothing_is_not_negative(self):
        self.assertEqual(show(amount(Line("a", "1", "9.99", discount="100"))), "0.00")
        self.assertNotIn("-", printed([Line("a", "1", "9.99", discount="100")]).replace("- ", ""))

    def test_any(self):
        chance = random.Random(3)
        for _ in range(300):
            self.check([
                Line("x", f"{chance.randint(0, 9000) / 1000:.3f}", f"{chance.randint(0, 99999) / 100:.2f}",
                     chance.choice(["0", "5.5", "20"]), chance.choice(["0", "12.5", "33", "100"]))
                for _ in range(chance.randint(1, 6))
            ])

    def test_no_invoice_lines(self):
        self.assertEqual((show(total([])), taxes([])), ("0.00", {}))
