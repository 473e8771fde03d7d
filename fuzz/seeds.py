#!/usr/bin/python3
"""seeds.py - writes the hand-made seeds of fuzz/corpus (scapy builds the packets).

Run it after adding a seed; files with speaking names are never removed by fuzz/run.
"""
import pathlib
import logging

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.all import (Dot1AD, Dot1Q, Ether, IP, IPv6, ICMP, TCP, UDP, Raw, IPOption_RR,
                       IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
                       IPv6ExtHdrRouting, ARP, RawPcapReader,
                       ICMPv6ND_NS, ICMPv6NDOptSrcLLAddr, ICMPv6EchoRequest,
                       ICMPv6MLReport2, ICMPv6MLDMultAddrRec)

HERE = pathlib.Path(__file__).resolve().parent
ETH = Ether(dst="02:11:22:33:44:55", src="02:66:77:88:99:aa")
V4 = IP(src="10.1.2.3", dst="10.4.5.6", tos=0xb9, id=0x1234, ttl=63, flags="DF")
V6 = IPv6(src="2001:db8::1", dst="2001:db8:1::2", tc=0xb9, fl=0x12345, hlim=62)
U = UDP(sport=0xc123, dport=4792, chksum=0)

PACKETS = {
    "arp": ETH / ARP(psrc="10.0.0.1", pdst="10.0.0.2"),
    "v4-udp": ETH / V4 / UDP(sport=7, dport=9) / b"payload!",
    "v4-tcp": ETH / V4 / TCP(sport=7, dport=9) / b"payload!",
    "v4-icmp": ETH / V4 / ICMP(),
    "v4-options": ETH / IP(src="10.1.2.3", dst="10.4.5.6", options=[IPOption_RR()]) / U / b"x",
    "v4-fragment": ETH / IP(src="10.1.2.3", dst="10.4.5.6", flags="MF", frag=3) / b"12345678",
    "v4-padded": ETH / V4 / UDP(sport=7, dport=9) / b"p" / Raw(b""),
    "v6-udp": ETH / V6 / UDP(sport=7, dport=9) / b"payload!",
    "v6-ext": ETH / V6 / IPv6ExtHdrHopByHop() / IPv6ExtHdrRouting() / IPv6ExtHdrDestOpt() / U / b"y",
    "v6-fragment": ETH / V6 / IPv6ExtHdrFragment(offset=5, m=1, id=7) / b"12345678",
    "vlan": ETH / Dot1Q(vlan=100, prio=5) / V4 / U / b"z",
    "cn1": ETH / V4 / UDP(sport=50000, dport=49791) / bytes.fromhex(
        "0a0b0c0d0e0f101111000000c12312b7b9123456"),
    "cn2-packed": ETH / V4 / UDP(sport=50000, dport=49792) / bytes.fromhex(
        "0a0b0c0d0e0f101111c12312b7b90000009a8b7c6d"),
    "qinq": ETH / Dot1AD(vlan=200) / Dot1Q(vlan=100) / V6 / U / b"z",
    "vlan-deep": ETH / Dot1Q() / Dot1Q() / Dot1Q() / Dot1Q() / Dot1Q() / V4,
}

UETX = UDP(sport=0xc001, dport=4792)


def uetx(op, flags, length, rest):
    head = (1 << 156 | op << 148 | flags << 144 | 0x131415 << 120 | 0x161718 << 96 |
            0x191a1b1c << 64 | 0x1d1e1f21 << 32 | length << 16).to_bytes(20, "big")
    return head + rest


def uec(type_, next_, rest, flags=0):
    return (type_ << 11 | next_ << 7 | flags).to_bytes(2, "big") + rest + b"\xc0\xc1\xc2\xc3"


