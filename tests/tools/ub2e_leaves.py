#!/usr/bin/python3
"""ub2e_leaves.py CAUSEWAY DIR - what each leaf of the conversion rules does to a packet.

A case is a configuration, a packet, and what `causeway convert` has to make of it: the packet that
leaves, octet by octet, or the reason why none does; and the events that are counted. Without the
configuration something else has to come out, so a leaf that does nothing fails. Packets come from
scapy, struct and zlib. Every leaf of container ub2e has to be in a case. Prints TAP.
"""
import json
import re
import struct
import subprocess
import sys
from collections import Counter

from scapy.all import IP, IPv6
from scapy.layers.inet import in4_chksum
from scapy.layers.inet6 import in6_chksum

from lint import yang_nodes
from make_fixtures import ETH, V4, V6, lph, native, rtph, seal, write_body

WRITE = rtph() + write_body(bytes(range(1, 9)))
PERM = 1 << 24


# ---- Packets ----------------------------------------------------------------------------------

def checksum(v, head, segment):
    made = in4_chksum(17, IP(head), segment) if v == 4 else in6_chksum(17, IPv6(head), segment)
    return made or 0xFFFF


def ip(v=4, dscp=10, ecn=0, ttl=64, ident=0, flags=2, sport=0xC000, dport=4792, body=WRITE,
       icrc="<", udp_sum=0, udp_len=None, raw=None, proto=17):
    """An IP packet; `icrc` is its order, or None. udp_sum: a value, or a function of the right one.
    `raw` stands for UDP and all behind it."""
    if raw is None:
        n = 8 + len(body) + (4 if icrc else 0)
        raw = struct.pack("!4H", sport, dport, n if udp_len is None else udp_len, 0) + body
    n = len(raw) + (4 if icrc else 0)
    if v == 4:
        head = bytes(IP(**V4, tos=dscp << 2 | ecn, flags=flags, id=ident, ttl=ttl, proto=proto,
                        len=20 + n))
    else:
        head = bytes(IPv6(**V6, tc=dscp << 2 | ecn, fl=0x12345, nh=proto, hlim=ttl, plen=n))
    p = seal(head + raw, icrc) if icrc else head + raw
    if callable(udp_sum):
        udp_sum = udp_sum(checksum(v, head, p[len(head):]))
    if udp_sum:
        at = len(head) + 6
        p = p[:at] + struct.pack("!H", udp_sum) + p[at + 2:]
    return p


def ub(npi=5, cci=0x8002, vl=0, rt=2, tail=b"", **kw):
    return native(ip(**kw), npi, cci, vl, rt) + tail


def eth(vid=5, pcp=0, tpid=0x8100, outer=None, macs=None, tail=b"", **kw):
    p = ip(**kw)
    tags = [] if outer is None else [(0x88A8, pcp << 13 | outer)]
    tags += [] if vid is None else [(tpid, pcp << 13 | vid)]
    macs = macs or bytes.fromhex((ETH["dst"] + ETH["src"]).replace(":", ""))
    return (macs + b"".join(struct.pack("!HH", *t) for t in tags) +
            (b"\x08\x00" if p[0] >> 4 == 4 else b"\x86\xdd") + p + tail)


def bad_icrc(p):
    return p[:-1] + bytes([p[-1] ^ 0x10])


def patched(p, at, octets, base):
    """A packet whose IP header begins at `base` with octets changed, and its checksum right again."""
    b = bytearray(p)
    b[base + at:base + at + len(octets)] = octets
    if b[base] >> 4 == 4 and not 10 <= at < 12:
        head = IP(bytes(b[base:base + 20]))
        del head.chksum
        b[base:base + 20] = bytes(head)[:20]
    return bytes(b)


# ---- The command ------------------------------------------------------------------------------

