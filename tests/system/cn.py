#!/usr/bin/python3
"""cn.py - RoCEv2 hosts and a congested node by scapy, for cnproxy.sh and cnlearn.sh.

usage: cn.py talk IF MAC COUNT SIZE [FROM TO [PSN]]
                                          send RC requests that want an answer
       cn.py answer IF MAC                answer them, until killed
       cn.py message IF MAC KEY=VALUE... [-- KEY=VALUE...]
                                          congestion messages, built by hand
       cn.py replay FILE FIRST LAST HOST IF MAC IF MAC
                                          RoCEv2 packets FIRST to LAST of a capture, in its order: those
                                          of HOST by the first interface, the others by the second
       cn.py exchange IF MAC IF MAC       RC requests over IPv6 and their answers; UB and UEC packets
       cn.py flows IF MAC IF MAC KEY=VALUE...
                                          RC requests of several pairs (pairs) from PSN 0 on, and their ACKs;
                                          own=1: each side's UDP source port is its own QPN; in a VLAN (vlan)
       cn.py fill SOCKET COUNT            enter so many static pairs
       cn.py pages SOCKET LIMIT           count the pairs that a gateway shows, LIMIT an answer
       cn.py show FILE                    print a capture's CNPs and messages, a line each
"""
import json
import logging
import socket
import struct
import sys
import time
import zlib

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.all import IP, IPv6, UDP, Dot1Q, Ether, PcapReader, Raw, sniff  # noqa: E402
from scapy.contrib.roce import AETH, BTH, cnp  # noqa: E402

A, B = "10.0.1.2", "10.0.2.2"
A6, B6 = "2001:db8:1::2", "2001:db8:2::2"
QA, QB, SPORT = 0x11, 0x22, 0xC123


def opened(interface):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((interface, 0))
    return s


def rc(mac, src, dst, bth):
    return bytes(Ether(dst=mac) / IP(src=src, dst=dst, tos=2, flags="DF")
                 / UDP(sport=SPORT, dport=4791, chksum=0) / bth)


def talk(interface, mac, count, size, src=A, dst=B, first=0):
    s = opened(interface)
    build = rc6 if ":" in src else rc
    for p in [build(mac, src, dst, BTH(opcode=4, pkey=0xFFFF, dqpn=QB, ackreq=1, psn=psn) / Raw(b"d" * size))
              for psn in range(int(first), int(first) + count)]:
        s.send(p)
        time.sleep(0.0005)


def answer(interface, mac):
    s = opened(interface)

    def one(p):
        if BTH in p and p[BTH].dqpn == QB:
            s.send(rc(mac, B, A, BTH(opcode=0x11, pkey=0xFFFF, dqpn=QA, psn=p[BTH].psn)
                      / AETH(syndrome=0x1F, msn=1)))
    sniff(iface=interface, prn=one, store=False)


def listener(interface):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))  # ETH_P_ALL
    s.bind((interface, 0))
    s.settimeout(60)
    return s


def is_flow(frame):
    """A packet of RoCEv2, UB or UEC."""
    proto, port = (20, 56) if frame[12:14] == b"\x86\xdd" else (23, 36)
    return frame[proto] == 17 and int.from_bytes(frame[port:port + 2], "big") in (4791, 4792, 4793)


def arrives(s, number):
    """Wait until so many packets of flows came by the interface."""
    while number > 0:
        frame, where = s.recvfrom(65536)
        number -= where[2] != socket.PACKET_OUTGOING and len(frame) > 60 and is_flow(frame)


def in_order(sockets, frames):
    """(side, frame) each by its own interface. A gateway polls them in turn, so a change of sides waits until all
    has come out at the other one, however long the gateway takes."""
    far = [listener(s.getsockname()[0]) for s in reversed(sockets)]
    before, sent = None, 0
    for side, frame in frames:
        if side != before and before is not None:
            arrives(far[before], sent)
            sent = 0
        sockets[side].send(frame)
        before, sent = side, sent + 1


def replay(name, first, last, host, sockets, macs):
    frames = [p for p in PcapReader(name) if UDP in p and p[UDP].dport == 4791]
    out = []
    for p in frames[int(first) - 1:int(last)]:
        side = 0 if p[IP].src == host else 1
        octets = bytes(p)[14:].ljust(p.wirelen - 14, b"\0")  # the capture may be cut
        out.append((side, bytes(Ether(dst=macs[side], type=0x800)) + octets))
    in_order(sockets, out)