PDS = {2: 10, 3: 10, 4: 6, 5: 6, 6: 2, 7: 10, 8: 30, 9: 38, 10: 14, 11: 14, 12: 30, 13: 14, 14: 14}
SES = {0: 0, 1: 20, 2: 32, 3: 44, 4: 12, 5: 20, 6: 12}
OCTETS = bytes(range(1, 128))
PACKETS.update({
    "uetx-send": ETH / V4 / UETX / uetx(5, 11, 8, b"payload!"),
    "uetx-ack": ETH / V6 / UETX / uetx(7, 1, 0, b"\x26\x27\x28\x29"),
    "uetx-nack": ETH / V4 / UETX / uetx(10, 0, 4, b"\x26\x27\x28\x29\4\0\0\0"),
    "uetx-bad-length": ETH / V4 / UETX / uetx(5, 11, 9, b"payload!"),
    "uec-tss": ETH / V4 / UDP(sport=7, dport=4793) / (b"\x0c" + OCTETS[:40]),
    "uec-native": ETH / IP(src="10.1.2.3", dst="10.4.5.6", proto=253) /
    (b"\xe0\xe1\0\0" + uec(2, 1, OCTETS[:30], 4)),
    "uec-on-4792": ETH / V4 / UETX / uec(2, 0, OCTETS[:10]),
})
PACKETS.update({f"uec-{t}-{n}": ETH / V4 / UDP(sport=7, dport=4793) /
                uec(t, n, OCTETS[:PDS[t]] + b"\1\1" + OCTETS[:SES[n]])
                for t in PDS for n in ((0,) if t in (10, 11, 12) else SES if t == 2 else (t % 7,))})

def smp(mgmt_class, attribute):
    """A subnet management packet in a RoCEv2 datagram to QP0."""
    mad = bytes([1, mgmt_class, 1, 1, 0, 0, 1, 2]) + OCTETS[:8] + attribute.to_bytes(2, "big") + bytes(6)
    return bytes.fromhex("6400ffff0000000000000001 0000000000000000") + mad + OCTETS + bytes(105) + b"icrc"


PACKETS.update({f"smp-{c}-{a}": ETH / V4 / UDP(sport=7, dport=4791) / smp(c, a)
                for c in (0x01, 0x81) for a in (0x11, 0x15)})

LINK_BITS = {147: b"\1", 197: b"\x41", 242: b"\x81", 247: b"\xc1"}

FIELDS = ["0", "65535", "0x1f", "UDP", "10.1.2.3", "2001:db8::7", "02:11:22:33:44:55", "00ff10",
          "18446744073709551616", "-1", "4294967296"]
TEXTS = ["10.1.2.3", "2001:db8::7", "::ffff:10.1.2.3", "1:2:3:4:5:6:7:8", "::", "1::",
         "02:11:22:33:44:55", "02-11-22-33-44-55", "00ff10aa", "1:2:3:4:5:6:1.2.3.4",
         "fe80::1:0:0:1", "256.1.1.1", "01.2.3.4", "1::2::3"]


def put(target, name, data):
    path = HERE / "corpus" / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


LOCAL = {
    "arp": (0, ARP(psrc="10.0.0.1", pdst="10.0.0.2")),
    "ns": (1, IPv6(src="fe80::1", dst="ff02::1:ff00:2", hlim=255) / ICMPv6ND_NS(tgt="fe80::2") /
           ICMPv6NDOptSrcLLAddr(lladdr="02:11:22:33:44:55")),
    "build": (2, IPv6(src="2001:db8::1", dst="2001:db8::2") / bytes(range(32, 90))),
    "echo4": (3, IP(src="10.0.0.1", dst="10.0.0.2") / ICMP() / b"abc"),
    "echo6": (3, IPv6(src="2001:db8::1", dst="2001:db8::2") / ICMPv6EchoRequest(data=b"abc")),
    "error4": (4, IP(src="10.0.0.1", dst="10.0.0.2", ttl=1) / UDP(sport=7, dport=9) / bytes(600)),
    "error6": (4, IPv6(src="2001:db8::1", dst="2001:db8::2", hlim=1) / UDP(sport=7, dport=9) / bytes(1300)),
    "error-icmp": (4, IP(src="10.0.0.1", dst="10.0.0.2", ttl=1) / ICMP(type=11)),
}
def ip4(proto, body, options=b""):
    """A packet whose checksums are scapy's, or in the body."""
    p = IP(src="10.0.0.9", dst="224.0.0.22", ttl=1, proto=proto) / Raw(body)
    return bytes(p)


