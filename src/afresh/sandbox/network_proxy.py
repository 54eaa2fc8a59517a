"""A filtering HTTP proxy outside of the sandbox, for as long as one command runs. It looks up names itself, connects only to what
is allowed, and keeps host, port and number of bytes; never a header or a body."""

import contextlib
import re
import select
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address, ip_network

from afresh.core.network_access import ADDRESS, Connection, NetworkAccess, normalise_host
from afresh.core.states.network_state import join_connections

MAX_OPEN_CONNECTIONS = 64
MAX_HEADER_BYTES = 64 << 10
MAX_KEPT_CONNECTIONS = 100
"""Different hosts and ports of one command that are recorded."""
HEADER_SECONDS = 30.0
CONNECT_SECONDS = 20.0
IDLE_SECONDS = 120.0
STOP_SECONDS = 2.0
CHUNK_BYTES = 1 << 16
NOT_ALLOWED = "not allowed"
OWN_HEADERS = ("host", "connection", "proxy-connection", "proxy-authorization", "keep-alive")
"""Headers of a plain request that the proxy replaces, or that are meant for it."""
EMBEDDED_IN_SIX = ip_network("64:ff9b::/96")
LOCAL_BY_CUSTOM = tuple(map(ip_network, ("168.63.129.16/32", "fec0::/10", "64:ff9b:1::/48")))
"""Global by the tables: Azure's host, site-local addresses, and a network's own translation of the older ones."""
AMBIGUOUS = re.compile(r"^[ \t]|[\x00-\x08\x0a-\x1f\x7f]")
READABLE = select.POLLIN | select.POLLHUP | select.POLLERR
WRITABLE = select.POLLOUT | select.POLLHUP | select.POLLERR

AnyAddress = IPv4Address | IPv6Address
SocketAddress = tuple[socket.AddressFamily, tuple[str, int]]
Resolver = Callable[[str, int], Sequence[SocketAddress]]


def resolve_host(host: str, port: int) -> list[SocketAddress]:
    """All addresses of a host, as a socket needs them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP)
    return [(family, (str(place[0]), port)) for family, _, _, _, place in found]


def is_public_address(address: AnyAddress) -> bool:
    """Whether it leads to the open Internet: not to this machine, its network, or an address with a meaning of its own."""
    if isinstance(address, IPv6Address):
        if address.teredo or address.sixtofour:
            return False
        inner = address.ipv4_mapped or (IPv4Address(int(address) & 0xFFFFFFFF) if address in EMBEDDED_IN_SIX else None)
        if inner:
            return is_public_address(inner)
    ordinary = address.is_global and not address.is_multicast and not address.is_reserved
    return ordinary and not any(address in network for network in LOCAL_BY_CUSTOM) and not is_own_address(address)


def is_own_address(address: AnyAddress) -> bool:
    """Whether it is one of this machine, which may be public: the kernel would speak to it from that very address. No packet is
    sent."""
    with socket.socket(socket.AF_INET if address.version == 4 else socket.AF_INET6, socket.SOCK_DGRAM) as asking:
        try:
            asking.connect((str(address), 1))
        except OSError:
            return False  # nothing leads there
        return asking.getsockname()[0] == str(address)


@dataclass(frozen=True, slots=True)
class ProxyRequest:
    host: str
    port: int
    tunnel: bool
    first_bytes: bytes
    """The bytes that go to the host first."""


class BadProxyRequest(Exception):
    """The client sent a request that a proxy can't serve."""


