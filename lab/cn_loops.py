#!/usr/bin/env python3
"""cn_loops.py PROTOCOL DEPTH ARRIVALS DEPARTURES SENDER SERIES - what cn-loops.sh measures in a run.

PROTOCOL is roce or ub. Captures (pcap): ARRIVALS in front of the congested node, DEPARTURES at the
receiver behind its queue, SENDER at the traffic sender; all by one clock. Prints JSON: how long from each
time that the queue grew to DEPTH octets to the first notification at the sender, the deepest queue, who
was notified how often. SERIES.queue and SERIES.rate are for plot.py.
"""
import collections
import json
import statistics
import struct
import sys

PORT = {"roce": 4791, "ub": 4792}
BIN, DOT = 0.05, 0.005  # seconds, of the rate and between dots of the queue


def packets(name):
    """(time, octets of the frame, source, destination, what is behind UDP) of each IPv4 UDP packet."""
    with open(name, "rb") as f:
        data = f.read()
    scale = {0xA1B2C3D4: 1e-6, 0xA1B23C4D: 1e-9}[struct.unpack_from("<I", data)[0]]
    at = 24
    while at + 16 <= len(data):
        sec, part, held, octets = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16:at + 16 + held]
        at += 16 + held
        if frame[12:14] == b"\x08\x00" and len(frame) > 42 and frame[23] == 17:
            head = 14 + 4 * (frame[14] & 15)
            dport = struct.unpack_from(">H", frame, head + 2)[0]
            yield sec + part * scale, octets, frame[26:30], frame[30:34], dport, frame[head + 8:]


def number(octets):
    return int.from_bytes(octets, "big")


class Roce:
    """Packets are told apart by receiver, queue pair and PSN; a packet does not name its sender's."""
    @staticmethod
    def sender(_):
        return None

    @staticmethod
    def data(dst, body):
        return (dst, number(body[5:8]), number(body[9:12])) if body[0] == 4 else None

    @staticmethod
    def notified(body, _):
        return number(body[5:8]) if body[0] == 0x81 else None


class Ub:
    """The same with transport endpoint numbers; a packet names both."""
    @staticmethod
    def sender(body):
        return number(body[2:5])

    @staticmethod
    def data(dst, body):
        return (dst, number(body[5:8]), number(body[9:12])) if body[0] & 0x7f == 1 else None

    @staticmethod
    def notified(body, marked):
        """A CNP, or an acknowledgement that counts more marked octets than before (LDCP)."""
        op, dst = body[0] & 0x7f, number(body[5:8])
        if op == 8:
            return dst
        if op in (3, 5) and number(body[20:24]) > marked[dst]:
            marked[dst] = number(body[20:24])
            return dst
        return None


def depths(family, port, arrivals, departures):
    """(time, octets in the queue) after each change. Packets that never arrive behind it don't count."""
    left = collections.defaultdict(collections.deque)
    for t, _, _, dst, dport, body in packets(departures):
        if dport == port and (key := family.data(dst, body)):
            left[key].append(t)
    events = []
    for t, octets, _, dst, dport, body in packets(arrivals):
        if dport == port and (key := family.data(dst, body)) and left[key]:
            events += [(t, octets), (max(t, left[key].popleft()), -octets)]
    depth, out = 0, []
    for t, change in sorted(events):
        depth += change
        out.append((t, depth))
    return out


def crossings(queue, depth):
    """When it grew to that depth, having been nearly empty before: no packet marked earlier is in it."""
    out, armed = [], True
    for t, octets in queue:
        if armed and octets >= depth:
            out.append(t)
        armed = octets < depth / 10 or (armed and octets < depth)
    return out


def dots(queue, begin):
    """The deepest queue in each of equal times."""
    deepest = {}
    for t, octets in queue:
        at = int((t - begin) / DOT)
        deepest[at] = max(octets, deepest.get(at, 0))
    return [(at * DOT, octets / 1024) for at, octets in sorted(deepest.items())]


def rates(family, port, arrivals, begin, end):
    bins = [0] * (int((end - begin) / BIN) + 1)
    for t, octets, _, dst, dport, body in packets(arrivals):
        if dport == port and family.data(dst, body) and begin <= t <= end:
            bins[int((t - begin) / BIN)] += octets
    return [(i * BIN, n * 8e-6 / BIN) for i, n in enumerate(bins[:-1])]


def main(args):
    if len(args) != 6:
        print(__doc__, file=sys.stderr)
        return 2
    protocol, depth, arrivals, departures, sender, series = args
    family, port, marked = {"roce": Roce, "ub": Ub}[protocol], PORT[protocol], collections.Counter()
    queue = depths(family, port, arrivals, departures)
    told = [(t, who) for t, _, _, _, dport, body in packets(sender)
            if dport == port and (who := family.notified(body, marked)) is not None]
    senders = {family.sender(body) for *_, dst, dport, body in packets(arrivals)
               if dport == port and family.data(dst, body)}
    begin, end = queue[0][0], queue[-1][0]
    with open(series + ".queue", "w", encoding="utf-8") as f:
        f.writelines(f"{t:.3f} {n:.1f}\n" for t, n in dots(queue, begin))
    with open(series + ".rate", "w", encoding="utf-8") as f:
        f.writelines(f"{t:.3f} {v:.4f}\n" for t, v in rates(family, port, arrivals, begin, end))
    delays = [min(t - c for t, _ in told if t >= c) * 1e3 for c in crossings(queue, int(depth))
              if any(t >= c for t, _ in told)]
    area = sum(n * (b - a) for (a, n), (b, _) in zip(queue, queue[1:]))
    print(json.dumps({
        "crossings": len(delays), "first_ms": delays[0] if delays else None,
        "median_ms": statistics.median(delays) if delays else None,
        "peak": max(n for _, n in queue), "mean": area / (end - begin),
        "strangers": sum(who not in senders for _, who in told) if senders != {None} else None,
        "told": {str(k): v for k, v in collections.Counter(who for _, who in told).items()}}))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
