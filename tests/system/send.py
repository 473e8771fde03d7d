#!/usr/bin/env python3
"""send.py IF FILE - the frames of a pcap file (little-endian, as causeway writes it) out of an
interface, in their order."""
import socket
import struct
import sys


def main(interface, name):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    sock.bind((interface, 0))
    with open(name, "rb") as file:
        file.seek(24)
        while head := file.read(16):
            sock.send(file.read(struct.unpack("<4I", head)[2]))


main(*sys.argv[1:])