def reasons(path):
    """(second, reason) of the packets in a file of dropped ones, which has nanoseconds."""
    d, at = open(path, "rb").read(), 0
    while at < len(d):
        kind, size = struct.unpack_from("<II", d, at)
        if kind == 6:
            high, low, caplen = struct.unpack_from("<III", d, at + 12)
            option = at + 28 + (caplen + 3) // 4 * 4
            n = struct.unpack_from("<H", d, option + 2)[0]
            yield (high << 32 | low) // 10**9, d[option + 4:option + 4 + n].decode().split(":")[0]
        at += size


def sent(path):
    """(second, packet) of a capture."""
    d, at = open(path, "rb").read(), 24
    while at < len(d):
        second, _, n = struct.unpack_from("<III", d, at)
        yield second, d[at + 16:at + 16 + n]
        at += 16 + n


def from_ub(packet):
    """A packet from UB begins with an LPH, which frames of ETH don't."""
    return packet[:6] != bytes.fromhex(ETH["dst"].replace(":", ""))


def config_of(to_eth, rules, ports):
    of = {"ub0": {"name": "ub0", "kind": "ub", "device": "packet:u"},
          "eth0": {"name": "eth0", "kind": "ethernet", "device": "packet:e"}}
    for name, leaves in ports.items():
        of[name].update(leaves)
    route = {"port": "eth0", "mac": ETH["dst"]} if to_eth else {"port": "ub0"}
    return {"causeway:causeway": {"port": list(of.values()), "ub2e": rules, "route": [
        {"prefix": p, **route} for p in ("0.0.0.0/0", "::/0")]}}


class Gateway:
    def __init__(self, causeway, tmp):
        self.causeway, self.tmp = causeway, tmp

    def cross(self, all_packets, rules=None, ports=None):
        """What becomes of packets of one side, by the defaults where no rules are given: of each the
        packet that leaves or the reason why none does, and the events. An error of the configuration
        is all that there is then."""
        src, out, drops, config = (f"{self.tmp}/{n}" for n in ("in", "out", "drops.pcapng", "c.json"))
        to_eth = from_ub(all_packets[0])
        with open(src, "wb") as f:
            f.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65535, 147 if to_eth else 1))
            for i, p in enumerate(all_packets):
                f.write(struct.pack("<IIII", i, 0, len(p), len(p)) + p)
        args = ["--to", "uboe" if to_eth else "ub", "-j", "--drops", drops]
        if rules is not None:
            with open(config, "w", encoding="ascii") as f:
                json.dump(config_of(to_eth, rules, ports or {}), f)
            args += ["-c", config]
        r = subprocess.run([self.causeway, "convert", *args, src, out], capture_output=True, text=True,
                           check=False)
        if r.returncode not in (0, 1):
            return re.findall(r"/npi/.*", r.stderr), Counter()
        became = {**dict(sent(out)), **dict(reasons(drops))}
        return [became.get(i) for i in range(len(all_packets))], Counter(json.loads(r.stdout)["notes"])


# ---- Leaves -----------------------------------------------------------------------------------

def dscp_cases():
    for v in (4, 6):
        yield ({"ip": {"dscp-to-ethernet": [{"from": 10, "to": 46}]}}, ub(v=v, ecn=3),
               eth(v=v, dscp=46, ecn=2, ttl=63))
        yield ({"ip": {"dscp-to-ub": [{"from": 10, "to": 63}]}}, eth(v=v, ecn=2),
               ub(v=v, dscp=63, ttl=63))
    yield ({"ip": {"dscp-to-ethernet": [{"from": 10, "to": 0}]}, "npi": {"pcp": [
        {"dscp": 0, "pcp": 7}]}}, ub(), eth(dscp=0, ecn=2, pcp=7, ttl=63))
    yield ({"npi": {"pcp": [{"dscp": 10, "pcp": 5}]}}, ub(), eth(ecn=2, pcp=5, ttl=63))
    yield ({"link": {"virtual-lane": [{"dscp": 10, "vl": 15}]}}, eth(), ub(cci=0x8000, vl=15, ttl=63))
    yield ({"link": {"virtual-lane": [{"dscp": 10, "vl": 8}]}}, eth(v=6),
           ub(v=6, cci=0x8000, vl=8, ttl=63))


