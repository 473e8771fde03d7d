"""Tables of one run, and the files that keep it."""
import json
import os

DIRECTION = {"uboe": "UB -> UBoE", "ub": "UBoE -> UB"}


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(r) + " |" for r in rows]
    return "\n".join(lines)


class Cells:
    def __init__(self, results):
        self.ns = {(c["subject"], c["source"], c["to"], c["payload"]): c["figure"]
                   for c in results["cells"]}
        self.payloads = results["payloads"]

    def get(self, subject, source, to, payload):
        return self.ns.get((subject, source, to, payload))

    def ratio(self, a, b, source, to, payload):
        """how many times as long a takes as b"""
        x, y = self.get(a, source, to, payload), self.get(b, source, to, payload)
        return x / y if x and y else None


def number(x, form="{:.2f}"):
    return "-" if x is None else form.format(x)


def mpps(ns):
    return number(1e3 / ns if ns else None, "{:.1f}")


def net_pcap(c, to):
    rows = []
    for n in c.payloads:
        got = [c.get(s, "rx", to, n) for s in ("causewayd", "ovs", "testpmd", "rewrite", "bare")]
        ahead = c.ratio("ovs", "causewayd", "rx", to, n)
        rows.append([str(n)] + [mpps(x) for x in got]
                    + [number(ahead), number(c.ratio("causewayd", "rewrite", "rx", to, n)),
                       number(c.ratio("causewayd", "bare", "rx", to, n)),
                       number(c.ratio("causewayd", "testpmd", "rx", to, n)),
                       number(c.ratio("causewayd-icrc", "causewayd", "rx", to, n))])
    vxlan = "encap" if to == "uboe" else "decap"
    return table(["payload", "causewayd", f"OVS VXLAN {vxlan}", "testpmd", "rewrite", "bare",
                  "faster than OVS", "time / rewrite", "time / bare", "time / testpmd", "icrc drop / off"], rows)


def cold(c, source, to):
    more = () if source != "cold" else ("icrc", "v6", "learned", "proxy") if to == "uboe" else ("icrc", "v6", "proxy")
    rows = []
    for n in c.payloads:
        ours = c.get("graph", source, to, n)
        if not ours:
            continue
        row = [str(n)] + [number(c.get(s, source, to, n), "{:.1f}") for s in ("rewrite", "bare", "graph")]
        row += [number(c.ratio("graph", s, source, to, n)) for s in ("rewrite", "bare")]
        row += [number(ours / c.get("graph", source, to, 256) if 256 in c.payloads else None)]
        rows.append(row + [number(c.get("graph-" + m, source, to, n), "{:.1f}") for m in more])
    head = {"icrc": "with icrc drop, ns", "v6": "IPv6, ns", "learned": "next hops learned, ns",
            "proxy": "a proxy learns, ns"}
    return table(["payload", "rewrite ns", "bare ns", "gateway ns", "gateway / rewrite", "gateway / bare",
                  "against 256 B"]
                 + [head[m] for m in more], rows)


def micro(results, pool):
    ns = {(m["to"], m["ip"], m["payload"], m["icrc"]): m["median"] for m in results["micro"]
          if m["bench"] == "ub2e" and m["pool"] == pool}
    sizes = sorted({k[2] for k in ns})
    cols = [("uboe", 4, "off"), ("ub", 4, "off"), ("uboe", 6, "off"), ("ub", 6, "off"),
            ("uboe", 4, "drop"), ("ub", 4, "drop")]
    head = ["payload"] + [f"{DIRECTION[t]} IPv{v}" + (", icrc drop" if i == "drop" else "")
                          for t, v, i in cols]
    return table(head, [[str(n)] + [number(ns.get((t, v, n, i)), "{:.1f}") for t, v, i in cols]
                        for n in sizes])


