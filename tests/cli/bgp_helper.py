#!/usr/bin/python3
"""bgp_helper.py - an ExaBGP and a gateway for `causeway bgp-helper`.

usage: bgp_helper.py CAUSEWAY SOCKET PREFIXES

The gateway wants so many prefixes announced, then two of them no longer, one of these anew with another next
hop, and one more. This ExaBGP does as ExaBGP 4.2 does (exabgp.reactor.api.processes): one thread, which reads
up to 16 KiB of commands, and answers "done" to each before it reads on, by writes that wait for room. Prints
what arrived as JSON; ends with exit code 1 when nothing moves any more.
"""
import json
import os
import signal
import socket
import subprocess
import sys
import threading


def entry(i, hop="10.0.0.1"):
    return {"prefix": f"10.{i >> 16}.{i >> 8 & 255}.{i & 255}/32", "next_hop": hop, "type": 39,
            "value": "000101040a000001fffe00040a000001"}


class Gateway(threading.Thread):
    """Answers one connection; `want` is what it has announced."""

    def __init__(self, path, want):
        super().__init__(daemon=True)
        self.want, self.generation, self.polls = want, 1, 0
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(path)
        self.listener.listen()

    def change(self, want):
        self.want = want
        self.generation += 1

    def run(self):
        connection = self.listener.accept()[0]
        for line in connection.makefile("r"):
            request = json.loads(line)
            data = {"generation": self.generation}
            if request["generation"] != self.generation:
                data["announce"] = self.want
            self.polls += request["op"] == "poll"
            answer = {"id": request["id"], "ok": True, "data": data}
            connection.sendall((json.dumps(answer) + "\n").encode())


class ExaBGP:
    def __init__(self, command):
        self.helper = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL)
        self.rest = b""

    def take(self, number):
        """So many commands, each answered."""
        out = []
        while len(out) < number:
            octets = os.read(self.helper.stdout.fileno(), 16384)
            if not octets:
                sys.exit("the helper has ended")
            *lines, self.rest = (self.rest + octets).split(b"\n")
            for line in lines:
                out.append(line.decode())
                os.write(self.helper.stdin.fileno(), b"done\n")
        return out

    def end(self):
        self.helper.stdin.close()
        return self.helper.wait(30)


def main():
    causeway, path, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
    signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
    signal.alarm(60)
    first = [entry(i) for i in range(number)]
    gateway = Gateway(path, first)
    gateway.start()
    exabgp = ExaBGP([causeway, "bgp-helper", "-s", path])
    seen = exabgp.take(number + 2)
    gateway.change(first[2:] + [entry(1, "10.0.0.2"), entry(number)])
    print(json.dumps({
        "announced": sum(c.startswith("announce route 10.") for c in seen),
        "different": len(set(seen)), "commands": len(seen), "first": seen[0], "last": seen[-1],
        "changes": sorted(exabgp.take(4)), "exit": exabgp.end()}))


main()