def udp_cases():
    odd = ub(dport=5000, cci=0x8001)
    yield {"udp": {"port": 5000}}, odd, eth(dport=5000, ecn=3, ttl=63), "light-to-ce"
    yield {"udp": {"port": 5000}}, ub(cci=0x8001), eth(ecn=1, ttl=63)
    for v in (4, 6):
        yield ({"udp": {"verify-checksum": False}}, eth(v=v, udp_sum=lambda s: s ^ 1),
               ub(v=v, cci=0x8000, ttl=63), "udp-csum-zeroed")
        yield ({"udp": {"verify-checksum": False}}, ub(v=v, udp_sum=lambda s: s ^ 1),
               eth(v=v, ecn=2, ttl=63), "udp-csum-zeroed")
    for prefix, p in (("10.4.0.0/16", eth()), ("2001:db8:1::/48", eth(v=6)), ("10.1.2.3/32", ub())):
        yield {"udp": {"pin": [{"prefix": prefix, "family": "uet"}]}}, p, "uetx"
    uet = bytes.fromhex("1050") + bytes(14) + bytes([0, 20]) + bytes(22)
    yield {"udp": {"pin": [{"prefix": "::/0", "family": "ub"}]}}, eth(v=6, body=uet, icrc=None), "tp-version"


def ip_cases():
    for v in (4, 6):
        yield {"ip": {"ttl-decrement": False}}, ub(v=v, ttl=1), eth(v=v, ecn=2, ttl=1)
        yield {"ip": {"ttl-decrement": False}}, eth(v=v, ttl=0), ub(v=v, cci=0x8000, ttl=0)
        yield {"ip": {"plain-ip": False}}, ub(v=v, dport=53, icrc=None), "plain-ip"
        yield {"ip": {"plain-ip": False}}, eth(v=v, proto=6, raw=bytes(20), icrc=None), "plain-ip"


def icrc_cases():
    for v in (4, 6):
        for leaf, good, out in (("check-from-ub", ub(v=v), eth(v=v, ecn=2, ttl=63)),
                                ("check-from-ethernet", eth(v=v), ub(v=v, cci=0x8000, ttl=63))):
            yield {"icrc": {leaf: "count"}}, bad_icrc(good), bad_icrc(out), "icrc-bad"
            yield {"icrc": {leaf: "drop"}}, bad_icrc(good), "icrc"
    yield {"icrc": {"check-from-ub": "drop", "order": "big-endian"}}, ub(), "icrc"
    yield {"icrc": {"check-from-ethernet": "count", "order": "little-endian"}}, eth(icrc=">"), ub(
        icrc=">", cci=0x8000, ttl=63), "icrc-bad"


def link_cases():
    short = lph(79, 3, 0, 2) + ub()[4:]
    yield {"link": {"check-length": False}}, short, eth(ecn=2, ttl=63)
    for rt, name in enumerate(("per-flow-all-paths", "per-packet-all-paths", None, "per-packet-shortest")):
        if name:
            yield {"rt": {"to-ub": name}}, eth(), ub(cci=0x8000, rt=rt, ttl=63)


def mark_cases():
    for mode in (0, 1, 2, 3, 5, 6, 7):
        yield {"cci": {"unmappable": "drop"}}, ub(cci=mode << 13 | 2), "cci-mode"
    for fecn, ecn in enumerate((0, 3, 2, 3)):
        notes = ["rtt-as-fecn"] + ["light-to-ce"] * (fecn == 1)
        yield ({"cci": {"fecn-rtt-as-fecn": True}}, ub(cci=0x4AA8 | fecn),
               eth(ecn=ecn, ttl=63), *notes)
    for v in (4, 6):
        yield {"ecn": {"strict": True}}, ub(v=v, cci=0x8001), eth(v=v, ecn=1, ttl=63)
        yield {"ecn": {"strict": True}}, eth(v=v, ecn=1), ub(v=v, cci=0x8001, ttl=63)
        yield {"ecn": {"light": "ecn-capable"}}, ub(v=v, cci=0x8001), eth(v=v, ecn=2, ttl=63)
        yield ({"ecn": {"light": "ecn-capable", "markable": "ect1"}}, ub(v=v, cci=0x8001),
               eth(v=v, ecn=1, ttl=63))
        yield {"ecn": {"markable": "ect1"}}, ub(v=v), eth(v=v, ecn=1, ttl=63)
        yield {"ecn": {"ce": "light"}}, eth(v=v, ecn=3), ub(v=v, cci=0x8001, ttl=63)


