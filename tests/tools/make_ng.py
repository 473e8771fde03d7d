#!/usr/bin/env python3
"""make_ng.py FRAMES.pcap OUT.pcapng [FAULT] - a pcapng file as few programs write one: a big-endian
section of two interfaces (Ethernet with nanoseconds, USER0 cut at 64 octets with 2^-20 s and an
offset), enhanced, simple and old packet blocks, comments, a block that nobody knows, then a
little-endian section. FRAMES.pcap holds UB in Ethernet. FAULT breaks one block."""
import logging
import struct
import sys
logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.utils import rdpcap  # noqa: E402

ORDER = 0x1A2B3C4D


def pad(octets):
    return octets + bytes(-len(octets) % 4)


def block(e, kind, body):
    body = pad(body)
    size = struct.pack(e + "I", len(body) + 12)
    return struct.pack(e + "I", kind) + size + body + size


def option(e, code, value):
    return struct.pack(e + "HH", code, len(value)) + pad(value)


def section(e):
    return block(e, 0x0A0D0D0A, struct.pack(e + "IHHq", ORDER, 1, 0, -1))


def interface(e, link, snap, *options):
    return block(e, 1, struct.pack(e + "HHI", link, 0, snap) + b"".join(options))


def packet(e, interface, units, octets, length, *options):
    return block(e, 6, struct.pack(e + "IIIII", interface, units >> 32, units & 0xFFFFFFFF, len(octets),
                                   length) + pad(octets) + b"".join(options))


def main(source, out, fault=""):
    frames = [bytes(p) for p in rdpcap(source)][:8]
    e = ">"
    blocks = [section(e), interface(e, 1, 0, option(e, 2, b"eth0"), option(e, 9, b"\x09"), option(e, 0, b"")),
              interface(e, 147, 64, option(e, 9, bytes([0x80 | 20])),
                        option(e, 14, struct.pack(e + "q", 1700000000)), option(e, 0, b""))]
    for i, f in enumerate(frames):
        blocks.append(packet(e, 0, 1760000000123456789 + i, f, len(f), option(e, 1, b"r\xc3\xa9sum\xc3\xa9 \x1b[31m"),
                             option(e, 0, b"")))
        blocks.append(packet(e, 1, (5 << 20) + i, f[14:78], len(f) - 14))
    blocks.append(block(e, 3, struct.pack(e + "I", len(frames[0])) + frames[0]))
    blocks.append(block(e, 2, struct.pack(e + "HHIIII", 0, 7, 0, 99, len(frames[1]), len(frames[1])) + frames[1]))
    blocks.append(block(e, 0x0BAD, b"whatever"))
    e = "<"
    blocks += [section(e), interface(e, 1, 0), packet(e, 0, 1600000000000001, frames[2], len(frames[2]))]
    bad = {"": b"", "interface": packet(e, 1, 0, b"1234", 4), "length": struct.pack(e + "II", 6, 30),
           "behind": packet(e, 0, 0, b"1234", 4)[:-4] + struct.pack(e + "I", 16),
           "caplen": block(e, 6, struct.pack(e + "IIIII", 0, 0, 0, 5000, 5000) + b"1234"),
           "order": block(e, 0x0A0D0D0A, b"\x1a\x2b\x3c\x4e" + bytes(12)), "cut": packet(e, 0, 0, b"1234", 4)[:-7]}
    blocks.append(bad[fault])
    with open(out, "wb") as f:
        f.write(b"".join(blocks))


main(*sys.argv[1:])
