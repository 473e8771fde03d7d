#!/usr/bin/env python3
"""icmperr.py ADDRESS TTL OCTETS DF TYPE CODE [MTU] - send a UDP datagram (an IP packet of OCTETS) and
wait for the ICMP error of that type and code about it, with that MTU. Tries for 20 seconds."""
import socket
import struct
import sys
import time

address = sys.argv[1]
ttl, octets, df, kind, code = (int(a) for a in sys.argv[2:7])
mtu = int(sys.argv[7]) if len(sys.argv) > 7 else None
v6 = ":" in address
family = socket.AF_INET6 if v6 else socket.AF_INET
IP_MTU_DISCOVER, IP_PMTUDISC_PROBE, IPV6_MTU_DISCOVER = 10, 3, 23

errors = socket.socket(family, socket.SOCK_RAW, socket.IPPROTO_ICMPV6 if v6 else socket.IPPROTO_ICMP)
errors.settimeout(1)
out = socket.socket(family, socket.SOCK_DGRAM)
if v6:
    out.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, ttl)
    out.setsockopt(socket.IPPROTO_IPV6, IPV6_MTU_DISCOVER, IP_PMTUDISC_PROBE)
else:
    out.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, ttl)
    out.setsockopt(socket.IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_PROBE if df else 0)
body = bytes(octets - 8 - (40 if v6 else 20))
end = time.monotonic() + 20
seen = set()
while time.monotonic() < end:
    try:
        out.sendto(body, (address, 4242))
        got = errors.recv(65536)
    except OSError:
        continue
    got = got if v6 else got[4 * (got[0] & 15):]
    about = got[8:]
    seen.add((got[0], got[1]))
    if got[0] != kind or got[1] != code or socket.inet_pton(family, address) not in about[:40]:
        continue
    told = struct.unpack(">I" if v6 else ">xxH", got[4:8])[0]
    if mtu is not None and told != mtu:
        sys.exit(f"MTU {told} instead of {mtu}")
    sys.exit(0)
sys.exit(f"no such error; seen: {seen}")