def igmp(body):
    sum_ = sum(int.from_bytes(body[i:i + 2], "big") for i in range(0, len(body), 2))
    sum_ = ~((sum_ & 0xffff) + (sum_ >> 16)) & 0xffff
    return ip4(2, body[:2] + sum_.to_bytes(2, "big") + body[4:])


DHCP = bytes([1, 32, 0, 0]) + bytes.fromhex("01020304 00008000") + bytes(228) + bytes.fromhex(
    "63825363 350101 ff")
# which reader (see iprelay.c), packet
RELAY = {
    "igmp3-report": (0, igmp(bytes.fromhex("22000000 00000002 04000000 ef010203 03000001 ef010204"
                                           "0a000001"))),
    "igmp2-leave": (0, igmp(bytes.fromhex("17000000 ef010203"))),
    "mld2-report": (0, bytes(IPv6(src="fe80::9", dst="ff02::16", hlim=1) / IPv6ExtHdrHopByHop() /
                             ICMPv6MLReport2(records_number=1, records=[
                                 ICMPv6MLDMultAddrRec(rtype=4, dst="ff05::1:3")]))),
    "dhcp-request": (1, bytes(IP(src="0.0.0.0", dst="255.255.255.255") / UDP(sport=68, dport=67) /
                              Raw(DHCP))),
    "dhcp-reply": (1, bytes(IP(src="192.0.2.2", dst="10.0.0.1") / UDP(sport=67, dport=67) /
                            Raw(b"\2" + DHCP[1:24] + bytes([10, 0, 0, 1]) + DHCP[28:]))),
    "roce-arp": (2, bytes.fromhex(
        "450000700000400040113f770a010001ef010203c00012b7005c00006440ffff00ffffff00000001"
        "00000b1b0000004808060000002008001404000100000048fe8000000000000000000000001000040a4d0001"
        "00000000000000000000000000000000000000000a4d0002c096fcb9")),
}
FILTERS = ["family=ub", "not (vlan=100 or npi=7) and icrc=bad", "addr=10.0.0.0/8",
           "src=2001:db8::/32 and port>=4792", "ipv4.ttl<64", "dst=02:11:22:33:44:55",
           "verdict!=ok", "layer=udp", "((", "a=b"]
LINES = ['{"layers":[{"layer":"eth"},{"layer":"ipv4","src":"10.0.0.1"},{"layer":"udp"},'
         '{"layer":"utph"}],"payload":{"repeat":"ab","length":9},"icrc":"bad"}',
         '{"time":"1700000000.5","link":"ub","payload":{"text":"x"},"comment":"c"}']
REQUESTS = ['{"cmd":"version"}', '{"cmd":"help"}', '{"cmd":"show","what":"counters","id":7}',
            '{"cmd":"reload","config":{"causeway:causeway":{}}}', '[1]', '{"cmd":1}']
HTTP = ["GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n", "HEAD /metrics HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n", "POST /metrics HTTP/1.1\r\nContent-Length: 2\r\n\r\nxx",
        "GET /metrics HTTP/1.1\nConnection: close\n\n"]
# which parser (see pnc.c), block
PNC = {
    "isis-135": (0, "01020304600aff006303040121"),
    "isis-237": (3, "f456010203042080" "20010db8111213142122232431323334" "03040121"),
    "isis-tlvs": (9, "870f00000001600a0000010504c8210000" "870d0000000a600aff006303040121"),
    "ospf2": (8, "00010018012000400aff0001" "0063000261620000" "000b000420000000"),
    "ospf3-intra": (7, "000020010102030405060708" "000600200001020380220000"
                    "20010db8111213142122232431323334" "0025000420000000"),
    "ospf3-inter": (4, "000300180001020321020000fd00000000000000" "0025000420000000"),
    "bgp-v4": (10, "000000214001010040020040030" "40a010001c02710000101040a010001fffe00040a0a0b0c"
               "18c00002"),
    "bgp-v6": (11, "00000051" "40010100400200" "800e1c00020110" "20010db80102030405060708090a0b0c"
               "003020010db80001" "e027280002011020010db80102030405060708090a0b0cfffe0010"
               "fd000000111213142122232431323334"),
}
CONFIGS = ["{}", '{"causeway:causeway":{}}']


