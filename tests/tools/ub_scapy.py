#!/usr/bin/env python3
"""Ask scapy about the Ethernet, IP and UDP layers of the vectors in FILE.

scapy has to find IP and UDP at the offsets that the vectors give, and to compute the same lengths
and checksums when they are left out. Exit 1 with the first difference.
"""
import logging
import sys

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.layers.inet import IP, UDP  # noqa: E402
from scapy.layers.inet6 import IPv6  # noqa: E402
from scapy.layers.l2 import Ether  # noqa: E402


def check(name, layers, data):
    ip_at = layers.get("ipv4", layers.get("ipv6"))
    kind = IP if "ipv4" in layers else IPv6
    if "eth" in layers and "lph" not in layers:
        p = Ether(data)
        assert kind in p, "%s: scapy finds no %s" % (name, kind.__name__)
        p = p[kind]
        assert bytes(p) == data[ip_at:ip_at + len(bytes(p))], "%s: IP elsewhere" % name
    else:
        p = kind(data[ip_at:])
    assert UDP in p and p[UDP].dport == 4792, "%s: scapy finds no UDP to 4792" % name
    total = p.len if kind is IP else 40 + p.plen
    wire = data[ip_at:ip_at + total]
    had_checksum = p[UDP].chksum != 0
    p = kind(wire)
    for layer, fields in ((p, ("len", "chksum") if kind is IP else ("plen",)),
                          (p[UDP], ("len", "chksum") if had_checksum else ("len",))):
        for f in fields:
            delattr(layer, f)
    assert bytes(p) == wire, "%s: scapy builds %s" % (name, bytes(p).hex())


def main():
    n = 0
    with open(sys.argv[1], encoding="ascii") as f:
        for line in f:
            w = line.split()
            if w[0] != "pkt":
                continue
            layers = {k: int(v) for k, v in (x.split("@") for x in w[11].split(","))}
            if "udp" in layers:
                check(w[1], layers, bytes.fromhex(w[5]))
                n += 1
    assert n > 250, "only %d vectors with UDP" % n
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AssertionError as e:
        sys.stderr.write("%s\n" % e)
        sys.exit(1)
