import unittest

from cache import Cache


class Caching(unittest.TestCase):
    def test_made_once(self):
        cache, made = Cache(2), []
        for _ in range(2):
            self.assertEqual(cache.get("a", lambda: made.append(1) or 5), 5)
        self.assertEqual((made, cache.hits, cache.misses), ([1], 1, 1))

    def test_a_size_of_nothing_is_refused(self):
        with self.assertRaises(ValueError):
            Cache(0)
