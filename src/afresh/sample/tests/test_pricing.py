import unittest
import warnings

from parcel import Parcel, Size, quote
from parcel.pricing import zone_of

SMALL = Parcel(weight=1200, size=Size(20, 10, 5))


class PricingTest(unittest.TestCase):
    def test_zones_follow_the_borders(self):
        self.assertEqual([zone_of("DE"), zone_of("FR"), zone_of("US"), zone_of("FR", home="FR")], ["home", "union", "world", "home"])

    def test_weight_is_charged_by_the_started_kilogram(self):
        self.assertEqual(quote(SMALL, "DE"), 5.40)
        self.assertEqual(quote(Parcel(300, SMALL.size), "DE"), 4.80)

    def test_large_light_parcels_are_charged_by_volume(self):
        self.assertEqual(quote(Parcel(100, Size(40, 30, 20)), "DE"), 7.20)

    def test_services_and_zones(self):
        for country, service, price in [
            ("FR", "standard", 11.70),
            ("US", "standard", 26.10),
            ("DE", "express", 9.72),
            ("DE", "economy", 4.59),
            ("US", "economy", 26.10),
            ("IE", "standard", 15.20),
            ("IS", "express", 50.48),
        ]:
            with self.subTest(country=country):
                self.assertEqual(quote(SMALL, country, service), price)

    def test_islanders_pay_nothing_extra_at_home(self):
        self.assertEqual(quote(SMALL, "IE", home="IE"), 5.40)

    def test_extras_add_up(self):
        precious = Parcel(1200, SMALL.size, value=400, fragile=True)
        self.assertEqual(quote(precious, "DE"), 7.40)
        self.assertEqual(quote(precious, "DE", insured=True), 11.40)
        self.assertEqual(quote(SMALL, "DE", insured=True), 6.90)
        self.assertEqual(quote(SMALL, "DE", signed=True), 7.30)
        self.assertEqual(quote(SMALL, "DE", "express", signed=True), 9.72)

    def test_too_large_is_refused(self):
        for size in [Size(121, 1, 1), Size(100, 60, 41)]:
            with self.subTest(size=size):
                with self.assertRaisesRegex(ValueError, "too large"):
                    quote(Parcel(100, size), "DE")

    def test_unknown_words_are_refused(self):
        with self.assertRaisesRegex(ValueError, "unknown service"):
            quote(SMALL, "DE", "pigeon")
        with self.assertRaisesRegex(TypeError, "unknown option"):
            quote(SMALL, "DE", gilded=True)

    def test_old_options_still_work_and_warn_where_they_are_used(self):
        for old, price in [({"fast": True}, 9.72), ({"fast": False}, 5.40), ({"registered": True}, 7.30)]:
            with self.subTest(old=old):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    self.assertEqual(quote(SMALL, "DE", **old), price)
                self.assertEqual([(one.category, one.filename) for one in caught], [(DeprecationWarning, __file__)])
