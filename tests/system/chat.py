#!/usr/bin/env python3
"""chat.py serve ADDRESS | talk ADDRESS SECONDS - what somebody types into a remote shell: a few octets every
50 ms on one TCP connection, each echoed at once. Prints how many and the longest wait; exits 1 when an echo
differs, or takes longer than 15 s."""
import socket
import sys
import time
from inet import accept_one

PORT = 7779

if sys.argv[1] == "serve":
    sock = accept_one(sys.argv[2], PORT)
    sock.settimeout(60)
    while got := sock.recv(4096):
        sock.sendall(got)
else:
    sock = socket.create_connection((sys.argv[2], PORT), timeout=15)
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    end, n, longest = time.monotonic() + float(sys.argv[3]), 0, 0.0
    while time.monotonic() < end:
        n += 1
        line, got, start = bytes((n + i) & 0xFF for i in range(1 + n % 100)), b"", time.monotonic()
        sock.sendall(line)
        while len(got) < len(line):
            part = sock.recv(4096)
            if not part:
                sys.exit("the connection has ended")
            got += part
        if got != line:
            sys.exit("the echo differs")
        longest = max(longest, time.monotonic() - start)
        time.sleep(0.05)
    print(f"{n} echoes, the longest took {longest * 1000:.0f} ms")
    sys.exit(n < 2)