def crc(results):
    ns = {(m["pool"], m["impl"], m["octets"]): m["median"] for m in results["micro"]
          if m["bench"] == "crc32"}
    impls = sorted({k[1] for k in ns}, key=lambda i: (i != "zlib", i != "table", i))
    sizes = sorted({k[2] for k in ns})
    cols = [(p, i) for p in ("hot", "cold") for i in impls]
    return table(["octets"] + [f"{i}, {p}" for p, i in cols],
                 [[str(n)] + [number(ns.get((p, i, n)), "{:.1f}") for p, i in cols] for n in sizes])


def notify(results):
    """The proxy: what a notification, a lookup and learning cost."""
    rows = {(r["what"], r.get("set")): r for r in results["notify"]}
    memory, learning = rows["memory", None], rows["learning", None]
    lookup, cold, hot = rows["lookup", None], rows["notifications", "cold"], rows["notifications", "hot"]
    return table(["", f"{memory['pairs']} pairs, shuffled", "64 pairs"], [
        ["notifications a second, one core", f"{cold['per_second']:.0f}", f"{hot['per_second']:.0f}"],
        ["one by one, p50, ns", str(cold["p50_ns"]), str(hot["p50_ns"])],
        ["p99, ns", str(cold["p99_ns"]), str(hot["p99_ns"])],
        ["lookup, ns", f"{lookup['cold_ns']:.0f}", f"{lookup['hot_ns']:.0f}"],
        ["lookup, one by one, ns", f"{lookup['single_ns']:.0f}", ""],
        ["learning, a data packet, ns", f"{learning['data_ns']:.0f}", ""],
        ["memory, octets a pair", f"{memory['octets_a_pair']:.1f}", ""]])


def live(results):
    """A polling worker: the run of each kind with the least p99, for others' time slices are in the rest."""
    best = {}
    for r in results["live"]:
        key = (r["rate"] > 0, round(r["rate"], -4), r["data"])
        if key not in best or r["p99_ns"] < best[key]["p99_ns"]:
            best[key] = r
    return table(["messages a second", "data packets forwarded and learned from, a notification",
                  "notifications a second of processor time", "p50, us", "p99, us", "99.9 %, us"], [
        [f"{r['rate']:.0f}" if r["rate"] else "as many as it takes",
         number(r["forwarded"] / max(r["notifications"], 1), "{:.1f}"),
         f"{r['notifications'] / r['cpu_s']:.0f}" if not r["rate"] else "",
         *(number(r[p] / 1e3, "{:.1f}") for p in ("p50_ns", "p99_ns", "p999_ns"))]
        for r in best.values()])


def uet_memory(results):
    """Reassembly, and what a packet costs: the best of the repeats, as each of them is of its passes."""
    rows = [r for r in results["uet"] if r["what"] == "reassembly"]
    best = max(rows, key=lambda r: r["ratio"])
    parts = [f"Reassembly of {best['message'] // 1024} KiB messages from shuffled {best['mtu']}-octet packets: "
             f"{best['GB_s']:.1f} GB/s, memcpy of the same octets {best['memcpy_GB_s']:.1f} GB/s: "
             f"{best['ratio']:.2f} of it."]
    opened = sorted({r["messages"] for r in results["uet"] if r["what"] == "open"})
    cells = {n: {k: min(r[k] for r in results["uet"] if r.get("messages") == n)
                 for k in ("ns_burst", "lines_ns", "ns_single", "chase_ns")} for n in opened}
    parts.append(table(["messages open", "ns a packet, bursts of 32", "its cache lines alone", "one by one",
                        "its cache lines, one after the other"],
                       [[str(n)] + [f"{cell:.0f}" for cell in cells[n].values()] for n in opened]))
    return "\n\n".join(parts)


def uet_paths(results):
    rows = {(r["how"], r["paths"]): r["mbit_s"] for r in results["uet"] if r["what"] == "paths"}
    hows = [h for h in ("uet", "iperf3 UDP", "MPTCP") if any(k[0] == h for k in rows)]
    return table(["paths"] + [f"{h}, Mbit/s" for h in hows],
                 [[str(n)] + [number(rows.get((h, n)), "{:.0f}") for h in hows]
                  for n in sorted({k[1] for k in rows})])


