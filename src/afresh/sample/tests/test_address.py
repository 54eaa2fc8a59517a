import unittest
from dataclasses import replace

from parcel import Address, AddressError, check_address, parse_address

ADA = Address("Ada Lovelace", "12 Mill Lane", "CB1 2AB", "Cambridge", "GB", phone="+44 1223 123456")


class AddressTest(unittest.TestCase):
    def test_a_plain_address_is_read_line_by_line(self):
        self.assertEqual(parse_address("Ada Lovelace\n12 Mill  Lane\nCB1 2AB Cambridge\nGB\nPhone: +44 1223 123456"), ADA)

    def test_company_may_be_a_line_or_a_key(self):
        by_line = parse_address("Ada\nEngines Ltd\n12 Mill Lane\n50667 Köln\nDE")
        by_key = parse_address("# warehouse\nAda\n\n12 Mill Lane\n50667 Köln\ncompany: Engines Ltd\ncountry: de")
        self.assertEqual(by_line, by_key)
        self.assertEqual(by_line.company, "Engines Ltd")

    def test_the_country_can_be_given_from_outside(self):
        self.assertEqual(parse_address("Ada\n12 Mill Lane\n1012 AB Amsterdam", country="nl").country, "NL")
        self.assertEqual(parse_address("Ada\n12 Mill Lane\nA-1010 Wien", country="AT").postcode, "A-1010")

    def test_an_address_that_cannot_be_read_says_why(self):
        for text, message in [
            ("Ada\n12 Mill Lane\n50667 Köln", "no country"),
            ("Ada\n50667 Köln\nDE", "needs a name"),
            ("Ada\nb\nc\nd\n50667 Köln\nDE", "too many lines"),
            ("Ada\nb\nc\n50667 Köln\nDE\nCompany: x", "too many lines"),
            ("Ada\n12 Mill Lane\nKöln\nDE", "no postcode"),
            ("Ada\n12 Mill Lane\n50667 Köln\nDE\nPhone:", "Phone is empty"),
            ("", "no country"),
        ]:
            with self.subTest(text=text):
                with self.assertRaisesRegex(AddressError, message):
                    parse_address(text)

    def test_a_good_address_has_no_problems(self):
        self.assertEqual(check_address(ADA), [])
        self.assertEqual(check_address(ADA, "express"), [])

    def test_each_problem_is_named(self):
        for changes, service, problem in [
            ({"name": " "}, "standard", "name is missing"),
            ({"city": "x" * 41}, "standard", "city is longer than 40 characters"),
            ({"street": "a\x07b"}, "standard", "street holds characters that cannot be printed"),
            ({"postcode": "12345"}, "standard", "12345 is not a postcode of GB"),
            ({"phone": ""}, "express", "express needs a phone number"),
            ({"phone": "ask Bob"}, "express", "ask Bob is not a phone number"),
            ({"street": "P.O. Box 3"}, "express", "express does not deliver to boxes"),
            ({"country": "US", "postcode": "12345"}, "standard", "the city lacks its state"),
        ]:
            with self.subTest(changes=changes):
                self.assertEqual(check_address(replace(ADA, **changes), service), [problem])

    def test_an_unknown_country_is_not_held_against_the_postcode(self):
        self.assertEqual(check_address(replace(ADA, country="IS", postcode="101")), [])