def npi_cases():
    pair = {"map": [{"id": 0xABC123, "vid": 100}]}
    yield {"npi": pair}, ub(npi=0xABC123), eth(vid=100, ecn=2, ttl=63)
    yield {"npi": pair}, eth(vid=100), ub(npi=0xABC123, cci=0x8000, ttl=63)
    yield {"npi": dict(pair, mode="table")}, ub(), "npi-unmapped"
    yield {"npi": dict(pair, mode="table")}, eth(), "vlan-unmapped"
    two = {"mode": "enhanced", "map": [{"id": 0xABC123, "vid": 100, "vid-low": 200}]}
    yield {"npi": two}, ub(npi=PERM | 0xABC123), eth(vid=200, ecn=2, ttl=63)
    yield {"npi": two}, eth(vid=200), ub(npi=PERM | 0xABC123, cci=0x8000, ttl=63)
    yield {"npi": two}, eth(vid=100), ub(npi=0xABC123, cci=0x8000, ttl=63)
    yield {"npi": two}, ub(), "npi-unmapped"
    yield {"npi": {"untagged": 0xABC}}, eth(vid=None), ub(npi=0xABC, cci=0x8000, ttl=63), "untagged"
    yield {"npi": {"untagged": 0}}, eth(vid=0), "vlan-unmapped"
    yield {"npi": {"partition": [0x1005]}}, ub(), "npi-unmapped"
    cut = "when cut to 12 bits (draft-li-uboe-00 5.3); give one of them a VLAN in ub2e/npi/map"
    yield {"npi": {"partition": [5, 0x1005]}}, ub(), (
        "/npi/partition[.='4101']: \"4101\": partition 0x000005 and partition 0x001005 share VLAN 5 " + cut)
    yield {"npi": {"map": [{"id": 7, "vid": 5}], "partition": [5]}}, ub(), (
        "/npi/partition[.='5']: \"5\": partition 0x000007 and partition 0x000005 share VLAN 5 " + cut)
    yield {"npi": {"map": [{"id": 7, "vid": 5}, {"id": 8, "vid": 5}]}}, ub(), (
        "/npi/map[id='8']/vid: \"5\": VLAN 5 is given to partition 0x000007 and to partition 0x000008")


def port_cases():
    yield {"ub0": {"npi-filter": [6]}}, ub(), "npi-filter"
    yield {"eth0": {"npi-filter": [6]}}, ub(), "npi-filter"
    yield {"ub0": {"npi-filter": [6]}}, eth(), "npi-filter"
    yield {"eth0": {"npi-filter": [6]}}, eth(), "npi-filter"
    yield {"eth0": {"mtu": 79}}, ub(), "mtu"
    yield {"ub0": {"mtu": 99}}, eth(v=6), "mtu"
    yield {"eth0": {"tpid": "0x9100"}}, ub(), eth(tpid=0x9100, ecn=2, ttl=63)
    yield {"eth0": {"outer-vid": 4094}}, ub(), eth(outer=4094, ecn=2, ttl=63)
    yield {"eth0": {"outer-vid": 4094}}, eth(), "vlan-unmapped"
    yield {"eth0": {"outer-vid": 4094}}, eth(outer=4094), ub(cci=0x8000, ttl=63)


# ---- Inputs at the edges of the rules, by the draft's defaults -----------------------------------

def in_both(name, outcome, make):
    """A fault in a packet from either side; `make` is given the packet and where its IP begins."""
    for v in (4, 6):
        yield f"{name}, IPv{v} from UB", make(ub(v=v), 10, v), outcome
        yield f"{name}, IPv{v} from Ethernet", make(eth(v=v), 18, v), outcome


