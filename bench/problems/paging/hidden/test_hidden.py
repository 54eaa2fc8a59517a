import unittest

from paging import bounds, pages_for


class Hidden(unittest.TestCase):
    def test_counts(self):
        self.assertEqual([pages_for(items, 4) for items in range(10)], [0, 1, 1, 1, 1, 2, 2, 2, 2, 3])

    def test_the_last_page_ends_with_the_last_item(self):
        self.assertEqual(bounds(3, 21, 10), (21, 21))

    def test_there_is_no_page_behind_it(self):
        for page, items in ((4, 21), (0, 21), (1, 0)):
            with self.assertRaises(ValueError):
                bounds(page, items, 10)

    def test_a_page_of_nothing_is_refused(self):
        with self.assertRaises(ValueError):
            pages_for(3, 0)
