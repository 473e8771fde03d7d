#!/usr/bin/env python3
"""dhcp.py serve RELAY HTYPE | ask INTERFACE HTYPE [ADDRESS] - one DHCPDISCOVER and its DHCPOFFER. The server
wants the message from that relay, with giaddr and one hop; the client wants its transaction back by
broadcast (RFC 4390: hardware type 32, no hardware address, a client identifier)."""
import socket
import struct
import sys
import time

XID, COOKIE = 0x1234ABCD, b"\x63\x82\x53\x63"
CLIENT_ID = b"\x3d\x0f\xff\0\0\0\1\0\3\0\x20\0\0\0\0\0\x10"


def message(op, htype, hops, giaddr, yiaddr, options):
    hlen, mac = (0, bytes(16)) if htype == 32 else (6, b"\2\0\0\0\0\7" + bytes(10))
    return struct.pack(">BBBBIHH4s4s4s4s", op, htype, hlen, hops, XID, 0, 0x8000, bytes(4), yiaddr,
                       bytes(4), giaddr) + mac + bytes(192) + COOKIE + options + b"\xff"


def serve(relay, htype):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(("", 67))
    sock.settimeout(25)
    print("serving", flush=True)
    while True:
        got, (who, port) = sock.recvfrom(2000)
        if who == relay:
            break
    if (got[0], got[1], got[3]) != (1, htype, 1) or got[24:28] != socket.inet_aton(relay):
        sys.exit(f"op {got[0]} htype {got[1]} hops {got[3]} giaddr {got[24:28].hex()}")
    if port != 67 or (htype == 32 and CLIENT_ID not in got):
        sys.exit("port or client identifier")
    offer = message(2, htype, 0, got[24:28], socket.inet_aton("192.0.2.77"), b"\x35\1\2")
    sock.sendto(offer, (relay, 67))


def ask(ifname, htype, address="192.0.2.77"):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, ifname.encode())
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    sock.bind(("", 68))
    sock.settimeout(1)
    end = time.monotonic() + 20
    while time.monotonic() < end:
        sock.sendto(message(1, htype, 0, bytes(4), bytes(4), b"\x35\1\1" + CLIENT_ID),
                    ("255.255.255.255", 67))
        try:
            got = sock.recv(2000)
        except TimeoutError:
            continue
        if got[0] == 2 and got[4:8] == struct.pack(">I", XID) and got[16:20] == socket.inet_aton(address):
            return
        sys.exit("another answer")
    sys.exit("no offer")


if sys.argv[1] == "serve":
    serve(sys.argv[2], int(sys.argv[3]))
else:
    ask(sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