def length_edges():
    at = {4: 2, 6: 4}
    for n in (0, 1, 19):
        yield f"IPv4 length {n}", patched(eth(), 2, struct.pack("!H", n), 18), "ip-length"
    for n, why in ((20, "udp-length"), (27, "udp-length"), (28, "udp-length"), (0xFFFF, "ip-length")):
        yield f"IPv4 length {n}", patched(ub(), 2, struct.pack("!H", n), 10), why
    for n, why in ((0, "udp-length"), (7, "udp-length"), (8, "udp-length"), (0xFFFF, "ip-length")):
        yield f"IPv6 payload length {n}", patched(ub(v=6), 4, struct.pack("!H", n), 10), why
    for n in (0, 7, 8, 63, 65, 0xFFFF):
        yield f"UDP length {n} from UB", ub(udp_len=n), "udp-length"
        yield f"UDP length {n} from Ethernet", eth(v=6, udp_len=n), "udp-length"
    yield from in_both("an octet less than IP says", "ip-length", lambda p, base, v: p[:-1])
    yield from in_both("IP longer than UDP", "udp-length", lambda p, base, v: patched(
        p + bytes(1), at[v], struct.pack("!H", len(p) - base + 1 - (40 if v == 6 else 0)), base))


def header_edges():
    yield from in_both("version 5", "ip-version", lambda p, base, v: patched(p, 0, b"\x55", base))
    yield from in_both("TTL 0", "ttl", lambda p, base, v: patched(p, 8 if v == 4 else 7, b"\0", base))
    yield from in_both("TTL 1", "ttl", lambda p, base, v: patched(p, 8 if v == 4 else 7, b"\1", base))
    for ttl in (2, 255):
        yield f"TTL {ttl}", ub(ttl=ttl), eth(ecn=2, ttl=ttl - 1)
        yield f"hop limit {ttl}", eth(v=6, ttl=ttl), ub(v=6, cci=0x8000, ttl=ttl - 1)
    for dscp in (0, 63):
        yield f"DSCP {dscp} out", ub(v=6, dscp=dscp, cci=0x8003), eth(v=6, dscp=dscp, ecn=3, ttl=63)
        yield f"DSCP {dscp} in", eth(dscp=dscp, ecn=3), ub(dscp=dscp, cci=0x8003, ttl=63)
    options = struct.pack("!BBHHHBBH", 0x46, 0, 104, 0, 0x4000, 64, 17, 0) + ip()[12:20]
    yield "IPv4 options", eth()[:18] + patched(options + b"\x94\4\0\0" + ip()[20:], 0, b"\x46", 0), "ip-ihl"
    yield "more fragments", ub(flags=1), "ip-fragment"
    yield "the last fragment", patched(eth(), 6, b"\x40\x01", 18), "ip-fragment"
    yield "no DF", ub(flags=0), eth(flags=0, ecn=2, ttl=63), "no-df"
    yield "the reserved flag", eth(flags=6), ub(flags=6, cci=0x8000, ttl=63), "no-df"
    for nh, why in ((0, "ip-extension"), (43, "ip-extension"), (44, "ip-fragment"), (51, "ip-extension"),
                    (60, "ip-extension")):
        yield f"IPv6 next header {nh}", ub(v=6, proto=nh, raw=bytes([17, 0]) + bytes(70)), why
    yield "an IPv4 checksum of 0xffff for 0", *zero_sum()


def zero_sum():
    """An IPv4 header whose checksum is zero, written as its other form."""
    ident = struct.unpack("!H", ip()[10:12])[0]
    frame = ub(ident=ident)
    assert frame[20:22] == bytes(2)
    return frame[:20] + b"\xff\xff" + frame[22:], eth(ident=ident, ecn=2, ttl=63)


