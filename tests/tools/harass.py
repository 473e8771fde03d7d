#!/usr/bin/python3
"""harass.py NEAR FAR [SEED] - a hostile station on the link between NEAR and FAR, two ends of a veth
pair that carry native UB over IPv4: of each packet that arrives at one of them, some come again, damaged
behind the UDP header, with a right ICRC. Ends with SIGTERM and prints how many it sent.
"""
import random
import select
import signal
import socket
import struct
import sys
import zlib

ETH_P_ALL, OUTGOING, ETHERTYPE = 3, 4, b"\x88\xb6"
IP = 14 + 10  # Ethernet; LPH, CCI, NPI
TPH = IP + 20 + 8


def icrc(p):
    """Over the IPv4 packet without the ICRC: TOS, TTL and both checksums as ones (draft 4.2)."""
    p = bytearray(p)
    for at in (1, 8, 10, 11, 26, 27):
        p[at] = 0xff
    return struct.pack("<I", zlib.crc32(p))


def damage(r, frame):
    end = IP + struct.unpack_from(">H", frame, IP + 2)[0]
    p = bytearray(frame[:end])
    for _ in range(r.choice((0, 1, 1, 2, 4, 8))):
        # headers rather than payload, and numbers near to what they were
        at = TPH + min(int(r.expovariate(1 / 16)), end - TPH - 5)
        p[at] = r.choice((r.randrange(256), p[at] ^ 1 << r.randrange(8), (p[at] + 1) & 255))
    p[end - 4:] = icrc(p[IP:end - 4])
    return bytes(p)


def main(near, far, seed="1"):
    r, sent, ends, stop = random.Random(int(seed)), 0, {}, []
    signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
    for name in (near, far):
        ends[name] = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
        ends[name].bind((name, ETH_P_ALL))
    other = {ends[near]: ends[far], ends[far]: ends[near]}
    while not stop:
        for s in select.select(list(other), [], [], 0.05)[0]:
            frame, info = s.recvfrom(16384)
            if info[2] == OUTGOING or frame[12:14] != ETHERTYPE or len(frame) < TPH + 20 or r.random() > 0.2:
                continue
            other[s].send(damage(r, frame))
            sent += 1
    print(sent)


if __name__ == "__main__":
    main(*sys.argv[1:])
