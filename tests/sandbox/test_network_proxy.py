"""The proxy lets through what is allowed, to the address that it has looked at, and nothing else."""

import contextlib
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from ipaddress import ip_address

import pytest

from afresh.core.network_access import Connection, NetworkAccess, parse_address
from afresh.sandbox import network_proxy
from afresh.sandbox.network_proxy import FilteringProxy, Resolver, SocketAddress, is_public_address

GET = "GET http://{}/x HTTP/1.1\r\nHost: other.example.org\r\nProxy-Authorization: Basic c2VjcmV0\r\nX-Kept: 1\r\n\r\n"


class Server:
    """Answers each connection with what it was sent, and keeps that."""

    def __init__(self) -> None:
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.heard = list[bytes]()
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                one, _ = self.listening.accept()
                self.heard.append(one.recv(65536))
                one.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + self.heard[-1].upper())
                one.close()


@pytest.fixture
def server() -> Iterator[Server]:
    one = Server()
    yield one
    one.listening.close()


Ask = Callable[[str], str]


@contextlib.contextmanager
def proxy(access: NetworkAccess, resolve: Resolver = network_proxy.resolve_host) -> Iterator[tuple[FilteringProxy, Ask]]:
    """The port is opened here, as it is opened in a sandbox."""
    outer, inner = socket.socketpair()
    with inner, socket.create_server(("127.0.0.1", 0)) as listening, FilteringProxy(access, outer, resolve) as running:
        socket.send_fds(inner, [b"x"], [listening.fileno()])
        place = listening.getsockname()

        def ask(text: str) -> str:
            with socket.create_connection(place, timeout=600) as one:
                one.sendall(text.encode())
                return b"".join(iter(lambda: one.recv(65536), b"")).decode()

        yield running, ask


def access(*addresses: str, public: bool = False) -> NetworkAccess:
    return NetworkAccess(tuple(map(parse_address, addresses)), public)


def leads_to(*places: str) -> Resolver:
    def resolve(host: str, port: int) -> list[SocketAddress]:
        return [(socket.AF_INET6 if ":" in place else socket.AF_INET, (place, port)) for place in places]

    return resolve


def test_a_plain_request_reaches_an_allowed_host_without_what_was_meant_for_the_proxy(server: Server) -> None:
    with proxy(access(f"127.0.0.1:{server.port}")) as (running, ask):
        answer = ask(GET.format(f"127.0.0.1:{server.port}"))
    assert answer.startswith("HTTP/1.1 200 OK")
    assert server.heard == [
        f"GET /x HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\nX-Kept: 1\r\nConnection: close\r\n\r\n".encode()
    ]
    (seen,) = running.connections
    assert (seen.host, seen.port, seen.refused, seen.count) == ("127.0.0.1", server.port, "", 1)
    assert seen.sent == len(server.heard[0]) and seen.received == len(answer)
    assert "secret" not in repr(running.connections) and "X-Kept" not in repr(running.connections)


def test_a_tunnel_passes_on_what_it_is_given(server: Server) -> None:
    with proxy(access(f"localhost:{server.port}"), leads_to("127.0.0.1")) as (running, ask):
        answer = ask(f"CONNECT localhost:{server.port} HTTP/1.1\r\n\r\nhello")
    assert answer.startswith("HTTP/1.1 200 Connection established\r\n\r\n") and answer.endswith("HELLO")
    assert server.heard == [b"hello"] and running.connections[0].sent == 5


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("b.example.org:443", "not allowed"),
        ("127.0.0.2:443", "not allowed"),
        ("packages.example.org:22", "not allowed"),
        ("packages.example.org.evil.example.net:443", "not allowed"),
        ("xpackages.example.org:443", "not allowed"),
    ],
)
def test_another_host_number_or_port_is_refused_before_its_name_is_looked_up(target: str, why: str) -> None:
    def never(host: str, port: int) -> list[SocketAddress]:
        raise AssertionError("a name that is not allowed was looked up: that alone tells somebody something")

    with proxy(access("packages.example.org"), never) as (running, ask):
        assert ask(f"CONNECT {target} HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 403")
        assert ask(f"GET http://{target}/ HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 403")
    assert running.connections == (Connection(target.rpartition(":")[0], int(target.rpartition(":")[2]), why, 2),)


SPECIAL = [
    "127.0.0.1", "127.9.9.9", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "224.0.0.1",
    "255.255.255.255", "192.0.2.1", "198.18.0.1", "240.0.0.1", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1",
    "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2002:7f00:1::", "2001:0:1::1", "2001:db8::1",
    "168.63.129.16", "::ffff:168.63.129.16", "fec0::1", "64:ff9b:1::1",
]  # fmt: skip


@pytest.mark.parametrize("place", SPECIAL)
def test_a_name_that_leads_to_a_special_address_is_refused(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_proxy, "_connect_first", lambda places: pytest.fail(f"connected to {places}"))
    assert not is_public_address(ip_address(place))
    for allowed in (access("packages.example.org"), access("*.example.org"), access(public=True)):
        with proxy(allowed, leads_to(place)) as (running, ask):
            answer = ask("CONNECT packages.example.org:443 HTTP/1.1\r\n\r\n")
        assert "403" in answer and f"leads to {place}, which is not a public address" in answer
        assert running.connections[0].refused.startswith("it leads to")