def udp_edges():
    for v in (4, 6):
        yield f"UDP checksum right, IPv{v}", eth(v=v, udp_sum=lambda s: s), ub(
            v=v, cci=0x8000, ttl=63), "udp-csum-zeroed"
        yield f"UDP checksum wrong, IPv{v}", eth(v=v, udp_sum=lambda s: s ^ 0x8000), "udp-checksum"
        yield f"UDP checksum wrong from UB, IPv{v}", ub(v=v, udp_sum=lambda s: s ^ 1), "udp-checksum"
    zero = {"body": rtph(msn=15275) + write_body(b"")}  # 0 goes as 0xffff (RFC 768)
    assert checksum(4, ip(**zero)[:20], ip(**zero)[20:]) == 0xFFFF
    yield "a UDP checksum of 0xffff", eth(**zero, udp_sum=lambda s: s), ub(
        **zero, cci=0x8000, ttl=63), "udp-csum-zeroed"
    yield "a UDP checksum of 0xffff that isn't right", eth(udp_sum=lambda s: 0xFFFF), "udp-checksum"


def partition_edges():
    yield "NPI 0", ub(npi=0), "npi-zero"
    yield "NPI 0 of low privilege", ub(npi=PERM), "npi-zero"
    yield "NPI 0xffffff", ub(npi=0xFFFFFF), "npi-unmapped"
    yield "NPI 0xffeffe", ub(npi=0xFFEFFE), eth(vid=0xFFE, ecn=2, ttl=63)
    yield "NPI 0x001000", ub(npi=0x1000), "npi-unmapped"
    yield "reserved bits in front of the NPI", ub(npi=0xFE000005), eth(ecn=2, ttl=63)
    yield "low privilege", ub(npi=PERM | 5), eth(ecn=2, ttl=63), "permission-lost"
    yield "VLAN 0", eth(vid=0), ub(npi=1, cci=0x8000, ttl=63), "untagged"
    yield "VLAN 4095", eth(vid=4095), "vlan-unmapped"
    yield "VLAN 4094", eth(vid=4094), ub(npi=4094, cci=0x8000, ttl=63)
    yield "two tags", eth(outer=9), ub(cci=0x8000, ttl=63)
    yield "priority and DEI of a tag", eth(vid=0xF005, pcp=0), ub(cci=0x8000, ttl=63)


def mark_edges():
    for fecn, ecn in enumerate((0, 3, 2, 3)):
        yield (f"FECN {fecn} at the last hop", ub(cci=0x9FFC | fecn, ecn=fecn ^ 1), eth(ecn=ecn, ttl=63),
               "loc-lost", *["light-to-ce"] * (fecn == 1))
    for mode in (0, 1, 2, 3, 5, 6, 7):
        yield f"CCI mode {mode}", ub(cci=mode << 13 | 0x1003), eth(ecn=0, ttl=63), "cci-not-ect"
    for ecn in range(4):
        tcp = {"proto": 6, "raw": bytes(range(20)), "icrc": None, "flags": 0}
        yield f"TCP with FECN {ecn}", ub(cci=0x8000 | ecn, ecn=3 - ecn, **tcp), eth(ecn=ecn, ttl=63, **tcp)
        yield f"TCP with ECN {ecn}", eth(v=6, ecn=ecn, **tcp), ub(
            v=6, ecn=ecn, cci=0x8000 | ecn, ttl=63, **tcp)
    plain = {"dport": 4791, "icrc": None, "udp_sum": 0xBEEF}
    yield "plain UDP keeps its checksum", ub(**plain), eth(ecn=2, ttl=63, **plain)
    yield "a tail behind plain IP", plain_with_tail(), eth(ecn=2, ttl=63, dport=53, icrc=None)


def plain_with_tail():
    p = ub(dport=53, icrc=None)
    return lph(len(p), 3) + p[4:] + b"\1\2\3\4"


