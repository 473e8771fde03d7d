#!/usr/bin/python3
"""mangle.py IN.pcap OUT.pcap N [SEED] - N damaged copies of a capture's packets, always the same.

Nanosecond little-endian pcap in and out. Some octets change, some packets are cut or grow a tail.
"""
import random
import struct
import sys


def packets(data):
    at = 24
    while at < len(data):
        n = struct.unpack_from("<I", data, at + 8)[0]
        yield data[at + 16:at + 16 + n]
        at += 16 + n


def damage(r, p):
    p = bytearray(p)
    for _ in range(r.choice((0, 1, 1, 2, 4))):
        if p:
            p[r.randrange(min(len(p), 100))] = r.randrange(256)
    how = r.randrange(8)
    if how == 0:
        p = p[:r.randrange(len(p) + 1)]
    elif how == 1:
        p += r.randbytes(r.randrange(1, 30))
    elif how == 2:
        p = bytearray(r.randbytes(r.randrange(0, 120)))
    return bytes(p)


def main(src, dst, n, seed="1"):
    data = open(src, "rb").read()
    r = random.Random(int(seed))
    all_of_them = list(packets(data))
    with open(dst, "wb") as f:
        f.write(data[:24])
        for i in range(int(n)):
            p = damage(r, r.choice(all_of_them))
            f.write(struct.pack("<IIII", 1700000000 + i, i, len(p), len(p)) + p)


if __name__ == "__main__":
    main(*sys.argv[1:])
