#!/usr/bin/env python3
"""mcast.py listen GROUP INTERFACE | send GROUP INTERFACE FILE - multicast through the kernel's own IP.

listen joins, prints "listening", and ends when five datagrams with the right contents have come.
send repeats datagrams until FILE, which is the listener's output, says "done". 255.255.255.255 is
the limited broadcast: nothing is joined."""
import socket
import struct
import sys
import time

PORT, BODY, WANTED, SECONDS = 7777, b"causeway" * 100, 5, 20


def open_socket(group, ifname):
    v6 = ":" in group
    sock = socket.socket(socket.AF_INET6 if v6 else socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, ifname.encode())
    index = socket.if_nametoindex(ifname)
    return sock, v6, index


def listen(group, ifname):
    sock, v6, index = open_socket(group, ifname)
    sock.bind(("", PORT))
    if v6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_JOIN_GROUP,
                        socket.inet_pton(socket.AF_INET6, group) + struct.pack("@I", index))
    elif group != "255.255.255.255":
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP,
                        struct.pack("4s4si", socket.inet_aton(group), b"\0" * 4, index))
    sock.settimeout(SECONDS)
    print("listening", flush=True)
    for _ in range(WANTED):
        if sock.recv(65536) != BODY:
            sys.exit("a datagram has other contents")
    print("done", flush=True)


def send(group, ifname, answer):
    sock, v6, index = open_socket(group, ifname)
    if v6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_IF, struct.pack("@I", index))
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_MULTICAST_HOPS, 8)
    elif group == "255.255.255.255":
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    else:
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF,
                        struct.pack("4s4si", b"\0" * 4, b"\0" * 4, index))
        sock.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_TTL, 8)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        sock.sendto(BODY, (group, PORT))
        time.sleep(0.1)
        with open(answer, encoding="ascii") as f:
            if "done" in f.read():
                return
    sys.exit("the listener has not heard enough")


if sys.argv[1] == "listen":
    listen(*sys.argv[2:])
else:
    send(*sys.argv[2:])
