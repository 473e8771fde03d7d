#!/usr/bin/env python3
"""plot_uet.py OUT.svg SEND.json RECV.json - a transfer over several paths: `causeway uet -j` of both ends.

Four drawings in one SVG: the share of each path, packets sent again, packets out of order, and how far
behind the furthest packet of their message packets came.
"""
import json
import sys
from plot import HEIGHT, WIDTH, svg


def differences(samples, value):
    """(time, value at the time - value before), one for each pair of samples that differ."""
    out = []
    for a, b in zip(samples, samples[1:]):
        out.append((b["at"], value(a, b)))
    return [(t, v) for t, v in out if v is not None]


def shares(samples):
    """path -> share of the packets of each interval, %"""
    paths = len(samples[0]["sent"]) if samples else 0

    def of(k):
        def share(a, b):
            total = sum(b["sent"]) - sum(a["sent"])
            return 100 * (b["sent"][k] - a["sent"][k]) / total if total else None
        return share
    return {f"path {k}": differences(samples, of(k)) for k in range(paths)}


def retransmissions(samples):
    return {"packets sent again": [(s["at"], s["retransmits"]) for s in samples]}


def out_of_order(samples):
    def share(a, b):
        packets = b["rx_data"] - a["rx_data"]
        return 100 * (b["rx_ooo"] - a["rx_ooo"]) / packets if packets else None
    return {"out of order": differences(samples, share)}


def lateness(late):
    """Steps: each class of lateness is as wide as it is (on a scale of logarithms)."""
    total, points = sum(late) or 1, []
    last = max((k for k, n in enumerate(late) if n), default=0)
    for k in range(last + 1):
        points += [(k, 100 * late[k] / total), (k + 1, 100 * late[k] / total)]
    return {"late packets": points}


def page(charts):
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT * len(charts)}">']
    for i, (runs, axes) in enumerate(charts):
        out.append(f'<g transform="translate(0,{HEIGHT * i})">{svg(runs, axes)}</g>')
    return "\n".join(out) + "\n</svg>\n"


def main(args):
    if len(args) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    with open(args[1], encoding="utf-8") as f:
        send = json.load(f)
    with open(args[2], encoding="utf-8") as f:
        recv = json.load(f)
    with open(args[0], "w", encoding="utf-8") as f:
        f.write(page([
            (shares(send["samples"]), "seconds; share of the packets, %"),
            (retransmissions(send["samples"]), "seconds; packets sent again so far"),
            (out_of_order(recv["samples"]), "seconds; packets out of order, %"),
            (lateness(recv["late"]), "packets behind the furthest one, 2^(x-1) .. 2^x - 1 (0: in order); %"),
        ]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