def rc6(mac, src, dst, bth):
    return bytes(Ether(dst=mac) / IPv6(src=src, dst=dst, tc=2) / UDP(sport=SPORT, dport=4791, chksum=0) / bth)


def exchange(sockets, macs):
    frames = []
    for psn in range(5):
        frames += [(0, rc6(macs[0], A6, B6, BTH(opcode=4, pkey=0x8123, dqpn=QB, ackreq=1, psn=psn) / Raw(b"d" * 64))),
                   (1, rc6(macs[1], B6, A6, BTH(opcode=0x11, pkey=0x8123, dqpn=QA, psn=psn)
                           / AETH(syndrome=0x1F, msn=1)))]
    for port, data in ((4792, UB), (4793, UEC)):
        frames.append((0, bytes(Ether(dst=macs[0]) / IP(src=A, dst=B, tos=0x6A)
                                / UDP(sport=SPORT, dport=port, chksum=0) / Raw(bytes.fromhex(data)))))
    in_order(sockets, frames)


def flows(sockets, macs, pairs=1, own=0, vlan=0, qa=0x100, qb=0x200, src=A, dst=B):
    """Pair i is qa + i to qb + i; all pairs share their PSNs, and without `own` one port."""
    def frame(side, sport, bth):
        ends = [(src, dst), (dst, src)][side]
        link = Ether(dst=macs[side]) / Dot1Q(vlan=int(vlan)) if int(vlan) else Ether(dst=macs[side])
        return side, bytes(link / IP(src=ends[0], dst=ends[1], tos=2, flags="DF")
                           / UDP(sport=sport, dport=4791, chksum=0) / bth)
    frames = []
    for psn in range(6):
        asked, answered = [], []
        for i in range(int(pairs)):
            a, b = int(qa) + i, int(qb) + i
            ports = (a, b) if int(own) else (SPORT + i, SPORT + i)
            asked.append(frame(0, ports[0], BTH(opcode=4, pkey=0xFFFF, dqpn=b, ackreq=1, psn=psn) / Raw(b"d" * 64)))
            answered.append(frame(1, ports[1], BTH(opcode=0x11, pkey=0xFFFF, dqpn=a, psn=psn)
                                  / AETH(syndrome=0x1F, msn=1)))
        frames += asked + answered
    in_order(sockets, frames)


# A UB data packet from endpoint 112233 to 445566, and a UEC request of type RUD.
UB = "8100112233445566000000010000000100000000" + "00" * 16
UEC = "1080000011223344556677880099aabbccddeeff00"


def fill(path, count):
    """Requests go ahead of their answers by 64."""
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(60)
    s.connect(path)
    lines, good = s.makefile(), 0
    for first in range(0, count, 64):
        some = range(first, min(first + 64, count))
        s.sendall(b"".join(json.dumps({
            "id": i, "cmd": "qpmap-add", "sender": f"10.0.1.{i % 100 + 2}", "receiver": B,
            "destination_qp": i + 2, "source_qp": i % 1000 + 2}).encode() + b"\n" for i in some))
        good += sum(json.loads(lines.readline())["ok"] for _ in some)
    print(good)


def pages(path, limit):
    """All pairs of the map, so many an answer."""
    s = socket.socket(socket.AF_UNIX)
    s.settimeout(30)
    s.connect(path)
    lines, ask = s.makefile(), {"id": 1, "cmd": "show", "what": "qpmap", "limit": limit}
    found = {"pages": 0, "pairs": 0, "shown": 0}
    while True:
        s.sendall(json.dumps(ask).encode() + b"\n")
        data = json.loads(lines.readline())["data"]
        found = {"pages": found["pages"] + 1, "pairs": data["pairs"],
                 "shown": found["shown"] + len(data["qpmap"])}
        if len(data["qpmap"]) > limit or "cursor" not in data:
            print(json.dumps(found))
            return
        ask["cursor"] = data["cursor"]


def address(text):
    return socket.inet_pton(socket.AF_INET6 if ":" in text else socket.AF_INET, text)


