#!/usr/bin/python3
"""ub2e_oracle.py uboe|ub IN.pcap - what the draft's default rules make of each packet, in hex.

Written from draft-li-uboe-00 and UB 2.0 with struct only, as an oracle for `causeway convert`. Packets
that may not cross are left out. IN has nanosecond records: native UB (USER0) for uboe, Ethernet for ub.
"""
import struct
import sys

from make_fixtures import lph
from mangle import packets

MAC = bytes.fromhex("020000000002" "020000000001")
CCI_FECN = 4
FECN_TO_ECN = {0: 0, 2: 2, 1: 3, 3: 3}  # 5.2.1, the defaults
ECN_TO_FECN = {0: 0, 1: 2, 2: 2, 3: 3}


def checksum(header):
    s = sum(struct.unpack("!%dH" % (len(header) // 2), header))
    s = (s & 0xFFFF) + (s >> 16)
    return ~((s & 0xFFFF) + (s >> 16)) & 0xFFFF


def rewrite(ip, ecn):
    """ToS, one hop less, checksums: all that may change behind the UB prefix (4.1)."""
    b = bytearray(ip)
    if b[0] >> 4 == 4:
        b[1] = b[1] & 0xFC | ecn
        b[8] -= 1
        b[10:12] = bytes(2)
        b[10:12] = struct.pack("!H", checksum(bytes(b[:20])))
        udp = 20 if b[9] == 17 else None
    else:
        word = struct.unpack_from("!I", b)[0] & ~(3 << 20) | ecn << 20
        b[0:4] = struct.pack("!I", word)
        b[7] -= 1
        udp = 40
    if udp:
        b[udp + 6:udp + 8] = bytes(2)
    return bytes(b)


def is_uboe(ip):
    udp = 20 if ip[0] >> 4 == 4 else 40
    return ip[9 if udp == 20 else 6] == 17 and struct.unpack_from("!H", ip, udp + 2)[0] == 4792


def to_uboe(p):
    cci, npi = struct.unpack_from("!HI", p, 4)
    ip, npi = p[10:], npi & 0xFFFFFF
    if npi == 0:
        return None
    if cci >> 13 != CCI_FECN:
        ecn = 0
    else:
        ecn = FECN_TO_ECN[cci & 3] if is_uboe(ip) else cci & 3
    tag = struct.pack("!HH", 0x8100, npi & 0xFFF)
    return MAC + tag + (b"\x08\x00" if ip[0] >> 4 == 4 else b"\x86\xdd") + rewrite(ip, ecn)


def to_ub(p):
    at, vid = 12, 0
    while p[at:at + 2] in (b"\x81\x00", b"\x88\xa8"):
        vid = struct.unpack_from("!H", p, at + 2)[0] & 0xFFF
        at += 4
    ip = p[at + 2:]
    tos = struct.unpack_from("!H", ip)[0] >> 4 & 3 if ip[0] >> 4 == 6 else ip[1] & 3
    fecn = ECN_TO_FECN[tos] if is_uboe(ip) else tos
    # The ECN bits are unused inside the UB domain; zero is what UB 2.0 recommends.
    rest = struct.pack("!HI", CCI_FECN << 13 | fecn, vid or 1) + rewrite(ip, 0)
    return lph(len(rest), 3 if ip[0] >> 4 == 4 else 4, rt=2) + rest


def main(target, path):
    for p in packets(open(path, "rb").read()):
        out = (to_uboe if target == "uboe" else to_ub)(p)
        if out:
            print(out.hex())


if __name__ == "__main__":
    main(*sys.argv[1:])
