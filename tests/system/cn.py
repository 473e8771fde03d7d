#!/usr/bin/python3
"""cn.py - RoCEv2 hosts and a congested node by scapy, for cnproxy.sh.

usage: cn.py talk IF MAC COUNT SIZE       send RC requests that want an answer
       cn.py answer IF MAC                answer them, until killed
       cn.py message IF MAC KEY=VALUE... [-- KEY=VALUE...]
                                          congestion messages, built by hand
       cn.py show FILE                    print a capture's CNPs and messages, a line each
"""
import logging
import socket
import struct
import sys
import time

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.all import IP, UDP, Dot1Q, Ether, PcapReader, Raw, sniff  # noqa: E402
from scapy.contrib.roce import AETH, BTH, cnp  # noqa: E402

A, B = "10.0.1.2", "10.0.2.2"
QA, QB, SPORT = 0x11, 0x22, 0xC123


def opened(interface):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((interface, 0))
    return s


def rc(mac, src, dst, bth):
    return bytes(Ether(dst=mac) / IP(src=src, dst=dst, tos=2, flags="DF")
                 / UDP(sport=SPORT, dport=4791, chksum=0) / bth)


def talk(interface, mac, count, size):
    s = opened(interface)
    for p in [rc(mac, A, B, BTH(opcode=4, pkey=0xFFFF, dqpn=QB, ackreq=1, psn=psn) / Raw(b"d" * size))
              for psn in range(count)]:
        s.send(p)
        time.sleep(0.0005)


def answer(interface, mac):
    s = opened(interface)

    def one(p):
        if BTH in p and p[BTH].dqpn == QB:
            s.send(rc(mac, B, A, BTH(opcode=0x11, pkey=0xFFFF, dqpn=QA, psn=p[BTH].psn)
                      / AETH(syndrome=0x1F, msn=1)))
    sniff(iface=interface, prn=one, store=False)


def message(interface, mac, **k):
    """The draft's figures 5 and 6, the five-tuple padded to words."""
    option = int(k.get("option", 1))
    body = (socket.inet_aton(k.get("src", A)) + socket.inet_aton(k.get("dst", B)) + bytes([17, 0, 0, 0])
            + struct.pack(">HHB", SPORT, 4791, 2))
    if option == 1:
        body += int(k.get("dqpn", QB)).to_bytes(3, "big")
    else:
        body += bytes(3) + struct.pack(">I", int(k["nrp"]))
    p = (Ether(dst=mac) / IP(src=k.get("from", "10.0.3.2"), dst=k.get("to", "10.0.3.1"))
         / UDP(sport=50000, dport=49790 + option) / Raw(body + b"x" * int(k.get("extra", 0))))
    if "chksum" in k:
        p[UDP].chksum = int(k["chksum"])
    opened(interface).send(bytes(p))


def show(p):
    if IP not in p or UDP not in p:
        return
    ip, udp = p[IP], p[UDP]
    vlan = p[Dot1Q].vlan if Dot1Q in p else 0
    if BTH in p and p[BTH].opcode == 0x81:
        want = bytes(IP(src=ip.src, dst=ip.dst, tos=ip.tos, ttl=ip.ttl, id=ip.id, flags="DF")
                     / UDP(sport=udp.sport, dport=4791, chksum=0) / cnp(dqpn=p[BTH].dqpn))
        print("cnp", ip.src, ip.dst, "dscp", ip.tos >> 2, "qp", p[BTH].dqpn, "vlan", vlan,
              "as-scapy" if bytes(ip)[:ip.len] == want else "not-as-scapy")
    elif udp.dport in (49791, 49792):
        print("message", ip.src, ip.dst, "port", udp.dport, bytes(udp.payload)[:udp.len - 8].hex())


if __name__ == "__main__":
    what, interface, rest = sys.argv[1], sys.argv[2], sys.argv[3:]
    if what == "show":
        for packet in PcapReader(interface):
            show(packet)
    elif what == "talk":
        talk(interface, rest[0], int(rest[1]), int(rest[2]))
    elif what == "answer":
        answer(interface, rest[0])
    elif what == "message":
        for one in " ".join(rest[1:]).split("--"):
            message(interface, rest[0], **dict(a.split("=", 1) for a in one.split()))