def uet_tail(results):
    rows = [r for r in results["uet"] if r["what"] == "tail"]
    return table(["sending", "median, ms", "99 %, ms", "longest, ms", "Mbit/s"],
                 [[r["how"]] + [f"{r['completion_us'][k] / 1e3:.1f}" for k in ("p50", "p99", "max")]
                  + [f"{r['mbit_s']:.0f}"] for r in rows])


def machine(results):
    m = results["machine"]
    pages = f"{m['hugepages']} huge pages of 2 MB" if m["hugepages"] else "no huge pages"
    return (f"{m['cpu']}, {m['cpus']} processors{' (virtual)' if m['virtual'] else ''}, "
            f"L2 {m['l2']}, L3 {m['l3']}, Linux {m['kernel']}, governor {m['governor']}, {pages}; "
            f"load {m['load_before']:.1f} before the run; {results['repeats']} repeats, medians")


def process(results):
    return table(["operation", "octets", "MTU", "congestion control", "Gbit/s", "ns a message"],
                 [[r["op"], str(r["size"]), str(r["mtu"]), r["cc"], number(r["gbit_per_s"]),
                   number(r["ns_per_message"], "{:.0f}")] for r in results["endpoint"]["process"]])


def veth(results):
    return table(["", "Gbit/s", "Gbit a CPU second", "messages/s", "p50 us", "p99 us", "lost %"],
                 [[r["name"], number(r["gbit"]), number(r["gbit_per_cpu"]),
                   number(r["messages"], "{:.0f}"), number(r["p50"], "{:.1f}"),
                   number(r["p99"], "{:.1f}"), number(r["lost"], "{:.1f}")]
                  for r in results["endpoint"]["veth"]])


def guests(results, mtu):
    """perftest over rdma_rxe and causeway perf, in the same two guests."""
    reached = {(r["who"], r["test"]): r for r in results["endpoint"]["guests"][mtu]}
    rows = []
    for test in [t for who, t in reached if who == "causeway"]:
        rxe, ours = reached["rxe", test], reached["causeway", test]
        unit = "us" if "_lat" in test else "mbit"
        ratio = rxe["us"] / ours["us"] if unit == "us" else ours["mbit"] / rxe["mbit"]
        rows.append([test.replace(":", ", ") + " octets", "us" if unit == "us" else "Mbit/s",
                     number(rxe[unit], "{:.1f}"), number(ours[unit], "{:.1f}"), number(ratio)])
    return table(["perftest's name", "", "rdma_rxe", "causeway", "causeway is faster by"], rows)


def gateway_page(results):
    c, parts = Cells(results), [machine(results)]
    for to in ("uboe", "ub"):
        parts += [f"### {DIRECTION[to]}, net_pcap infinite_rx, {results['flows']} flows, Mpps",
                  net_pcap(c, to)]
    for source, text in (("cold", "a pool of 16383 packets, 155 MB, walked in shuffled order"),
                         ("dram", "the same pool, headers flushed from every cache before a pass")):
        for to in ("uboe", "ub"):
            if c.get("graph", source, to, 256):
                parts += [f"### {DIRECTION[to]}, {text}, {results['cold_flows']} flows, "
                          "ns a packet", cold(c, source, to)]
    for pool in ("hot", "cold"):
        parts += [f"### lib/ub2e by itself, {pool}, ns a packet", micro(results, pool)]
    parts += ["### CRC-32, ns", crc(results)]
    parts += ["### Congestion notification proxy", notify(results)]
    parts += ["### Notifications through a polling worker, from a message's arrival to transmission, "
              "1000000 pairs", live(results)]
    return "\n\n".join(parts) + "\n"


def uet_markdown(results):
    return "\n\n".join([
        machine(results), "### UET messages in memory", uet_memory(results),
        "### UET messages over paths of 50 Mbit/s and 1 ms", uet_paths(results),
        "### Completion of UET messages with a slow path", uet_tail(results)]) + "\n"


