"""Stand-alone: with the network open for one address, tries to reach more than that, and prints as JSON what worked."""

import json
import os
import socket
import stat
import sys

PROXY = ("127.0.0.1", 3128)


def _ask_proxy(request):
    with socket.create_connection(PROXY, timeout=10) as connection:
        connection.sendall(request.encode())
        return connection.recv(100).split(b" ")[1:2] == [b"200"]


def _tunnel(place):
    return _ask_proxy(f"CONNECT {place} HTTP/1.1\r\n\r\n")


def reach_allowed_address(aim):
    return _tunnel(f"127.0.0.1:{aim['allowed']}")


def reach_allowed_address_directly(aim):
    with socket.create_connection(("127.0.0.1", aim["allowed"]), timeout=1):
        return True


def reach_another_port(aim):
    return _tunnel(f"127.0.0.1:{aim['tcp']}") or _ask_proxy(f"GET http://127.0.0.1:{aim['tcp']}/ HTTP/1.1\r\n\r\n")


def reach_it_by_other_names(aim):
    names = ("localhost", "127.1", "0x7f000001", "2130706433", "0.0.0.0", "127.0.0.2", "[::1]", "[::ffff:127.0.0.1]")
    return any(_tunnel(f"{name}:{port}") for name in names for port in (aim["tcp"], aim["allowed"]))


def reach_other_hosts(aim):
    return any(_tunnel(place) for place in ("b.invalid:443", "10.0.0.1:443", "169.254.169.254:80", "192.168.0.1:80"))


def inherit_a_socket(aim):
    return any(stat.S_ISSOCK(os.fstat(number).st_mode) for number in range(1024) if _is_open(number))


def _is_open(number):
    try:
        return bool(os.fstat(number))
    except OSError:
        return False


ATTEMPTS = (
    *(reach_allowed_address, reach_allowed_address_directly, reach_another_port, reach_it_by_other_names, reach_other_hosts),
    *(inherit_a_socket,),
)


def main():
    aim, worked = json.loads(sys.argv[1]), {}
    for attempt in ATTEMPTS:
        try:
            worked[attempt.__name__] = "it worked" if attempt(aim) else ""
        except OSError:
            worked[attempt.__name__] = ""
    print(json.dumps(worked))


if __name__ == "__main__":
    main()
