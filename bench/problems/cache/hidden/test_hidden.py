import unittest

from cache import Cache


class Hidden(unittest.TestCase):
    def test_never_more_than_its_size(self):
        cache = Cache(3)
        for number in range(10):
            cache.put(number, number)
            self.assertLessEqual(len(cache), 3)
        self.assertEqual([number for number in range(10) if number in cache], [7, 8, 9])

    def test_use_keeps(self):
        cache = Cache(2)
        cache.put("a", 1)
        cache.put("b", 2)
        cache.get("a", lambda: self.fail("it is held"))
        cache.put("c", 3)
        self.assertTrue("a" in cache and "b" not in cache)

    def test_putting_again_is_a_use_and_takes_no_room(self):
        cache = Cache(2)
        cache.put("a", 1)
        cache.put("b", 2)
        cache.put("a", 9)
        self.assertEqual(len(cache), 2)
        cache.put("c", 3)
        self.assertTrue("a" in cache and "b" not in cache)
        self.assertEqual(cache.get("a", lambda: 0), 9)

    def test_empty_values_are_values(self):
        cache, made = Cache(4), []
        for empty in (0, "", None, False):
            for _ in range(3):
                self.assertEqual(cache.get(repr(empty), lambda: made.append(1) or empty), empty)
        self.assertEqual((len(made), cache.hits, cache.misses), (4, 8, 4))

    def test_asking_whether_it_is_there_is_no_use(self):
        cache = Cache(2)
        cache.put("a", 1)
        cache.put("b", 2)
        self.assertIn("a", cache)
        cache.put("c", 3)
        self.assertNotIn("a", cache)