def captured():
    """Packets of the captures in tests/pcap, with their link type."""
    for path in sorted((HERE.parent / "tests" / "pcap").glob("*.pcap")):
        if path.stem == "rxe-pairs":
            continue  # cut packets, for the target qpmap
        for i, p in enumerate(RawPcapReader(str(path))):
            link = RawPcapReader(str(path)).linktype
            yield f"{path.stem}-{i + 1}", LINK_BITS.get(link, b"\0"), p[0]


def is_native_ub(link, raw):
    return link == b"\0" and raw[12:14] == b"\x88\xb6"


def ub2e_head(link):
    """Default settings; the hop leads to the other side."""
    settings = bytes(4) + bytes(3) + bytes(5) + b"\0"
    return settings + (b"\0" if link == b"\1" else b"\3")


def roce_records(name):
    """IP packets of a capture as records of the target qpmap."""
    out = b""
    for raw, _ in RawPcapReader(str(HERE.parent / "tests" / "pcap" / name)):
        ip = raw[14:14 + 511]
        if raw[12:14] == b"\x08\x00" and len(out) < 3500:
            out += bytes([4 | (len(ip) > 255), len(ip) & 255]) + ip
    return out


def cnproxy_records():
    """For each kind of input of the target cnproxy one packet."""
    flow = bytes.fromhex("0a0000010a00000211000000c35012b76a000222")
    message = bytes(V4 / UDP(sport=50000, dport=49791) / flow)
    data = {4791: "0480ffff0000022280000001" + 20 * "00", 4793: "1080000011223344556677880000000000",
            4792: "81001122330002220000000100000001" + 8 * "00"}
    out = b""
    for port, hexed in data.items():
        p = bytes(IP(src="10.0.0.1", dst="10.0.0.2", tos=0x6a) / UDP(sport=50000, dport=port, chksum=0)
                  / bytes.fromhex(hexed[:len(hexed) & ~1]))
        said = bytes(V4 / UDP(sport=50000, dport=49791) / (flow[:14] + port.to_bytes(2, "big") + flow[16:]))
        for kind, packet in ((0, p), (2, p), (1, said)):
            out += bytes([kind, len(packet)]) + packet
    return out + bytes([1, len(message)]) + message


