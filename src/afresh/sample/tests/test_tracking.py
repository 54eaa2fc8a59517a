import unittest

from parcel import summarise


class TrackingTest(unittest.TestCase):
    def test_nothing_is_known_without_events(self):
        self.assertEqual(summarise([]), {"status": "unknown", "place": "", "attempts": 0, "skipped": 0, "since": "", "message": ""})

    def test_the_way_is_told_by_places(self):
        text = summarise(["2024-05-01 handed_over Hamburg", "2024-05-02 transit Kassel", "2024-05-03 TRANSIT Kassel"])
        self.assertEqual((text["status"], text["since"], text["message"]), ("transit", "2024-05-03", "Hamburg → Kassel"))

    def test_the_end_is_told_in_words(self):
        for last, message in [
            ("delivered Köln", "delivered in Köln"),
            ("lost", "lost after Hamburg"),
            ("attempted Köln", "1 attempts so far"),
        ]:
            with self.subTest(last=last):
                self.assertEqual(summarise(["2024-05-01 handed_over Hamburg", f"2024-05-02 {last}"])["message"], message)

    def test_an_end_without_a_place(self):
        self.assertEqual(summarise(["2024-05-01 delivered"])["message"], "delivered")
        self.assertEqual(summarise(["2024-05-01 lost"])["message"], "lost")

    def test_three_attempts_send_it_back(self):
        text = summarise([f"2024-05-0{day} attempted Köln" for day in (1, 2, 3, 4)])
        self.assertEqual((text["status"], text["attempts"], text["skipped"], text["since"]), ("returned", 3, 1, "2024-05-03"))

    def test_malformed_and_unknown_events_are_counted(self):
        text = summarise(["", "yesterday transit", "2024-05-01", "2024-05-01 exploded", "2024-05-01 customs Basel"])
        self.assertEqual((text["status"], text["skipped"], text["place"]), ("customs", 4, "Basel"))

    def test_nothing_counts_after_the_end(self):
        text = summarise(["2024-05-01 delivered Köln", "2024-05-02 transit Bonn"])
        self.assertEqual((text["status"], text["place"], text["skipped"]), ("delivered", "Köln", 1))