def size_edges():
    """Each way in which a packet can end in its last flits, around the ends of the first blocks and
    of the last one; sizes that Ethernet pads, and jumbo ones."""
    fixed = len(ub(body=rtph() + bytes(8)))
    sizes = [n for at in (fixed + 30, 640, 1276, 10120) for n in range(at - 30, at + 27)]
    bodies = [rtph() + bytes(8) + bytes(i & 0xFF for i in range(n - fixed)) for n in sizes]
    for body, n in zip(bodies, sizes):
        yield f"{n} octets of UB in", eth(body=body), ub(body=body, cci=0x8000, ttl=63)
        yield f"{n} octets of UB out", ub(body=body), eth(body=body, ecn=2, ttl=63)
    for v, n in ((4, 9216), (6, 9216), (4, 10136)):
        body = rtph() + bytes(n - len(ip(v=v, body=b"")) - 16)
        yield f"{n} octets of IPv{v}", ub(v=v, body=body), eth(v=v, body=body, ecn=2, ttl=63)
    yield "10137 octets of IP", eth(body=body + bytes(1)), "mtu"
    ack = {"body": rtph(op=2, last=0, a=0)}
    yield "a padded frame", eth(tail=bytes(12), **ack), ub(cci=0x8000, ttl=63, **ack)
    yield "a padded UB packet", ub(tail=b"\xee" * 9, **ack), eth(ecn=2, ttl=63, **ack)


# ---- Leaves of the schema -----------------------------------------------------------------------

def leaves_of_ub2e():
    nodes = {n[len("ub2e/"):] for n in yang_nodes("yang/causeway.yang") if n.startswith("ub2e/")}
    return {n for n in nodes if not any(m.startswith(n + "/") for m in nodes)}


def paths(value, at=""):
    """Of the leaves in a configuration."""
    if isinstance(value, dict):
        return set().union(*(paths(v, f"{at}/{k}" if at else k) for k, v in value.items()))
    if isinstance(value, list) and isinstance(value[0], dict):
        return set().union(*(paths(v, at) for v in value))
    return {at}


# ---- TAP ----------------------------------------------------------------------------------------

class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def check(self, name, want, got):
        self.n += 1
        self.failed += want != got
        print(f"{'ok' if want == got else 'not ok'} {self.n} - {name}")
        if want != got:
            print(f"# want {want}\n# got  {got}")


def check_leaves(tap, gateway):
    cases, seen = [], set()
    for of in (udp_cases, ip_cases, dscp_cases, icrc_cases, link_cases, mark_cases, npi_cases):
        for rules, packet, want, *notes in of():
            seen |= paths(rules)
            cases.append((rules, {}, packet, want, Counter(notes)))
    for ports, packet, want, *notes in port_cases():
        cases.append(({}, ports, packet, want, Counter(notes)))
    for rules, ports, packet, want, notes in cases:
        (got,), events = gateway.cross([packet], rules, ports)
        tap.check(json.dumps(ports or rules).replace('"', ""), (want, notes), (got, events))
    for side in (True, False):
        some = [c for c in cases if from_ub(c[2]) == side]
        without, _ = gateway.cross([c[2] for c in some], {})
        for (rules, ports, packet, want, notes), became in zip(some, without):
            matters = became != want or gateway.cross([packet], {})[1] != notes
            tap.check(json.dumps(ports or rules).replace('"', "") + " matters", True, matters)
    tap.check("every leaf of ub2e has a case", set(), leaves_of_ub2e() - seen)


def check_edges(tap, gateway):
    """All of one side at once."""
    edges = [e for of in (length_edges, header_edges, udp_edges, partition_edges, mark_edges, size_edges)
             for e in of()]
    for side in (True, False):
        some = [e for e in edges if from_ub(e[1]) == side]
        got, events = gateway.cross([e[1] for e in some])
        for (name, _, want, *_), became in zip(some, got):
            tap.check(name, want, became)
        notes = Counter(n for e in some for n in e[3:])
        tap.check(f"events of packets from {'UB' if side else 'Ethernet'}", notes, events)


def main(causeway, tmp):
    tap, gateway = Tap(), Gateway(causeway, tmp)
    check_leaves(tap, gateway)
    check_edges(tap, gateway)
    print(f"1..{tap.n}")
    return tap.failed != 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
