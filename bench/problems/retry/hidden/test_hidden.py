import dataclasses
import importlib
import pkgutil
import unittest

import net
from net.client import Client
from net.faults import Busy, Missing
from net.settings import client


def found_policy():
    for module in pkgutil.iter_modules(net.__path__):
        held = importlib.import_module(f"net.{module.name}")
        if getattr(getattr(held, "Policy", None), "__module__", "") == held.__name__:
            return held.Policy
    raise AssertionError("no module of net defines Policy")


Policy = found_policy()


class Server:
    def __init__(self, *answers):
        self.answers, self.asked, self.slept = list(answers), 0, []

    def __call__(self, path):
        self.asked += 1
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, **policy):
        return Client(self, policy=Policy(**policy), sleep=self.slept.append)


class Hidden(unittest.TestCase):
    def test_waits_double(self):
        server = Server(Busy(), ConnectionError(), Busy(), Busy(), "ok")
        self.assertEqual(server.client(attempts=5, first=1, longest=3).get("/"), "ok")
        self.assertEqual(server.slept, [1, 2, 3, 3])

    def test_gives_up_with_the_last_fault_and_without_a_last_wait(self):
        last = Busy()
        server = Server(ConnectionError(), last)
        with self.assertRaises(Busy) as raised:
            server.client(attempts=2, first=1, longest=9).get("/")
        self.assertIs(raised.exception, last)
        self.assertEqual((server.slept, server.asked), ([1], 2))

    def test_does_as_the_server_says(self):
        server = Server(Busy(7), Busy(), "ok")
        self.assertEqual(server.client(attempts=3, first=1, longest=9).get("/"), "ok")
        self.assertEqual(server.slept[0], 7)

    def test_does_not_wait_for_ever(self):
        server = Server(Busy(100), "ok")
        with self.assertRaises(Busy):
            server.client(attempts=3, first=1, longest=9).get("/")
        self.assertEqual((server.slept, server.asked), ([], 1))

    def test_retry_after_of_zero(self):
        server = Server(Busy(0), "ok")
        self.assertEqual(server.client(attempts=3, first=5, longest=9).get("/"), "ok")
        self.assertLessEqual(sum(server.slept), 0)

    def test_other_faults_at_once(self):
        for fault in (Missing("x"), KeyError("x")):
            server = Server(fault, "ok")
            with self.assertRaises(type(fault)):
                server.client(attempts=3, first=1, longest=9).get("/")
            self.assertEqual((server.asked, server.slept), (1, []))

    def test_policies_are_checked(self):
        for wrong in ({"attempts": 0}, {"first": -1}, {"longest": -1}, {"first": 5, "longest": 4}):
            with self.assertRaises(ValueError):
                Policy(**wrong)
        with self.assertRaises(dataclasses.FrozenInstanceError):
            Policy().attempts = 4

    def test_settings(self):
        server = Server(ConnectionError(), ConnectionError())
        with self.assertRaises(ConnectionError):
            client(server, {"retry": {"attempts": 2, "first": 0, "longest": 0}}).get("/")
        self.assertEqual(server.asked, 2)
        with self.assertRaises(ValueError):
            client(server, {"retry": {"tries": 2}})

    def test_success_does_not_sleep(self):
        server = Server("ok")
        self.assertEqual((server.client().get("/"), server.slept), ("ok", []))
