#!/usr/bin/python3
"""make_fixtures.py DIR - write the captures of tests/pcap anew.

Everything comes from scapy, struct and zlib: no code of Causeway takes part, so the fixtures are an
independent oracle. The run is deterministic; the files are committed.
"""
import struct
import sys
import zlib

from scapy.all import (ARP, Dot1AD, Dot1Q, Ether, IP, IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment,
                       IPv6ExtHdrHopByHop, ICMP, PcapNgWriter, Raw, TCP, UDP, PcapWriter)
from scapy.layers.inet import IPOption_Router_Alert

ETH = dict(src="02:00:00:00:00:01", dst="02:00:00:00:00:02")
V4 = dict(src="10.1.2.3", dst="10.4.5.6")
V6 = dict(src="2001:db8:1::a", dst="2001:db8:2::b")


def uncovered(ip):
    """The IP packet with the octets as ones that the ICRC does not cover (UB 2.0 5.3.7)."""
    b = bytearray(ip)
    if b[0] >> 4 == 4:
        b[1] = b[8] = b[10] = b[11] = 0xFF
        udp = 20
    else:
        b[0:4] = b"\x6f\xff\xff\xff"
        b[7] = 0xFF
        udp = 40
    b[udp + 6:udp + 8] = b"\xff\xff"
    return bytes(b)


def seal(ip, order="<"):
    return ip + struct.pack(order + "I", zlib.crc32(uncovered(ip)))


def uboe_ip(v, tph, ecn=2, sport=0xC000, dscp=0, ident=0, good=True):
    """IP/UDP around TPH .. payload, with the ICRC inside the lengths."""
    udp = struct.pack("!HHHH", sport, 4792, 8 + len(tph) + 4, 0)
    if v == 4:
        h = IP(**V4, tos=dscp << 2 | ecn, flags="DF", id=ident, ttl=64, proto=17,
               len=20 + 8 + len(tph) + 4)
    else:
        h = IPv6(**V6, tc=dscp << 2 | ecn, fl=0x12345, nh=17, hlim=64, plen=8 + len(tph) + 4)
    p = seal(bytes(h) + udp + tph)
    return p if good else p[:-1] + bytes([p[-1] ^ 0x40])


def rtph(op=1, last=1, nlp=0, a=1, pad=0, psn=0x0A0B0C, msn=0x112233, rsp=0):
    return (bytes([last << 7 | op, pad << 4 | nlp]) + b"\x01\x02\x03\x04\x05\x06" +
            bytes([a << 7]) + psn.to_bytes(3, "big") + bytes([rsp]) + msn.to_bytes(3, "big"))


def btah(op=3):
    return bytes([op, 0x10]) + b"\x00\x01\x00\x00\x00\x07"


def write_body(payload):
    """BTAH Write, address header, payload and its padding."""
    head = bytes.fromhex("0310000100000007") + bytes.fromhex("0102030405060708" "012345ab")
    return head + struct.pack("!I", len(payload)) + payload + bytes(-len(payload) % 4)