def parse_proxy_request(header: bytes, rest: bytes) -> ProxyRequest:
    """`CONNECT host:port`, or a plain request that names its host in full. A second request on the same connection is none of
    another host: the host is told to close it after the first. A line that a host could read as two, or as the end of another,
    is refused."""
    first, *fields = header.decode("latin-1").split("\r\n")
    try:
        if any(map(AMBIGUOUS.search, (first, *fields))):
            raise ValueError
        method, target, version = first.split(" ")
        if method == "CONNECT":
            return ProxyRequest(*_split_authority(target, 443), True, rest)
        scheme, mark, after = target.partition("://")
        if scheme.lower() != "http" or not mark:
            raise ValueError
        cut = min((after.find(sign) for sign in "/?#" if sign in after), default=len(after))
        host, port = _split_authority(after[:cut], 80)
    except ValueError:
        raise BadProxyRequest from None
    path = after[cut:] if after[cut:].startswith("/") else f"/{after[cut:]}"
    kept = [field for field in fields if field and field.partition(":")[0].strip().lower() not in OWN_HEADERS]
    lines = [f"{method} {path} {version}", f"Host: {after[:cut]}", *kept, "Connection: close", "", ""]
    return ProxyRequest(host, port, False, "\r\n".join(lines).encode("latin-1") + rest)


def _split_authority(text: str, default: int) -> tuple[str, int]:
    match = ADDRESS.fullmatch(text)
    if not match:
        raise ValueError(text)
    return normalise_host(match["six"] or match["host"]), int(match["port"] or default)


class FilteringProxy:
    """Serves the socket that comes out of the sandbox through `channel`, until it is stopped."""

    def __init__(self, access: NetworkAccess, channel: socket.socket, resolve: Resolver = resolve_host) -> None:
        self._access, self._channel, self._resolve = access, channel, resolve
        self._room = threading.BoundedSemaphore(MAX_OPEN_CONNECTIONS)
        self._lock = threading.Lock()
        self._open = {channel}
        self._stopped = False
        self._seen: tuple[Connection, ...] = ()
        self._thread = threading.Thread(target=self._accept, name="afresh-proxy", daemon=True)

    @property
    def connections(self) -> tuple[Connection, ...]:
        with self._lock:
            return self._seen

    def __enter__(self) -> "FilteringProxy":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._stopped = True
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        self._thread.join(STOP_SECONDS)
        for _ignored in range(
            MAX_OPEN_CONNECTIONS
        ):  # what is left waits for an answer from a name server, and finds itself stopped
            if not self._room.acquire(timeout=STOP_SECONDS / MAX_OPEN_CONNECTIONS):
                break

    @contextlib.contextmanager
    def _hold(self, connection: socket.socket) -> Iterator[bool]:
        """Closed at the end, and shut down when the proxy stops. False if it has stopped already."""
        with self._lock:
            self._open.add(connection)
            stopped = self._stopped
        try:
            yield not stopped
        finally:
            with self._lock:
                self._open.discard(connection)
            connection.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError), self._hold(self._channel):
            _, descriptors, _, _ = socket.recv_fds(self._channel, 1, 1)
            for listening in [socket.socket(fileno=descriptor) for descriptor in descriptors]:
                with self._hold(listening) as is_open:
                    while is_open and not self._stopped:
                        self._begin(listening.accept()[0])

    def _begin(self, client: socket.socket) -> None:
        if not self._room.acquire(blocking=False):
            _answer(client, 503, "too many connections at once")
            client.close()
            return
        threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        try:
            with self._hold(client) as is_open, contextlib.suppress(OSError):
                if is_open:
                    self._answer_request(client)
        finally:
            self._room.release()

    def _answer_request(self, client: socket.socket) -> None:
        client.settimeout(HEADER_SECONDS)
        try:
            request = parse_proxy_request(*_read_header(client))
        except BadProxyRequest:
            return _answer(client, 400, "this proxy serves CONNECT host:port and http://host/ only")
        refused, places = self._judge(request)
        if refused:
            self._record(Connection(request.host, request.port, refused))
            return _answer(client, 403, f"{request.host}:{request.port} is closed: {refused}")
        server = _connect_first(places)
        if server is None:
            self._record(Connection(request.host, request.port, "it could not be reached"))
            return _answer(client, 502, f"{request.host}:{request.port} could not be reached")
        with self._hold(server) as is_open:
            sent, received = _relay(client, server, request) if is_open else (0, 0)
            self._record(Connection(request.host, request.port, sent=sent, received=received))

    def _judge(self, request: ProxyRequest) -> tuple[str, list[SocketAddress]]:
        """Why it is refused, or where it leads to: the very addresses that were looked at."""
        host, port = request.host, request.port
        if not self._access.covers(host, port):
            return NOT_ALLOWED, []
        try:
            found = list(self._resolve(host, port))
        except (OSError, UnicodeError):
            return "no such host", []
        allowed = [place for place in found if self._may_connect(host, ip_address(place[1][0].partition("%")[0]), port)]
        if not allowed and found:
            return f"it leads to {found[0][1][0]}, which is not a public address and not allowed by its number", []
        return ("", allowed) if allowed else ("no such host", [])

    def _may_connect(self, host: str, address: AnyAddress, port: int) -> bool:
        by_name = host == "localhost" and address.is_loopback
        by_number = any(
            allowed_address.host == str(address) and port in allowed_address.ports for allowed_address in self._access.addresses
        )
        named = any(allowed_address.host == host and port in allowed_address.ports for allowed_address in self._access.addresses)
        return is_public_address(address) or by_number or (by_name and named)

    def _record(self, connection: Connection) -> None:
        with self._lock:
            self._seen = join_connections((*self._seen, connection))[:MAX_KEPT_CONNECTIONS]


