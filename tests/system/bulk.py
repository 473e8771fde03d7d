#!/usr/bin/env python3
"""bulk.py serve ADDRESS | send ADDRESS MEGABYTES - a stream by TCP whose end is its SHA-256."""
import hashlib
import socket
import sys
from inet import accept_one

PORT = 7778

if sys.argv[1] == "serve":
    sock = accept_one(sys.argv[2], PORT)
    sock.settimeout(40)
    data = b"".join(iter(lambda: sock.recv(1 << 16), b""))
    if hashlib.sha256(data[:-32]).digest() != data[-32:]:
        sys.exit("the data differs")
else:
    block = bytes(i * 7 & 0xFF for i in range(1 << 20))
    data = block * int(sys.argv[3])
    sock = socket.create_connection((sys.argv[2], PORT), timeout=40)
    sock.sendall(data + hashlib.sha256(data).digest())
    sock.shutdown(socket.SHUT_WR)
