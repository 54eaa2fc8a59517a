import unittest

from paging import bounds, pages_for


class Paging(unittest.TestCase):
    def test_full_pages(self):
        self.assertEqual(pages_for(20, 10), 2)

    def test_bounds_of_a_full_page(self):
        self.assertEqual(bounds(2, 20, 10), (11, 20))

    def test_a_page_that_is_not_full(self):
        self.assertEqual(pages_for(21, 10), 3)
