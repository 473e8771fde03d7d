#!/usr/bin/python3
"""wireshark.py - the plugin inside tshark says what `causeway decode -j` says.

Frames: every capture in tests/pcap, every packet input of fuzz/corpus, and copies of them with
flipped bits, cut ends and padding. Each is decoded by both; layers, fields, payload, padding,
ICRC and verdict must agree. Environment: CW_BUILD, the build directory.
"""
import collections
import json
import os
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
BUILD = pathlib.Path(os.environ.get("CW_BUILD", TOP / "build"))
ETHERNET, UB = 1, 147
count = 0


def tap(good, name, why=""):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    for line in [] if good else why.splitlines()[:12]:
        print(f"# {line}")
    return good


# ---- Frames ----------------------------------------------------------------------------------

def read_pcap(path):
    data = path.read_bytes()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    link = struct.unpack(order + "I", data[20:24])[0]
    at, frames = 24, []
    while at + 16 <= len(data):
        n = struct.unpack(order + "I", data[at + 8:at + 12])[0]
        frames.append((link, data[at + 16:at + 16 + n]))
        at += 16 + n
    return frames


def write_pcap(path, link, frames, snap=262144):
    with open(path, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 262144, link))
        for i, frame in enumerate(frames):
            f.write(struct.pack("<IIII", i, 0, min(snap, len(frame)), len(frame)) + frame[:snap])


