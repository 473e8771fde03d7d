#!/usr/bin/env python3
"""icmp.py ADDRESS [OCTETS [TTL]] - send a UDP datagram that must not be fragmented by the kernel's own IP,
and print the ICMP error that the kernel gets about it: "TYPE CODE FROM MTU". Exits 1 without one.
icmp.py --error ADDRESS - send an ICMP error, TTL 1.
icmp.py --ub INTERFACE FILE - wait for an ICMP error on a UB link, print "NPI TYPE CODE FROM MTU", and
write its frame to a pcap file. Exits 1 when a checksum or a length in it is wrong."""
import select
import socket
import struct
import sys
from inet import checksum, family_of

IP_RECVERR, IPV6_RECVERR = 11, 25
IP_MTU_DISCOVER, IPV6_MTU_DISCOVER, PMTUDISC_PROBE = 10, 23, 3  # don't fragment, at any known path MTU


def open_socket(v6, ttl):
    sock = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
    level = socket.IPPROTO_IPV6 if v6 else socket.IPPROTO_IP
    sock.setsockopt(level, IPV6_RECVERR if v6 else IP_RECVERR, 1)
    sock.setsockopt(level, IPV6_MTU_DISCOVER if v6 else IP_MTU_DISCOVER, PMTUDISC_PROBE)
    sock.setsockopt(level, socket.IPV6_UNICAST_HOPS if v6 else socket.IP_TTL, ttl)
    return sock


def parse(ancillary, v6):
    """struct sock_extended_err and, behind it, who reported it."""
    for level, kind, data in ancillary:
        if kind != (IPV6_RECVERR if v6 else IP_RECVERR):
            continue
        _, _, etype, code, _, info, _ = struct.unpack("=IBBBBII", data[:16])
        who = data[24:40] if v6 else data[20:24]
        return etype, code, socket.inet_ntop(socket.AF_INET6 if v6 else socket.AF_INET, who), info
    return None


def probe(addr, octets=64, ttl=64):
    v6 = ":" in addr
    sock = open_socket(v6, int(ttl))
    sock.sendto(bytes(int(octets) - (48 if v6 else 28)), (addr, 33434))
    poll = select.poll()
    poll.register(sock, 0)
    if not poll.poll(2000):
        sys.exit("no ICMP error")
    _, ancillary, _, _ = sock.recvmsg(2000, 512, socket.MSG_ERRQUEUE)
    print(*parse(ancillary, v6))


def send_error(addr):
    v6 = ":" in addr
    sock = socket.socket(family_of(addr), socket.SOCK_RAW,
                         socket.IPPROTO_ICMPV6 if v6 else socket.IPPROTO_ICMP)
    if v6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS, 1)
    else:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_TTL, 1)
    sock.sendto(bytes([1 if v6 else 3]) + bytes(59), (addr, 0))


def parse_ub(frame):
    """An Ethernet frame with LPH 4, CCI 2, NPI 4, then IP with an ICMP error and the packet that it is about."""
    npi = struct.unpack(">I", frame[20:24])[0]
    ip = frame[24:]
    if ip[0] >> 4 == 4:
        icmp, src, dst = ip[20:struct.unpack(">H", ip[2:4])[0]], ip[12:16], ip[16:20]
        good = checksum(ip[:20]) == 0 and checksum(icmp) == 0
        about = icmp[8 + 12:8 + 16]  # its source
        mtu = struct.unpack(">H", icmp[6:8])[0]
        af = socket.AF_INET
    else:
        icmp, src, dst = ip[40:40 + struct.unpack(">H", ip[4:6])[0]], ip[8:24], ip[24:40]
        good = checksum(src + dst + struct.pack(">II", len(icmp), 58) + icmp) == 0
        about = icmp[8 + 8:8 + 24]
        mtu = struct.unpack(">I", icmp[4:8])[0]
        af = socket.AF_INET6
    if not good:
        sys.exit("wrong checksum or length: " + frame.hex())
    if about != dst:
        sys.exit("not to the source of the packet that it is about: " + frame.hex())
    print(npi, icmp[0], icmp[1], socket.inet_ntop(af, src), mtu)


def from_ub(interface, file):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B6))
    sock.bind((interface, 0x88B6))
    sock.settimeout(10)
    while True:
        frame, (_, _, packet_type, *_) = sock.recvfrom(65536)
        if packet_type != socket.PACKET_OUTGOING:
            break
    with open(file, "wb") as f:
        f.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
        f.write(struct.pack("<IIII", 0, 0, len(frame), len(frame)) + frame)
    parse_ub(frame)


if __name__ == "__main__":
    if sys.argv[1] == "--error":
        send_error(*sys.argv[2:])
    elif sys.argv[1] == "--ub":
        from_ub(*sys.argv[2:])
    else:
        probe(*sys.argv[1:])
