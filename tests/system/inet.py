"""inet.py - what the scripts of these tests share: the Internet checksum (RFC 1071), a server of one TCP
connection."""
import socket
import struct


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def accept_one(address, port):
    """Says `listening`, and returns the connection of whoever calls within 40 s."""
    listener = socket.socket(family_of(address), socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind((address, port))
    listener.listen()
    listener.settimeout(40)
    print("listening", flush=True)
    return listener.accept()[0]