def endpoint_page(results):
    crcs = {r["crc"] for r in results["endpoint"]["process"]}
    return "\n\n".join([
        machine(results),
        f"### In process: both ends on one core, CRC by {', '.join(sorted(crcs))}", process(results),
        "### Between two namespaces, one veth pair", veth(results)]
        + [part for mtu in results["endpoint"]["guests"]
           for part in (f"### Between two emulated guests, payload of a packet {mtu}",
                        guests(results, mtu))]) + "\n"


def ipoib_page(results):
    r = results["ipoib"]
    ways = ("out_ns", "in_ns", "to_eth_ns", "from_eth_ns")
    parts = [machine(results), "### IPoIB in process, one core, ns a packet (Mpps)", table(
        ["IP packet", "link: out", "link: in", "router: IPoIB to Ethernet", "router: Ethernet to IPoIB"],
        [[str(c["size"])] + [f"{c[w]:.0f} ({number(1e3 / c[w])})" for w in ways] for c in r["process"]])]
    for key, name in (("interfaces", "### IPoIB between network namespaces, links of MTU 2044"),
                      ("guests", "### IPoIB in emulated guests")):
        if r[key]:
            parts += [name, table(
                ["", "packets/s, 64 octets", "UDP, Mbit/s", "TCP, Mbit/s", "TCP back, Mbit/s"],
                [[c["name"]] + [number(c[k], "{:.0f}") for k in ("pps", "udp_mbit", "tcp_mbit", "tcp_back_mbit")]
                 for c in r[key]])]
    return "\n\n".join(parts) + "\n"


ROUTING = (
    ("announced", "announced to FRR by a neighbour, by ExaBGP and its helper"),
    ("restarted", "ExaBGP starts anew; session up after {up_s:.1f} s"),
    ("helper-alone", "what ExaBGP wrote ({octets} octets), straight into the helper"),
    ("withdrawn", "all withdrawn, by ExaBGP and its helper"),
    ("exabgp-killed", "kill -9 of ExaBGP, hold-time 0: the table is empty"),
    ("bmp", "FRR connects by BMP and tells all"),
    ("bmp-withdrawn", "all withdrawn, by BMP"),
    ("show", "show proxies -j, {octets} octets"))


def routing_page(results):
    lines = {r["what"]: r for r in results["routing"]}
    rows = []
    for what, text in ROUTING:
        r = lines.get(what)
        if r:
            memory = (r["rss_kib"] - r["empty_kib"]) * 1024 / r["prefixes"] if "rss_kib" in r else None
            rows.append([text.format(**r), number(r.get("frr_s"), "{:.1f}"),
                         number(r.get("table_s", r.get("show_s")), "{:.1f}"), number(r["cpu_s"]),
                         number(memory, "{:.0f}")])
    return "\n\n".join([
        machine(results), f"### {results['routing'][0]['prefixes']} prefixes by BGP and BMP",
        table(["what", "in FRR, s", "done, s", "of it the gateway's processor, s", "octets a prefix"], rows)]) + "\n"


# A part of the results, the page's part that it is for, and what writes it.
PAGES = (("cells", "`make bench` results", gateway_page),
         ("endpoint", "`make bench` endpoint results", endpoint_page),
         ("uet", "UET results", uet_markdown),
         ("ipoib", "IPoIB results", ipoib_page),
         ("routing", "routing results", routing_page))


def replace_in(page, name, text):
    """The part of a page between the two marks of that name."""
    begin, end = f"<!-- begin of {name} -->", f"<!-- end of {name} -->"
    with open(page) as f:
        old = f.read()
    head, tail = old.split(begin)[0], old.split(end)[1]
    with open(page, "w") as f:
        f.write(f"{head}{begin}\n\n{text}\n{end}{tail}")


def write(out, results, page=None):
    os.makedirs(out, exist_ok=True)
    with open(f"{out}/bench.json", "w") as f:
        json.dump(results, f, indent=1)
    done = [(name, write_page(results)) for key, name, write_page in PAGES if key in results]
    text = "\n".join(t for _, t in done)
    with open(f"{out}/bench.md", "w") as f:
        f.write(text)
    for name, part in done if page else ():
        replace_in(page, name, part)
    print(text, end="")
