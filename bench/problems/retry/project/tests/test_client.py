import unittest

from net.client import Client
from net.settings import client


class Asking(unittest.TestCase):
    def test_what_the_transport_says(self):
        self.assertEqual(Client(lambda path: path.upper()).get("/a"), "/A")

    def test_from_settings(self):
        self.assertEqual(client(lambda path: "x", {}).get("/"), "x")
