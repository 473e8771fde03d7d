"""cut.py - every beginning of every packet of a capture, as a snap length leaves it.

	cut.py make WHOLE.pcap CUT.pcap    write the beginnings
	cut.py check WHOLE.jsonl CUT.jsonl what decode -j said of both

A cut packet has the layers of the whole one, as many as fit; nothing is wrong with it that is not
wrong with the whole one.
"""
import json
import struct
import sys

STEP_BEHIND = 160  # octets; headers end before that, and behind it a few lengths will do


def make(whole, cut):
    data = open(whole, "rb").read()
    order = "<" if data[0] in (0xD4, 0x4D) else ">"
    at, out = 24, [data[:24]]
    while at < len(data):
        seconds, fraction, caplen, length = struct.unpack_from(order + "4I", data, at)
        packet = data[at + 16 : at + 16 + caplen]
        at += 16 + caplen
        for n in [*range(1, min(caplen, STEP_BEHIND)), *range(STEP_BEHIND, caplen, 97)]:
            out.append(struct.pack(order + "4I", seconds, fraction, n, length) + packet[:n])
    open(cut, "wb").write(b"".join(out))


def check(whole_file, cut_file):
    originals = {}
    for line in open(whole_file):
        p = json.loads(line)
        originals.setdefault((p["time"], p["length"]), []).append(p)
    seen = most = 0
    for line in open(cut_file):
        c = json.loads(line)
        same = originals[(c["time"], c["length"])]
        of = [p for p in same if p["layers"][: len(c["layers"])] == c["layers"]]
        assert of, f"layers that the whole packet has not: {line}"
        assert any(c["verdict"] in ("ok", p["verdict"]) for p in of), f"wrong only when cut: {line}"
        if c["captured"] == c["length"] - 1:
            whole = [p for p in of if p["payload_length"] == 0 or len(p["layers"]) == len(c["layers"])]
            assert whole, f"layers missing: {line}"
        seen += 1
        most = max(most, len(c["layers"]))
    print(f"{seen} packets, {most} layers")
    assert seen > 0 and most > 2


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](*sys.argv[2:])