def main():
    put("qpmap", "rping", roce_records("rxe-rping.pcap"))
    put("qpmap", "pairs", roce_records("rxe-pairs.pcap"))
    for kind in range(10):
        put("cnproxy", f"kind-{kind}", bytes([kind, kind]) + cnproxy_records())
    for name, link, raw in captured():
        if name.startswith("ipoib") and int(name.rsplit("-", 1)[1]) > 12:
            continue
        put("dissect", name, link + raw)
        put("roundtrip", name, link + raw)
        put("jsontrip", name, link + raw)
        if link[0] > 1:
            continue
        put("ub2e", name, ub2e_head(link) + (raw[14:] if is_native_ub(link, raw) else raw))
        put("ubcalc", name, b"\0\0\0\0\x40\x08" + raw[14 if link == b"\0" else 10:])
    for path in sorted((HERE.parent / "tests" / "pcap").glob("*.pcap*")):
        if path.stat().st_size < 8192:
            put("capture", path.name, path.read_bytes())
    for name, (kind, packet) in LOCAL.items():
        put("local", name, bytes([kind]) + bytes(packet))
    put("ipoib", "life", bytes([1, 1, 0, 1] + [1, 1, 0, 1, 5, 0, 9, 1, 5, 2, 7, 1, 0, 20, 1] * 40 +
                               [i * i * 31 % 256 for i in range(400)]))
    for name, (kind, packet) in RELAY.items():
        put("iprelay", name, bytes([kind]) + packet)
    # A router: broadcast group, traps, then the table of groups in segments.
    put("ipoib", "table", bytes([1, 0, 1] + [1, 1, 0, 1, 1, 1] * 6 +
                                [v for flags in (1, 5, 9, 15) for v in (1, 1, flags, 200, 1, 1)]))
    up = [1, 2, 1, 1]  # hellos: from nothing to an adjacency
    put("isis", "life", bytes([3 << 2] + up + [6, 9] + [7] * 45 + [0, 30] +
                              [2, 2, 11, 4, 176, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 5, 0, 0, 3] +
                              [4, 3, 23, 9, 10, 3, 11, 7, 0, 40, 7, 30] +
                              [i * i * 31 % 256 for i in range(300)]))
    put("isis", "database", bytes([2] + up + [2, 3] + [80, 255] + [i % 251 for i in range(90)] +
                                  [0, 100, 2, 1, 60] + [i * 7 % 256 for i in range(90)]))
    # OSPFv3 hellos, then descriptions in sequence: as the slave, as the master.
    slave, master = [0, 0, 1, 2, 7, 0, 0, 2, 1, 0, 1], [1, 0, 1, 2, 0, 0, 0, 2, 0, 0, 0]
    put("ospf3", "slave", bytes(slave + [9, 5] + [7] * 10 + [10, 40, 4, 1, 20] + [0] * 4 +
                                [i * 31 % 256 for i in range(60)] + [6, 3, 1, 2, 3, 4, 5, 6] +
                                [11, 9] + [i * i * 31 % 256 for i in range(200)]))
    put("ospf3", "master", bytes(master + [9, 3] + [9] * 6 + [10, 30, 5, 7, 44] +
                                 [i % 251 for i in range(64)] + [10, 255, 0, 1, 11, 2] +
                                 [i * 7 % 256 for i in range(90)]))
    put("neigh", "life", bytes([7, 3, 2]) + bytes((i * i * 31 + i // 3) % 256 for i in range(600)))
    # Kinds of requests: join, leave, list, path, subscription; then one that is raw, one of a stranger.
    put("sa", "requests", bytes(b for kind in (0, 2, 1, 4, 3) for b in (0, 0, kind, 7)) +
        bytes([0x80, 0, 5]) + OCTETS[:5] + bytes([3, 1, 24, 9, 3, 0x81]))
    for bits in range(4):
        put("sink", f"sides-{bits}", bytes([bits, 1, 0, 1, 1, 3, 2, 0, 0, 0, 4, 9, 1, 3, 2, 0]) +
            bytes([5, 3, 2, 20, 0xff, 60, 1, 7]) + bytes([0, 14]) + OCTETS[:14])
    put("peers", "areas", bytes([2, 1, 2]) + b"".join(
        bytes([0, area << 4 | kind, 1, len(b)]) + b for area in (0, 1) for kind in (0, 2, 3)
        for b in [bytes.fromhex(PNC["ospf2"][1]) if kind else bytes.fromhex("ffffff0000000001")]) + bytes([5]))
    helper = b'{"op": "poll", "helper": "x", "events": [{"peer": "10.0.0.1", "state": "up"}]}'
    update = bytes.fromhex(PNC["bgp-v4"][1])
    put("peers", "helper", bytes([3, len(update)]) + update + bytes([4, len(helper)]) + helper)
    for name, (which, block) in PNC.items():
        put("pnc", name, bytes([which]) + bytes.fromhex(block))
    for i, text in enumerate(FILTERS):
        put("filter", f"text-{i}", bytes([len(text)]) + text.encode() + b"\0" +
            bytes(PACKETS["vlan"]))
    for target, texts in (("craftline", LINES), ("control", REQUESTS), ("http", HTTP)):
        for i, text in enumerate(texts):
            put(target, f"text-{i}", text.encode())
    for i, text in enumerate(CONFIGS):
        put("config", f"text-{i}", text.encode())
    for path in sorted(HERE.parent.glob("packaging/*.json")) + sorted(
            HERE.parent.glob("tests/cli/*.json")):
        put("config", path.stem, path.read_bytes())
    for name, packet in PACKETS.items():
        raw = bytes(packet)
        if name == "v4-padded":
            raw = raw.ljust(60, b"\0")
        put("dissect", name, b"\0" + raw)
        put("roundtrip", name, b"\0" + raw)
    for i, text in enumerate(FIELDS):
        put("field", f"text-{i}", bytes([i, 3 * i, 0x55]) + text.encode())
    for i, text in enumerate(TEXTS):
        put("text", f"text-{i}", text.encode())
    put("text", "octets", bytes(range(1, 17)))


if __name__ == "__main__":
    main()
