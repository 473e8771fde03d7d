"""IP over InfiniBand: the link machine in process; router mode between a TUN device and Ethernet, beside
the kernel routing the same traffic; with BENCH_GUESTS=1 two guests' own ib_ipoib, too."""
import contextlib
import json
import os
import signal
import statistics
import subprocess
import time
from . import iperf
from .suite import attempt, progress

MTU = 2044  # of every link, so that packets are the same
IB, ETH = "10.77.0.2", "192.0.2.2"
HCA = '"hca": [{"name": "hca0", "carrier": "ethernet:%s", "guid": "0x00000000001000%s", "lid": %d, "sm-lid": 1%s}]'
SA = ', "sa": "built-in", "partition": [{"pkey": "0x8001"}]'
HOST = """{"causeway:causeway": {"daemon": {"control-socket": "%s", "log-level": "warning"}, %s,
  "port": [{"name": "ib0", "kind": "ipoib", "device": "ib:hca0.8001", "ipoib": {"duplicate-probes": 0},
    "address": [{"address": "%s/24"}]}]}}"""
ROUTER = """{"causeway:causeway": {"daemon": {"control-socket": "%s", "log-level": "warning"}, %s,
  "port": [
    {"name": "ib0", "kind": "ipoib", "device": "ib:hca0.8001",
      "ipoib": {"mode": "router", "duplicate-probes": 0}, "address": [{"address": "10.77.0.1/24"}]},
    {"name": "eth0", "kind": "ethernet", "device": "packet:e0", "mtu": 2044,
      "address": [{"address": "192.0.2.1/24"}]}],
  "route": [{"prefix": "10.77.0.0/24", "port": "ib0"}, {"prefix": "192.0.2.0/24", "port": "eth0"}]}}"""


def in_process(env):
    """Of each packet size the fastest of the repeats."""
    best = {}
    for _ in range(env.repeats):
        out = subprocess.run([f"{env.build}/bench/ipoib"], check=True, capture_output=True, text=True)
        for line in map(json.loads, out.stdout.splitlines()):
            old = best.setdefault(line["size"], line)
            best[line["size"]] = {k: min(old[k], line[k]) for k in line}
    return list(best.values())


class Net:
    """Namespaces ib - middle - eth: veth pairs v1 - v0 and e0 - e1, without segmentation offloads, which
    neither a TUN device nor an InfiniBand link of datagrams has."""

    def __init__(self, env):
        self.env, self.daemons = env, []
        self.ns = {n: f"cw-bench-{n}-{os.getpid()}" for n in ("ib", "middle", "eth")}

    def run(self, where, *cmd):
        subprocess.run(iperf.inside(self.ns[where], *cmd), check=True, capture_output=True)

    def __enter__(self):
        for name in self.ns.values():
            subprocess.run(["ip", "netns", "add", name], check=True)
        for where, near, other, far, mtu in (("middle", "v0", "ib", "v1", 2200),
                                             ("middle", "e0", "eth", "e1", MTU)):
            self.run(where, "ip", "link", "add", near, "mtu", str(mtu), "type", "veth", "peer", "name", far,
                     "mtu", str(mtu), "netns", self.ns[other])
            for ns, interface in ((where, near), (other, far)):
                self.run(ns, "ip", "link", "set", interface, "up")
                self.run(ns, "ethtool", "-K", interface, "tso", "off", "gso", "off", "gro", "off", "tx", "off")
        self.run("eth", "ip", "address", "add", f"{ETH}/24", "dev", "e1")
        self.run("eth", "ip", "route", "add", "10.77.0.0/24", "via", "192.0.2.1")
        return self

    def __exit__(self, *_):
        self.stop()
        for name in self.ns.values():
            subprocess.run(["ip", "netns", "del", name], check=False)

    def stop(self):
        for p in self.daemons:
            p.send_signal(signal.SIGTERM)
        for p in self.daemons:
            p.wait()
        self.daemons = []

    def daemon(self, where, text):
        path = f"{self.env.work}/ipoib-{where}"
        with open(f"{path}.json", "w") as f:
            f.write(text.replace("SOCKET", f"{path}.sock"))
        with open(f"{path}.log", "w") as log:
            self.daemons.append(subprocess.Popen(
                iperf.inside(self.ns[where], f"{self.env.build}/causewayd", "-c", f"{path}.json"), stderr=log))
        self.wait(["ip", "netns", "exec", self.ns[where], f"{self.env.build}/causeway", "ipoib", "show", "links",
                   "-j", "-s", f"{path}.sock"], '"state":"up"', f"{path}.log")

    @staticmethod
    def wait(cmd, text, log):
        end = time.monotonic() + 30
        while text not in subprocess.run(cmd, capture_output=True, text=True).stdout.replace(": ", ":"):
            if time.monotonic() > end:
                raise RuntimeError(f"no IPoIB link: {open(log).read()[-500:]}")
            time.sleep(0.1)

    def kernel(self):
        """The kernel routes between the two pairs; v1 is an Ethernet interface with the link's MTU."""
        for near, address in (("v0", "10.77.0.1"), ("e0", "192.0.2.1")):
            self.run("middle", "ip", "address", "add", f"{address}/24", "dev", near)
            self.run("middle", "ip", "link", "set", near, "mtu", str(MTU))
        self.run("middle", "sysctl", "-qw", "net.ipv4.ip_forward=1")
        self.run("ib", "ip", "link", "set", "v1", "mtu", str(MTU))
        self.run("ib", "ip", "address", "add", f"{IB}/24", "dev", "v1")
        self.run("ib", "ip", "route", "add", "192.0.2.0/24", "via", "10.77.0.1")

    def no_kernel(self):
        for ns, interface in (("middle", "v0"), ("middle", "e0"), ("ib", "v1")):
            self.run(ns, "ip", "address", "flush", "dev", interface)
        self.run("middle", "sysctl", "-qw", "net.ipv4.ip_forward=0")
        for ns, interface in (("middle", "v0"), ("ib", "v1")):
            self.run(ns, "ip", "link", "set", interface, "mtu", "2200")

    def router(self):
        """A gateway in router mode, and one as host on the link, with a TUN device."""
        self.no_kernel()
        self.daemon("middle", ROUTER % ("SOCKET", HCA % ("v0", "01", 1, SA)))
        self.daemon("ib", HOST % ("SOCKET", HCA % ("v1", "04", 3, ""), IB))
        self.run("ib", "ip", "route", "replace", "192.0.2.0/24", "via", "10.77.0.1", "dev", "ib0")

    def hosts(self):
        """Two gateways as hosts of one link: TUN device to TUN device."""
        self.no_kernel()
        self.daemon("middle", HOST % ("SOCKET", HCA % ("v0", "01", 1, SA), "10.77.0.1"))
        self.daemon("ib", HOST % ("SOCKET", HCA % ("v1", "04", 3, ""), IB))