def message(interface, mac, **k):
    """The draft's figures 5 and 6, the five-tuple padded to words."""
    option = int(k.get("option", 1))
    body = (address(k.get("src", A)) + address(k.get("dst", B)) + bytes([17, 0, 0, 0])
            + struct.pack(">HHB", SPORT, int(k.get("dport", 4791)), int(k.get("tc", 2))))
    if option == 1:
        body += int(k.get("dqpn", QB)).to_bytes(3, "big")
    else:
        body += bytes(3) + struct.pack(">I", int(k["nrp"]))
    head = IPv6 if ":" in k.get("from", "") else IP
    p = (Ether(dst=mac) / head(src=k.get("from", "10.0.3.2"), dst=k.get("to", "10.0.3.1"))
         / UDP(sport=50000, dport=49790 + option) / Raw(body + b"x" * int(k.get("extra", 0))))
    if "frag" in k:
        p.payload.flags = "MF"
    if "chksum" in k:
        p[UDP].chksum = int(k["chksum"])
    opened(interface).send(bytes(p))


def icrc6(ip):
    """A RoCEv2 packet's ICRC over IPv6, which scapy does not compute: annex A17 of the IBTA."""
    masked = bytearray(ip[:-4])
    masked[0:4], masked[7], masked[46:48], masked[52] = b"\x6f\xff\xff\xff", 0xFF, b"\xff\xff", 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(masked)))


def show6(p):
    ip, udp = p[IPv6], p[UDP]
    if BTH in p and p[BTH].opcode == 0x81:
        octets = bytes(ip)[:40 + ip.plen]
        right = octets[-4:] == icrc6(octets) and octets[-20:-4] == bytes(16) and p[BTH].becn == 1
        print("cnp", ip.src, ip.dst, "dscp", ip.tc >> 2, "qp", p[BTH].dqpn, "pkey", hex(p[BTH].pkey),
              "length", udp.len, "right" if right else "wrong")
    elif udp.dport in (49791, 49792):
        print("message", ip.src, ip.dst, "port", udp.dport, bytes(udp.payload)[:udp.len - 8].hex())


def show(p):
    if IPv6 in p and UDP in p:
        show6(p)
    if IP not in p or UDP not in p:
        return
    ip, udp = p[IP], p[UDP]
    vlan = p[Dot1Q].vlan if Dot1Q in p else 0
    if Dot1Q in p and p[Dot1Q].prio:
        vlan = f"{vlan} pcp {p[Dot1Q].prio}"
    if BTH in p and p[BTH].opcode == 0x81:
        want = bytes(IP(src=ip.src, dst=ip.dst, tos=ip.tos, ttl=ip.ttl, id=ip.id, flags="DF")
                     / UDP(sport=udp.sport, dport=4791, chksum=0) / cnp(dqpn=p[BTH].dqpn))
        print("cnp", ip.src, ip.dst, "dscp", ip.tos >> 2, "qp", p[BTH].dqpn, "vlan", vlan,
              "as-scapy" if bytes(ip)[:ip.len] == want else "not-as-scapy")
    elif udp.dport in (4792, 4793):
        print("packet", ip.src, ip.dst, "port", udp.dport, bytes(udp.payload)[:udp.len - 8].hex())
    elif udp.dport in (49791, 49792):
        print("message", ip.src, ip.dst, "port", udp.dport, bytes(udp.payload)[:udp.len - 8].hex())


if __name__ == "__main__":
    what, interface, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    if what == "show":
        for packet in PcapReader(interface):
            show(packet)
    elif what == "talk":
        talk(interface, rest[0], int(rest[1]), int(rest[2]), *rest[3:])
    elif what == "answer":
        answer(interface, rest[0])
    elif what == "replay":
        replay(interface, *rest[:3], [opened(rest[3]), opened(rest[5])], [rest[4], rest[6]])
    elif what == "fill":
        fill(interface, int(rest[0]))
    elif what == "pages":
        pages(interface, int(rest[0]))
    elif what == "flows":
        flows([opened(interface), opened(rest[1])], [rest[0], rest[2]], **dict(a.split("=", 1) for a in rest[3:]))
    elif what == "exchange":
        exchange([opened(interface), opened(rest[1])], [rest[0], rest[2]])
    elif what == "message":
        for one in " ".join(rest[1:]).split("--"):
            message(interface, rest[0], **dict(a.split("=", 1) for a in one.split()))