def mutants(frames, rnd):
    """Flips in the headers, cut ends, padding."""
    for link, frame in frames:
        for _ in range(4):
            b = bytearray(frame)
            bit = rnd.randrange(8 * min(len(b), 120))
            b[bit // 8] ^= 1 << bit % 8
            yield link, bytes(b)
        yield link, frame[:rnd.randrange(1, len(frame))]
        yield link, frame + bytes(rnd.randrange(1, 20))


def all_frames():
    frames = []
    for path in sorted((TOP / "tests").glob("**/*.pcap")):
        frames += read_pcap(path)
    for path in sorted((TOP / "fuzz/corpus/dissect").iterdir()):
        data = path.read_bytes()
        if len(data) > 1 and data[0] in (0, 1):
            frames.append((UB if data[0] else ETHERNET, data[1:]))
    frames = [f for f in frames if f[0] in (ETHERNET, UB) and 14 < len(f[1]) < 4096]
    return frames + list(mutants(frames, random.Random(1)))


# ---- Both decoders ---------------------------------------------------------------------------

class Tshark:
    """tshark with the plugin as a personal one, in a home of its own. tshark started by root loads
    no personal plugins, so it runs as nobody then."""

    def __init__(self, home):
        plugins = home / ".local/lib/wireshark/plugins/4.0/epan"
        plugins.mkdir(parents=True)
        shutil.copy(BUILD / "plugins/wireshark/causeway.so", plugins)
        for path in [home, *home.rglob("*")]:
            path.chmod(0o755)
        self.env = dict(os.environ, HOME=str(home), XDG_CONFIG_HOME=str(home / ".config"))
        self.who = {}
        if os.geteuid() == 0:
            self.who = {"user": 65534, "group": 65534, "extra_groups": []}

    def __call__(self, *args):
        r = subprocess.run(["tshark", *args], env=self.env, capture_output=True, **self.who)
        if r.returncode:
            sys.exit(f"Bail out! tshark: {r.stderr.decode()[-300:]}")
        return r.stdout.decode()


def number(text):
    if isinstance(text, bool):
        return int(text)
    return int(str(text), 0)


def same(ours, theirs):
    """One value of decode's JSON and its text in tshark's, which has only strings."""
    if ours is None or theirs is None:
        return ours is theirs
    if isinstance(ours, (int, bool)) or ours.startswith("0x"):
        flags = {"True": 1, "False": 0}
        return number(ours) == (flags[theirs] if theirs in flags else number(theirs))
    return ours.replace(":", "").lower() == theirs.replace(":", "").lower()


def as_list(x):
    return x if isinstance(x, list) else [x]


def from_tshark(packet):
    """Layers by name (in order within a name), and the rest, of the plugin's tree."""
    tree = packet["_source"]["layers"].get("cw")
    if not isinstance(tree, dict):
        return None
    layers = {}
    for key, sub in tree.items():
        name = key[3:]
        if all(isinstance(s, dict) for s in as_list(sub)) and not name.endswith("_tree"):
            layers[name] = [{k[len(name) + 4:]: v for k, v in s.items()
                             if k.startswith(f"cw.{name}.")} for s in as_list(sub)]
    rest = {k: tree[f"cw.{k}"] for k in ("payload", "pad", "trailer")
            if f"cw.{k}" in tree}
    rest["verdict"] = tree["cw.verdict"]
    rest["family"] = tree["cw.family"]
    if "cw.icrc" in tree:
        names = ["absent", "ok", "bad", "unchecked"]
        rest["icrc"] = (names[number(tree["cw.icrc.status"])], number(tree["cw.icrc"]))
        if "cw.icrc.computed" in tree:
            rest["icrc"] += (number(tree["cw.icrc.computed"]),)
    return layers, rest


def from_decode(packet, link):
    """The same of decode's object: what is behind the point where Wireshark hands over."""
    layers, seen = packet["layers"], [x["layer"] for x in packet["layers"]]
    if link == ETHERNET and "lph" in seen:
        layers = layers[seen.index("lph"):]
    elif link == ETHERNET and "udp" in seen:
        layers = layers[seen.index("udp") + 1:]
    elif link == ETHERNET:
        layers = [x for x in layers if x["layer"] not in ("eth", "vlan")]
    by_name = {}
    for x in layers:
        by_name.setdefault(x["layer"], []).append(
            {k: v for k, v in x.items() if k != "layer"})
    rest = {k: packet[k] for k in ("payload", "pad") if packet.get(k)}
    if link == UB and packet.get("trailer"):
        rest["trailer"] = packet["trailer"]
    rest["verdict"] = packet["verdict"]
    rest["family"] = packet["family"]
    icrc = packet["icrc"]
    if icrc["status"] != "absent":
        rest["icrc"] = (icrc["status"], number(icrc["wire"]))
        if "computed" in icrc:
            rest["icrc"] += (number(icrc["computed"]),)
    return by_name, rest


def is_ours(packet, link):
    """Is it for the plugin: native UB, or behind UDP what Wireshark itself does not know?"""
    if link == UB or packet["family"] in ("ub", "uboe"):
        return True
    # Of two ports that Wireshark knows the lower one counts: 7 is echo.
    return packet["family"] in ("uetx", "uec", "cn1", "cn2") and any(
        x["layer"] == "udp" and not 0 < x["sport"] < 1024 for x in packet["layers"])


def layer_difference(name, ours, theirs):
    if len(ours) != len(theirs):
        return f"{name}: {len(ours)} times in decode, {len(theirs)} in tshark"
    for a, b in zip(ours, theirs):
        for field in sorted(set(a) | set(b)):
            if not same(a.get(field), b.get(field)):
                return f"{name}.{field}: decode {a.get(field)}, tshark {b.get(field)}"
    return ""


def differences(ours, theirs):
    if theirs is None:
        return "the plugin was not asked"
    for name in sorted(set(ours[0]) | set(theirs[0])):
        why = layer_difference(name, ours[0].get(name, []), theirs[0].get(name, []))
        if why:
            return why
    for name in sorted(set(ours[1]) | set(theirs[1])):
        a, b = ours[1].get(name), theirs[1].get(name)
        if not (a == b if name == "icrc" else same(a, b)):
            return f"{name}: decode {a}, tshark {b}"
    return ""


def compare(tshark, tmp, link, frames, snap=262144):
    """(number of frames by family, list of differences)"""
    path = tmp / f"frames-{link}.pcap"
    write_pcap(path, link, frames, snap)
    path.chmod(0o644)
    out = subprocess.run([BUILD / "causeway", "decode", "-j", path], capture_output=True)
    ours = [json.loads(line) for line in out.stdout.decode().splitlines()]
    theirs = json.loads(tshark("-r", str(path), "-T", "json", "--no-duplicate-keys",
                               "-J", "cw", "-o", "ip.defragment:FALSE"))
    if not len(ours) == len(theirs) == len(frames):
        return {}, [f"{len(frames)} frames, decode {len(ours)}, tshark {len(theirs)}"]
    seen, bad = collections.Counter(), []
    for i, (a, b) in enumerate(zip(ours, theirs)):
        if not is_ours(a, link):
            continue
        seen[a["family"]] += 1
        why = differences(from_decode(a, link), from_tshark(b))
        if why:
            bad.append(f"frame {i + 1} ({frames[i].hex()[:240]}):\n{why}")
    return seen, bad


def main():
    if not (BUILD / "plugins/wireshark/causeway.so").exists():
        print("1..0 # SKIP the plugin was not built (no Wireshark headers, or a sanitizer build)")
        return 0
    with tempfile.TemporaryDirectory() as t:
        tmp = pathlib.Path(t)
        tmp.chmod(0o755)
        (tmp / "home").mkdir()
        tshark = Tshark(tmp / "home")
        tap("causeway.so" in tshark("-G", "plugins"), "tshark loads the plugin")
        frames = all_frames()
        for link, name, least in ((UB, "USER0", {"ub"}),
                                  (ETHERNET, "Ethernet", {"ub", "uboe", "uec", "cn1", "cn2"})):
            mine = [f for l, f in frames if l == link]
            seen, bad = compare(tshark, tmp, link, mine)
            tap(least <= set(seen) and not bad,
                f"{name}: decode and tshark agree on {sum(seen.values())} of {len(mine)} frames",
                "\n".join(bad[:3]) + f"\n{len(bad)} in all; families {dict(seen)}")
            seen, bad = compare(tshark, tmp, link, mine, 90)
            tap(least <= set(seen) and not bad,
                f"{name}: and on {sum(seen.values())} of those that a capture cut at 90 octets",
                "\n".join(bad[:3]) + f"\n{len(bad)} in all; families {dict(seen)}")
        check_looks(tshark, tmp)
        check_conversations(tshark, tmp)
        check_filters(tshark, tmp)
        check_preferences(tshark, tmp)
    print(f"1..{count}")
    return 0


def check_looks(tshark, tmp):
    """What people see and filter by."""
    path = str(tmp / "frames-147.pcap")
    tree = tshark("-r", path, "-V", "-O", "cw", "-c", "1")
    tap("Format of what follows: IPv4 (3)" in tree, "the tree has names of values")
    bad = tshark("-r", path, "-V", "-O", "cw", "-Y", "cw.icrc.bad")
    tap("[Expert Info (Error/Checksum): ICRC is wrong]" in bad and
        " [incorrect, should be 0x" in bad, "a wrong ICRC is an expert item")
    groups = tshark("-r", path, "-q", "-z", "expert,error").splitlines()
    tap(sum("ICRC is wrong" in g for g in groups) == 1 and any("Malformed" in g for g in groups),
        "expert items are counted by kind", "\n".join(groups))
    tap(tshark("-r", path, "-Y", "cw.error", "-T", "fields", "-e", "cw.verdict").strip() != "",
        "a malformed packet is an expert item")
    got = tshark("-r", path, "-Y", "cw.lph && cw.icrc.status == 1", "-T", "fields", "-e",
                 "_ws.col.Source", "-e", "_ws.col.Info", "-c", "20").splitlines()
    tap(any(l.split("\t")[0].count(".") == 3 and "ICRC ok" in l for l in got),
        "columns show the addresses inside and the ICRC's state")


def check_conversations(tshark, tmp):
    """Of native UB, whose addresses Wireshark's own tables do not see."""
    path = gen(tmp, "--to", "ub", "--count", "7", "--src", "10.9.0.1", "--dst", "10.9.0.2")
    rows = tshark("-r", path, "-q", "-z", "conv,cw", "-z", "endpoints,cw")
    tap(re.search(r"^10\.9\.0\.1 +<-> 10\.9\.0\.2 +0 0 bytes +7 ", rows, re.M) and
        re.search(r"^10\.9\.0\.2 +7 ", rows, re.M), "conversations and endpoints", rows)
    found = tshark("-r", path, "-Y", "cw.ipv4.addr == 10.9.0.2").splitlines()
    tap(len(found) == 7, "an address is found at either end", "\n".join(found))


def gen(tmp, *args):
    """A file of packets by causeway gen, readable by tshark's user."""
    path = tmp / "gen.pcap"
    subprocess.run([BUILD / "causeway", "gen", "--count", "5", "-w", path, *args], check=True,
                   capture_output=True)
    path.chmod(0o644)
    return str(path)


def changes(tshark, path, option, columns, keep="cw"):
    """How these fields look without and with a preference."""
    args = ["-r", path, "-Y", keep, "-T", "fields"] + [x for c in columns for x in ("-e", c)]
    return tshark(*args).split("\n"), tshark(*args, "-o", option).split("\n")


def check_filters(tshark, tmp):
    """The filters that docs/wireshark.md shows are filters, and find something."""
    text = (TOP / "docs/wireshark.md").read_text()
    block = text[text.index("## Filters"):].split("```")[1]
    filters = [re.split(r"\s{3,}", line)[0] for line in block.strip().splitlines()]
    path = gen(tmp, "--to", "ub", "--npi", "7", "--fecn", "11", "--count", "1200", "--flows",
               "1", "--faults", "icrc:1,truncate:1")
    none = [f for f in filters if not tshark("-r", path, "-Y", f).strip()]
    tap(len(filters) > 2 and not none, "the filters of docs/wireshark.md find packets", str(none))


def check_preferences(tshark, tmp):
    """Those that docs/wireshark.md names are those that there are, and each does something."""
    there = {"cw.udp.port"}  # -G leaves it out: it belongs to Decode As
    there |= set(re.findall(r"^#?(cw\.[\w.]+):", tshark("-G", "currentprefs"), re.M))
    text = (TOP / "docs/wireshark.md").read_text()
    named = set(re.findall(r"preference `(cw\.[\w.]+)`", text))
    named |= set(re.findall(r"^\| `(cw\.[\w.]+)` \|", text[text.index("## Preferences"):], re.M))
    tap(named == there, "docs/wireshark.md names every preference",
        f"only there: {named - there}, only in tshark: {there - named}")
    path = gen(tmp, "--to", "ub", "--icrc-order", "be")
    was, now = changes(tshark, path, "cw.icrc_order:be", ["cw.icrc.status"])
    tap(was[:5] == ["2"] * 5 and now[:5] == ["1"] * 5, "cw.icrc_order", f"{was} {now}")
    path = gen(tmp, "--to", "uboe", "--dport", "5000")
    was, now = changes(tshark, path, "cw.udp.port:5000", ["cw.icrc.status"], "frame")
    tap(was[:5] == [""] * 5 and now[:5] == ["1"] * 5, "cw.udp.port", f"{was} {now}")
    path = str(tmp / "frames-147.pcap")
    was, now = changes(tshark, path, "cw.cetph_caqm:TRUE", ["cw.cetph_ldcp", "cw.cetph_caqm"],
                       "cw.cetph_ldcp")
    tap(len(was) > 1 and was != now, "cw.cetph_caqm", f"{was} {now}")


if __name__ == "__main__":
    sys.exit(main())
