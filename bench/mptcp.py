#!/usr/bin/env python3
"""mptcp.py serve ADDRESS PORT | send ADDRESS PORT SECONDS - as much as goes over one MPTCP connection.

iperf3 of Debian 12 has no MPTCP. The server prints octets and seconds as JSON.
"""
import json
import socket
import sys
import time

IPPROTO_MPTCP = 262


def serve(address, port):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP) as s:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        s.bind((address, port))
        s.listen(1)
        c, _ = s.accept()
        octets, began, buf = 0, time.monotonic(), bytearray(1 << 20)
        while n := c.recv_into(buf):
            octets += n
        print(json.dumps({"octets": octets, "seconds": time.monotonic() - began}))


def send(address, port, seconds):
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, IPPROTO_MPTCP) as s:
        s.connect((address, port))
        end, data = time.monotonic() + seconds, bytes(1 << 18)
        while time.monotonic() < end:
            s.sendall(data)


def main(args):
    if len(args) == 3 and args[0] == "serve":
        serve(args[1], int(args[2]))
    elif len(args) == 4 and args[0] == "send":
        send(args[1], int(args[2]), float(args[3]))
    else:
        print(__doc__, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
