#!/usr/bin/env python3
"""ping.py ADDRESS [COUNT [OCTETS [SOURCE]]] - echo requests by the kernel's own IP; every reply must
carry back what was sent. Exits 1 when one is missing or differs."""
import os
import socket
import struct
import sys
from inet import checksum


def ask(sock, v6, addr, seq, body):
    kind, answer = (128, 129) if v6 else (8, 0)
    head = struct.pack(">BBHHH", kind, 0, 0, os.getpid() & 0xFFFF, seq)
    if not v6:  # the kernel fills in that of ICMPv6
        head = head[:2] + struct.pack(">H", checksum(head + body)) + head[4:]
    sock.sendto(head + body, (addr, 0))
    while True:
        got = sock.recv(65536)
        got = got if v6 else got[4 * (got[0] & 15):]
        if got[0] == answer and got[4:8] == head[4:8]:
            if not v6 and checksum(got) != 0:
                sys.exit("wrong checksum in the reply")
            return got[8:] == body


def main(addr, count=3, octets=56, source=None):
    v6 = ":" in addr
    sock = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_RAW,
                         socket.IPPROTO_ICMPV6 if v6 else socket.IPPROTO_ICMP)
    sock.settimeout(2)
    if source:
        sock.bind((source, 0))
    body = bytes(i & 0xFF for i in range(int(octets)))
    for seq in range(int(count)):
        if not ask(sock, v6, addr, seq, body):
            sys.exit("the reply carries something else")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except OSError as e:
        sys.exit(f"no reply: {e}")