def _read_header(client: socket.socket) -> tuple[bytes, bytes]:
    held = b""
    while b"\r\n\r\n" not in held:
        data = client.recv(CHUNK_BYTES)
        held += data
        if not data or len(held) > MAX_HEADER_BYTES:
            raise BadProxyRequest
    header, _, rest = held.partition(b"\r\n\r\n")
    return header, rest


def _answer(client: socket.socket, code: int, text: str) -> None:
    body = f"afresh: {text}\n".encode()
    head = f"HTTP/1.1 {code} afresh\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    with contextlib.suppress(OSError):
        client.sendall(head.encode() + body)


def _connect_first(places: Sequence[SocketAddress]) -> socket.socket | None:
    for family, place in places:
        server = socket.socket(family, socket.SOCK_STREAM)
        server.settimeout(CONNECT_SECONDS)
        try:
            server.connect(place)
        except OSError:
            server.close()
            continue
        return server
    return None


def _relay(client: socket.socket, server: socket.socket, request: ProxyRequest) -> tuple[int, int]:
    """Pass on what each side says until both are silent; the bytes to the host, and from it."""
    waiting = {client: b"HTTP/1.1 200 Connection established\r\n\r\n" if request.tunnel else b"", server: request.first_bytes}
    passed = {client: -len(waiting[client]), server: 0}
    speaking, peers = {client, server}, {client: server, server: client}
    for peer in peers:
        peer.setblocking(False)
    with contextlib.suppress(OSError):
        while speaking or any(waiting.values()):
            if not (ready := _wait_for_sockets(speaking, waiting, peers)):
                break
            for peer, event in ready:
                if waiting[peer] and event & WRITABLE:
                    count = peer.send(waiting[peer])
                    waiting[peer], passed[peer] = waiting[peer][count:], passed[peer] + count
                elif peer in speaking and event & READABLE:
                    waiting[peers[peer]] = peer.recv(CHUNK_BYTES)
                    speaking -= set() if waiting[peers[peer]] else {peer}
                if peers[peer] not in speaking and not waiting[peer]:
                    peer.shutdown(socket.SHUT_WR)
                if peer not in speaking and not waiting[peers[peer]]:
                    peers[peer].shutdown(socket.SHUT_WR)
    return passed[server], max(0, passed[client])


def _wait_for_sockets(
    speaking: set[socket.socket], waiting: dict[socket.socket, bytes], peers: dict[socket.socket, socket.socket]
) -> list[tuple[socket.socket, int]]:
    """Sockets that can be read or written now; none after the time limit."""
    poll, by_number = select.poll(), dict[int, socket.socket]()
    for connection, peer in peers.items():
        reads = select.POLLIN if connection in speaking and not waiting[peer] else 0
        writes = select.POLLOUT if waiting[connection] else 0
        if reads or writes:
            poll.register(connection, reads | writes)
            by_number[connection.fileno()] = connection
    return [(by_number[number], event) for number, event in poll.poll(IDLE_SECONDS * 1000)] if by_number else []
