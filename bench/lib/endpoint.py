"""The software endpoint (lib/rtp, causeway perf): in process, on a veth pair beside iperf3, and in
guests beside rdma_rxe."""
import json
import os
import statistics
import subprocess
from . import iperf
from .suite import attempt, progress

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE, THERE = "10.99.0.1", "10.99.0.2"
OFFLOADS = ("gso", "tso", "gro", "tx", "rx")


def in_process(env):
    """Lines of bench/rtp; the repeats' medians."""
    cells = {}
    for _ in range(env.repeats):
        out = subprocess.run([f"{env.build}/bench/rtp", str(env.seconds)], check=True,
                             capture_output=True, text=True).stdout
        for line in map(json.loads, out.splitlines()):
            key = (line["op"], line["size"], line["mtu"], line["cc"])
            cells.setdefault(key, []).append(line)
    return [dict(v[0], gbit_per_s=statistics.median(x["gbit_per_s"] for x in v),
                 ns_per_message=statistics.median(x["ns_per_message"] for x in v),
                 bad=sum(x["bad"] for x in v)) for v in cells.values()]


class Pair:
    """Two interfaces, the other one in a namespace of its own."""

    def __init__(self, env):
        self.env, self.ns = env, f"cw-bench-{os.getpid()}"
        self.seconds = 1 if env.quick else 2

    def __enter__(self):
        for cmd in (f"ip netns add {self.ns}",
                    f"ip link add name bench0 mtu 9000 type veth peer name bench1 mtu 9000 netns {self.ns}",
                    f"ip address add {HERE}/24 dev bench0", "ip link set bench0 up",
                    f"ip -n {self.ns} link set lo up", f"ip -n {self.ns} link set bench1 up",
                    f"ip -n {self.ns} address add {THERE}/24 dev bench1"):
            subprocess.run(cmd.split(), check=True)
        return self

    def __exit__(self, *_):
        subprocess.run(["ip", "link", "del", "bench0"], check=False)
        subprocess.run(["ip", "netns", "del", self.ns], check=False)

    def offloads(self, on):
        switch = [x for o in OFFLOADS for x in (o, "on" if on else "off")]
        subprocess.run(["ethtool", "-K", "bench0", *switch], check=False, capture_output=True)
        subprocess.run(iperf.inside(self.ns, "ethtool", "-K", "bench1", *switch), check=False,
                       capture_output=True)

    def causeway(self, op, size, *options, spin=0):
        perf = [f"{self.env.build}/causeway", "perf"]
        with iperf.server(self.ns, 4791, *perf, "-s", "--spin", str(spin)):
            r = iperf.client(self.seconds, *perf, op, "-c", THERE, "-j", "-D", str(self.seconds),
                             "--size", str(size), "--spin", str(spin), *options)
        cell, cpu = r["results"][0], r["local"]["cpu_seconds"] + r["remote"]["cpu_seconds"]
        bits = cell["messages"] * cell["octets"] * 8e-9
        return {"gbit": cell["gbit_per_second"], "messages": cell["messages_per_second"],
                "gbit_per_cpu": bits / cpu if cpu else None, "p50": cell["latency_us"]["p50"],
                "p99": cell["latency_us"]["p99"], "lost": None}

    def iperf3(self, *options):
        r = iperf.iperf3(None, self.ns, THERE, self.seconds, *options)
        got = r["sum"] if "-u" in options else r["sum_received"]
        gbit, cpu = got["bits_per_second"] * 1e-9, r["cpu_utilization_percent"]
        if "lost_percent" in got:
            gbit *= 1 - got["lost_percent"] / 100
        used = (cpu["host_total"] + cpu["remote_total"]) / 100
        return {"gbit": gbit, "messages": None, "gbit_per_cpu": gbit / used if used else None,
                "p50": None, "p99": None, "lost": got.get("lost_percent")}


def subjects(pair):
    """name -> function; the second half of the name says what the interfaces do."""
    udp = ("-u", "-b", "0", "-l", "8192")
    both = {}
    for gso in (False, True):
        tag = "GSO on" if gso else "GSO off"
        both[f"iperf3 TCP, {tag}"] = (gso, lambda: pair.iperf3())
        both[f"iperf3 UDP, 8192 octets, {tag}"] = (gso, lambda: pair.iperf3(*udp))
    for op, size in (("write", 4096), ("write", 65536), ("read", 65536), ("send", 65536)):
        both[f"causeway {op}, {size} octets"] = (
            False, lambda o=op, n=size: pair.causeway(o, n, "--mtu", "8192"))
    both["causeway write, 65536 octets, GSO on"] = (
        True, lambda: pair.causeway("write", 65536, "--mtu", "8192"))
    both["causeway write, 65536 octets, --spin 50"] = (
        False, lambda: pair.causeway("write", 65536, "--mtu", "8192", spin=50))
    both["causeway write, 64 octets"] = (False, lambda: pair.causeway("write", 64))
    both["causeway write, 64 octets, --latency"] = (
        False, lambda: pair.causeway("write", 64, "--latency"))
    both["causeway write, 64 octets, --latency --spin 50"] = (
        False, lambda: pair.causeway("write", 64, "--latency", spin=50))
    return both


def on_veth(env):
    samples = {}
    with Pair(env) as pair:
        for repeat in range(env.repeats):
            for name, (gso, run) in subjects(pair).items():
                progress(f"{repeat + 1}/{env.repeats} veth: {name}")
                pair.offloads(gso)
                samples.setdefault(name, []).append(attempt(lambda *_, r=run: r(), None, None))
    return [dict({"name": n}, **{k: statistics.median(x[k] for x in v) if v[0][k] is not None else None
                                 for k in v[0]}) for n, v in samples.items()]


def in_guests(env):
    """What lab/rxe.sh reaches, by MTU; nothing where it can't run."""
    found = {}
    for mtu in (1024,) if env.quick else (1024, 4096):
        progress(f"guests, MTU {mtu}")
        report = f"{env.work}/guests-{mtu}.json"
        out = subprocess.run([f"{TOP}/lab/rxe.sh", str(mtu), "3"], capture_output=True, text=True,
                             env=dict(os.environ, JSON=report, CW_BUILD=env.build, CW_SRC=TOP))
        if os.path.exists(report):
            with open(report) as f:
                found[mtu] = json.load(f)
        elif "SKIP" not in out.stdout:
            raise RuntimeError(f"lab/rxe.sh: {out.stdout}{out.stderr}")
    return found


def run(env, results):
    progress("the endpoint in process")
    results["endpoint"] = {"process": in_process(env), "veth": on_veth(env),
                           "guests": in_guests(env)}
    progress("")