def lph(n, cfg, vl=0, rt=2):
    """LPH of a packet with n octets behind it (UB 2.0 table 4-1, CRC mode)."""
    flits, left, code = 0, n, None
    while code is None:
        at = flits % 32  # in its block, whose last flit ends with the block CRC
        cap = 20 - (4 if flits == 0 else 2 if at == 0 else 0) - (4 if at == 31 else 0)
        flits += 1
        if left <= (cap if at == 31 else cap - 4):
            code = left - 1
        elif left <= cap:
            code = left - 1 if left >= 17 else left + 11
            flits += 1
        else:
            left -= cap
    blocks, in_last = -(-flits // 32), (flits - 1) % 32
    return bytes([vl >> 3, (vl & 7) << 5 | cfg, rt << 6 | (blocks - 1) << 2 | in_last >> 3,
                  (in_last & 7) << 5 | code])


def native(ip, npi=1, cci=0x8002, vl=0, rt=2):
    rest = struct.pack("!HI", cci, npi) + ip
    return lph(len(rest), 3 if ip[0] >> 4 == 4 else 4, vl, rt) + rest


def transports(v):
    yield "write", uboe_ip(v, rtph() + write_body(bytes(range(1, 9))))
    yield "tpack", uboe_ip(v, rtph(op=2, last=0, a=0), sport=0xC001)
    yield "cnp", uboe_ip(v, rtph(op=8, last=0, a=0) + b"\xc0" + bytes(15), ecn=0)
    yield "utp", uboe_ip(v, bytes([0, 0x30]) + bytes(14) + bytes.fromhex("0010000208000007") +
                         bytes.fromhex("0000000500000000") + b"hello" + bytes(3))
    yield "big", uboe_ip(v, rtph(a=0) + write_body(bytes(i & 0xFF for i in range(4096))))


def uboe():
    for v in (4, 6):
        for name, ip in transports(v):
            typ = 0x0800 if v == 4 else 0x86DD
            yield Ether(**ETH, type=typ) / Raw(ip)
            if name != "big":
                yield Ether(**ETH) / Dot1Q(vlan=7, prio=3, type=typ) / Raw(ip)
    yield Ether(**ETH) / Dot1AD(vlan=100) / Dot1Q(vlan=7, type=0x0800) / Raw(
        next(ip for n, ip in transports(4)))
    yield Ether(**ETH, type=0x0800) / Raw(uboe_ip(4, rtph() + write_body(b"\x01" * 8), good=False))


def ub():
    n = 0
    for v in (4, 6):
        for name, ip in transports(v):
            n += 1
            yield native(ip, npi=7, vl=3)
            if name == "write":
                for cci in (0x8000, 0x8001, 0x8003, 0x9003, 0x0000, 0x4002):
                    yield native(ip, npi=0x1000001, cci=cci, rt=1)
                yield native(ip, npi=0)
    yield native(uboe_ip(4, rtph() + write_body(b"\x02" * 8), good=False), npi=7)
    yield native(bytes(IP(**V4) / TCP(sport=1024, dport=80, flags="S")), npi=7)


def mixed():
    """Ethernet and IP without UB: good ones first, then every way to be wrong."""
    u = UDP(sport=1234, dport=5678)
    yield Ether(**ETH) / IP(**V4, id=0x1234, tos=0x2A) / u / Raw(b"abcdefgh")
    yield Ether(**ETH) / IPv6(**V6, tc=0x2A, fl=0xABCDE) / u / Raw(b"odd")
    yield Ether(**ETH) / Dot1Q(vlan=7, prio=5, id=1) / IP(**V4) / u
    yield Ether(**ETH) / Dot1AD(vlan=100) / Dot1Q(vlan=7) / IPv6(**V6) / u / Raw(b"x" * 100)
    yield Ether(**ETH) / IP(**V4, options=[IPOption_Router_Alert()]) / u / Raw(b"options")
    yield Ether(**ETH) / IPv6(**V6) / IPv6ExtHdrHopByHop() / IPv6ExtHdrDestOpt() / u / Raw(b"ext")
    yield Ether(**ETH) / IP(**V4) / TCP(sport=1024, dport=80, flags="S")
    yield Ether(**ETH) / IP(**V4) / ICMP() / Raw(b"ping")
    yield Ether(**ETH) / ARP(psrc=V4["src"], pdst=V4["dst"])
    yield bytes(Ether(**ETH) / IP(**V4) / u / Raw(b"padded")).ljust(60, b"\0")
    yield bytes(Ether(**ETH) / IP(**V4) / u / Raw(b"trailer")) + bytes(range(1, 20))
    yield Ether(**ETH) / IP(**V4) / UDP(sport=1, dport=2, chksum=0) / Raw(b"no checksum")
    yield Ether(**ETH, type=0x1234) / Raw(b"nobody claims this")
    yield Ether(**ETH) / IP(**V4, flags="MF", frag=0) / u / Raw(b"first....")
    yield Ether(**ETH) / IP(**V4, frag=100) / Raw(b"later fragment")
    yield Ether(**ETH) / IPv6(**V6) / IPv6ExtHdrFragment(offset=5, m=1, id=0x01020304) / Raw(b"frag")
    yield Ether(**ETH) / IP(**V4, chksum=0xBEEF) / u
    yield Ether(**ETH) / IP(**V4) / UDP(sport=1, dport=2, chksum=0xBEEF) / Raw(b"sum")
    yield Ether(**ETH) / IP(**V4) / UDP(sport=1, dport=2, len=200) / Raw(b"length")
    yield Ether(**ETH) / IP(**V4, len=2000) / u
    yield Ether(**ETH) / IP(**V4, ihl=3) / u
    yield Ether(**ETH) / IP(**V4, version=7) / u
    yield Ether(**ETH) / IPv6(**V6, plen=9000) / u
    yield bytes(Ether(**ETH) / IP(**V4) / u)[:30]
    yield bytes(Ether(**ETH) / IPv6(**V6) / u)[:40]
    yield bytes(Ether(**ETH))[:9]
    yield Ether(**ETH) / Dot1Q(vlan=1) / Dot1Q(vlan=2) / Dot1Q(vlan=3) / Dot1Q(vlan=4) / Dot1Q(vlan=5)


def save(path, packets, linktype=1, nano=True):
    w = PcapWriter(path, linktype=linktype, nano=nano, sync=True)
    w.write_header(None)
    for i, p in enumerate(packets):
        b = bytes(p)
        w._write_packet(b, sec=1700000000 + i, usec=123456789 + i if nano else 123456 + i,
                        caplen=len(b), wirelen=len(b))
    w.close()


def save_ng(path, packets):
    w = PcapNgWriter(path)
    for i, p in enumerate(packets):
        p = Ether(bytes(p))
        p.time = 1700000000 + i
        w.write(p)
    w.close()


def main(where):
    save(where + "/mixed-ip.pcap", mixed())
    save(where + "/mixed-micro.pcap", list(mixed())[:3], nano=False)
    save(where + "/uboe.pcap", uboe())
    save(where + "/ub.pcap", ub(), linktype=147)
    save(where + "/ub-eth.pcap",
         (Ether(**ETH, type=0x88B6) / Raw(p) for p in ub()))
    save_ng(where + "/mixed.pcapng", list(mixed())[:3])


if __name__ == "__main__":
    main(sys.argv[1])
