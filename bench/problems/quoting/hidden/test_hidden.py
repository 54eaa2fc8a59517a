import random
import unittest

from table import dump, load

ODD = ["", " ", ",", '"', '""', "\n", "\r\n", "a,b", 'say "yes"', "two\nlines", '"quoted"', "x\u2028y", "\t", '",\n"', "\r", "\x1c"]


class Hidden(unittest.TestCase):
    def test_each_odd_field(self):
        for text in ODD:
            for row in ([text], [text, "b"], ["a", text], ["a", text, "c"]):
                self.assertEqual(load(dump([row])), [row], repr(row))

    def test_many_rows(self):
        chance = random.Random(7)
        for _ in range(200):
            rows = [[chance.choice(ODD) for _ in range(chance.randint(1, 4))] for _ in range(chance.randint(0, 5))]
            self.assertEqual(load(dump(rows)), rows)

    def test_plain_fields_look_as_before(self):
        self.assertEqual(dump([["a", "b c"], ["1", "2"]]), 'a,"b c"\n1,2\n')

    def test_text_without_a_last_line_break(self):
        self.assertEqual(load("a,b\nc,d"), [["a", "b"], ["c", "d"]])
