"""Stand-alone: runs in the sandbox before a command that may use the network. It opens the proxy's port on the sandbox's own
loopback, hands the listening socket to the proxy outside through an inherited descriptor, closes that, and becomes the command.

Started as `python -I -S network_entry.py DESCRIPTOR PORT PROGRAM ARGUMENT...`. The command inherits nothing that leads out.
"""

import os
import socket
import sys


def main():
    with socket.socket(fileno=int(sys.argv[1])) as channel, socket.socket() as listening:
        listening.bind(("127.0.0.1", int(sys.argv[2])))
        listening.listen(128)
        socket.send_fds(channel, [b"x"], [listening.fileno()])
    os.execv(sys.argv[3], sys.argv[3:])


if __name__ == "__main__":
    main()