def test_public_addresses_are_public() -> None:
    assert all(is_public_address(ip_address(place)) for place in ("8.8.8.8", "1.1.1.1", "2606:4700::1111", "64:ff9b::808:808"))


OWN_PUBLIC_ADDRESS = """
import fcntl, socket, struct, sys
sys.path[:0] = sys.argv[1].split(":")
from ipaddress import ip_address
from afresh.sandbox.network_proxy import is_public_address
places = [ip_address(place) for place in ("9.9.9.9", "::ffff:9.9.9.9", "9.9.9.8")]
print(*map(is_public_address, places))
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
    for request, place in ((0x8916, "9.9.9.9"), (0x891C, "255.255.255.255")):  # address, and mask
        fcntl.ioctl(any_socket, request, struct.pack("16sH2x4s8x", b"lo", socket.AF_INET, socket.inet_aton(place)))
    fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 0x41))
print(*map(is_public_address, places))
"""


def test_a_public_address_of_this_machine_is_not_public() -> None:
    """In a network namespace of its own, whose loopback gets such an address."""
    if subprocess.run(["unshare", "-rn", "true"], capture_output=True).returncode:
        pytest.skip("no network namespace can be had here")
    asked = ["unshare", "-rn", sys.executable, "-c", OWN_PUBLIC_ADDRESS, ":".join(sys.path)]
    said = subprocess.run(asked, capture_output=True, text=True)
    assert said.stdout.splitlines() == ["True True True", "False False True"], said.stderr


def test_it_connects_to_the_address_that_it_has_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name that leads elsewhere when it is looked up again gains nothing; special addresses among others are left out."""
    answers, tried = iter([("10.0.0.1", "8.8.8.8"), ("127.0.0.1",)]), list[object]()
    monkeypatch.setattr(network_proxy, "_connect_first", lambda places: tried.extend(places))
    with proxy(access("packages.example.org"), lambda host, port: leads_to(*next(answers))(host, port)) as (running, ask):
        assert ask("CONNECT packages.example.org:443 HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 502")
    assert tried == [(socket.AF_INET, ("8.8.8.8", 443))] and running.connections[0].refused == "it could not be reached"


def test_an_internal_host_is_reached_when_its_name_and_its_number_are_allowed(server: Server) -> None:
    name, number = f"packages.example.org:{server.port}", f"127.0.0.1:{server.port}"
    request = f"CONNECT {name} HTTP/1.1\r\n\r\nx"
    for held, expected in ((access(name), "403"), (access(number), "403"), (access(name, number), "200")):
        with proxy(held, leads_to("127.0.0.1")) as (_, ask):
            assert ask(request).startswith(f"HTTP/1.1 {expected}")


@pytest.mark.parametrize(
    "text",
    [
        "nonsense\r\n\r\n", "GET /relative HTTP/1.1\r\n\r\n", "GET https://packages.example.org/ HTTP/1.1\r\n\r\n",
        "GET http://user@packages.example.org/ HTTP/1.1\r\n\r\n", "CONNECT packages.example.org:http HTTP/1.1\r\n\r\n",
        "GET file:///etc/passwd HTTP/1.1\r\n\r\n", "CONNECT 0x7f.1:443 HTTP/1.1\r\n\r\n",
        "CONNECT evil.example\0.packages.example.org:443 HTTP/1.1\r\n\r\n",
        "GET http://evil.example\0.packages.example.org/ HTTP/1.1\r\n\r\n",
        "CONNECT 2130706433:443 HTTP/1.1\r\n\r\n", "GET http://[::1%25lo]/ HTTP/1.1\r\n\r\n", "X" * 70_000,
        *(f"GET http://packages.example.org/ HTTP/1.1\r\nX: a{end}Host: evil\r\n\r\n" for end in ["\n", "\r", "\0", "\r\n "]),
        "GET http://packages.example.org/\tHTTP/1.1 HTTP/1.1\nHost: evil\r\n\r\n",
    ],
)  # fmt: skip
def test_what_is_no_request_to_a_proxy_is_refused(text: str) -> None:
    with proxy(access("packages.example.org", public=True)) as (running, ask), contextlib.suppress(ConnectionError):
        assert ask(text).startswith("HTTP/1.1 400")
    assert running.connections == ()


def test_more_connections_than_are_allowed_at_once_are_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_proxy, "MAX_OPEN_CONNECTIONS", 1)
    begun, go_on = threading.Event(), threading.Event()

    def wait(host: str, port: int) -> list[SocketAddress]:
        begun.set()
        go_on.wait(600)
        return []

    with proxy(access("packages.example.org"), wait) as (_, ask):
        first = threading.Thread(target=ask, args=("CONNECT packages.example.org:443 HTTP/1.1\r\n\r\n",))
        first.start()
        assert begun.wait(600)
        assert ask("").startswith("HTTP/1.1 503")
        go_on.set()
        first.join(600)


def test_a_silent_connection_is_given_up(monkeypatch: pytest.MonkeyPatch, server: Server) -> None:
    monkeypatch.setattr(network_proxy, "IDLE_SECONDS", 0.05)
    with (
        socket.create_server(("127.0.0.1", 0)) as mute,
        proxy(access(f"127.0.0.1:{mute.getsockname()[1]}")) as (running, ask),
    ):
        assert ask(f"CONNECT 127.0.0.1:{mute.getsockname()[1]} HTTP/1.1\r\n\r\n").endswith("established\r\n\r\n")
    assert running.connections[0].received == 0
