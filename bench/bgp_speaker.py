#!/usr/bin/python3
"""bgp_speaker.py FROM TO AS PREFIXES - one iBGP session that announces PREFIXES /24 of IPv4 with attribute 39,
as many in an UPDATE as fit. Each line of the standard input is `announce` or `withdraw`: all of them."""
import select
import socket
import struct
import sys

MARKER, ROOM = b"\xff" * 16, 4096 - 23
FROM, TO, AS, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])


def message(kind, body=b""):
    return MARKER + struct.pack(">HB", 19 + len(body), kind) + body


def update(withdrawn, attributes, nlri):
    return message(2, struct.pack(">H", len(withdrawn)) + withdrawn
                   + struct.pack(">H", len(attributes)) + attributes + nlri)


def packed(room):
    """The prefixes, in pieces that fit."""
    per = room // 4
    for first in range(0, COUNT, per):
        yield b"".join(b"\x18" + struct.pack(">I", (20 << 24) + (i << 8))[:3]
                       for i in range(first, min(first + per, COUNT)))


def updates(what):
    hop = socket.inet_aton(FROM)
    if what == "withdraw":
        return b"".join(update(nlri, b"", b"") for nlri in packed(ROOM))
    attributes = (bytes.fromhex("40010100 400200 400304") + hop + bytes.fromhex("40050400000064 c02710 00010104")
                  + hop + bytes.fromhex("fffe0004") + hop)
    return b"".join(update(b"", attributes, nlri) for nlri in packed(ROOM - len(attributes)))


def main():
    s = socket.create_connection((TO, 179), source_address=(FROM, 0))
    capability = bytes([1, 4, 0, 1, 0, 1])
    s.sendall(message(1, struct.pack(">BHH4sB", 4, AS, 9, socket.inet_aton(FROM), len(capability) + 2)
                      + bytes([2, len(capability)]) + capability) + message(4))
    commands = sys.stdin
    while True:
        ready, _, _ = select.select([s] + [commands] * (commands is not None), [], [], 2)
        if s in ready and not s.recv(1 << 16):
            sys.exit("the neighbour has closed the session")
        line = commands.readline().strip() if commands in ready else ""
        if line:
            s.sendall(updates(line))
        elif commands in ready:
            commands = None  # go on until killed
        s.sendall(message(4))


if __name__ == "__main__":
    main()