def traffic(env, net, here, there, address):
    """Packets a second of 64 octets, and goodput both ways."""
    seconds = 1 if env.quick else 2
    ends = net.ns[here], net.ns[there], address, seconds
    with contextlib.suppress(subprocess.CalledProcessError):
        net.run(here, "/usr/bin/python3", f"{env.top}/tests/system/ping.py", address, "2")
    udp = iperf.iperf3(*ends, "-u", "-b", "0", "-l", "36")["sum"]  # IP packets of 64 octets
    big = iperf.iperf3(*ends, "-u", "-b", "0", "-l", str(MTU - 28))["sum"]
    return {"sent_pps": udp["packets"] / udp["seconds"],
            "pps": (udp["packets"] - udp["lost_packets"]) / udp["seconds"],
            "udp_mbit": big["bits_per_second"] * (1 - big["lost_percent"] / 100) * 1e-6,
            "tcp_mbit": iperf.iperf3(*ends)["sum_received"]["bits_per_second"] * 1e-6,
            "tcp_back_mbit": iperf.iperf3(*ends, "-R")["sum_received"]["bits_per_second"] * 1e-6}


def over_interfaces(env):
    samples = {}
    for repeat in range(env.repeats):
        for name, start, ends in (("the kernel routes", Net.kernel, ("ib", "eth", ETH)),
                                  ("router mode", Net.router, ("ib", "eth", ETH)),
                                  ("host to host, no router", Net.hosts, ("ib", "middle", "10.77.0.1"))):
            progress(f"{repeat + 1}/{env.repeats} IPoIB: {name}")
            with Net(env) as net:
                start(net)
                samples.setdefault(name, []).append(
                    attempt(lambda *_: traffic(env, net, *ends), None, None))
    return [dict({"name": n}, **{k: statistics.median(x[k] for x in v) for k in v[0]})
            for n, v in samples.items()]


def in_guests(env):
    """What two guests reach with their own ib_ipoib, and one through router mode; they are emulated, and ten
    times slower than the machine. Two minutes."""
    if not os.environ.get("BENCH_GUESTS"):
        return []
    progress("IPoIB in guests")
    report = f"{env.work}/ipoib-guests.json"
    out = subprocess.run([f"{env.top}/lab/ipoib-guest.sh"], capture_output=True, text=True,
                         env=dict(os.environ, CW_SPEED=report, CW_BUILD=env.build, CW_SRC=env.top))
    if not os.path.exists(report):
        raise RuntimeError(f"lab/ipoib-guest.sh: {out.stdout}{out.stderr}")
    with open(report) as f:
        return [json.loads(line) for line in f]


def run(env, results):
    progress("IPoIB in process")
    results["ipoib"] = {"process": in_process(env), "interfaces": over_interfaces(env),
                        "guests": in_guests(env)}
    progress("")
