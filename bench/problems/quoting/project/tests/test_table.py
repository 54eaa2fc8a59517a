import unittest

from table import dump, load

ROWS = [["name", "town"], ["Ada", "New York"], ["Bob", ""]]


class Table(unittest.TestCase):
    def test_as_text(self):
        self.assertEqual(dump(ROWS), 'name,town\nAda,"New York"\nBob,\n')

    def test_there_and_back(self):
        self.assertEqual(load(dump(ROWS)), ROWS)

    def test_an_empty_table(self):
        self.assertEqual(load(dump([])), [])
