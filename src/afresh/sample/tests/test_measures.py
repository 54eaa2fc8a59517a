import unittest

from parcel import Size, parse_size, parse_weight


class MeasuresTest(unittest.TestCase):
    def test_weights_are_read_in_any_known_unit(self):
        for text, grams in [("1.2 kg", 1200), ("800g", 800), ("2,5 kg", 2500), (" 1 LB ", 453.592), ("0.25kg", 250)]:
            with self.subTest(text=text):
                self.assertAlmostEqual(parse_weight(text), grams)

    def test_what_is_no_weight_is_refused(self):
        for text in ["", "heavy", "1.2", "3 stone", "-1 kg"]:
            with self.subTest(text=text):
                with self.assertRaises(ValueError):
                    parse_weight(text)

    def test_sizes_are_read_longest_side_first(self):
        for text in ["30x20x10 cm", "10 x 30 x 20", "300x200x100mm", "30cm x 20cm x 10cm", "30×20×10", "30*20*10 CM", "30,0x20x10"]:
            with self.subTest(text=text):
                self.assertEqual(parse_size(text), Size(30, 20, 10))

    def test_a_size_that_cannot_be_read_says_why(self):
        for text, message in [
            ("30x20", "three parts"),
            ("30 x cm x 10", "missing"),
            ("3.0.1x20x10", "not a number"),
            ("30cm x 20mm x 10cm", "mixed"),
            ("30cm x 20cm x 10", "once or three times"),
            ("1x1x1 ft", "unknown unit"),
            ("0x1x1", "longer than nothing"),
        ]:
            with self.subTest(text=text):
                with self.assertRaisesRegex(ValueError, message):
                    parse_size(text)

    def test_girth_goes_once_around(self):
        self.assertEqual(Size(30, 20, 10).girth, 90)
        self.assertEqual(Size(30, 20, 10).volume, 6000)
