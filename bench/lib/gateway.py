"""causewayd on a port of the same kind as its peers', everything on, read from its own counters."""
import json
import os
import signal
import socket
import subprocess
import time
from . import dpdk, machine

SINK = "net_null0,no-rx=1"


ROUTES = 100000


def prefix(r):
    """BENCH_NET4() of frames.h"""
    net = 0x10000 + r * 73
    return f"{net >> 16}.{net >> 8 & 255}.{net & 255}.0/24"


def config(to, source, control, icrc):
    """A gateway with as many routes and next hops as the bare pipeline has."""
    ub, eth = (source, SINK) if to == "uboe" else (SINK, source)
    route = [{"prefix": prefix(r), "port": "eth0" if to == "uboe" else "ub0"}
             for r in range(ROUTES)]
    if to == "uboe":
        for i, r in enumerate(route):
            r["mac"] = f"02:00:00:01:00:{i & 255:02x}"
    check = "drop" if icrc else "off"
    return {"causeway:causeway": {
        "daemon": {"idle-sleep": 0, "control-socket": control, "log-level": "warning"},
        "port": [{"name": "ub0", "kind": "ub", "device": f"dpdk:{ub}"},
                 {"name": "eth0", "kind": "ethernet", "device": f"dpdk:{eth}",
                  "promiscuous": True}],
        "route": route,
        "ub2e": {"icrc": {"check-from-ub": check, "check-from-ethernet": check}}}}


class Gateway:
    def __init__(self, env):
        self.env = env

    def run(self, to, payload, icrc=False):
        """ns a packet"""
        control = f"{self.env.work}/causewayd.sock"
        source = dpdk.source(self.env.frames("ub" if to == "uboe" else "uboe", payload))
        with open(f"{self.env.work}/gateway.json", "w") as f:
            json.dump(config(to, source, control, icrc), f)
        cmd = [f"{self.env.build}/causewayd", "--pin", "-c", f"{self.env.work}/gateway.json"]
        cpus = ",".join(map(str, self.env.cores))
        with open(f"{self.env.work}/causewayd.log", "w+") as log:
            p = subprocess.Popen(["taskset", "-c", cpus] + cmd, stderr=log)
            try:
                return self.measure(p, control, to)
            except Exception as e:
                raise RuntimeError(machine.read(log.name)[-2000:]) from e
            finally:
                p.send_signal(signal.SIGKILL)  # an endless source has nothing to drain
                p.wait()
                for left in (control, control + ".lock"):
                    if os.path.exists(left):
                        os.unlink(left)

    def measure(self, p, control, to):
        ask = Control(control, p)
        task = machine.find_thread(p.pid, ["lcore-worker", "rte-worker"])
        time.sleep(0.3)
        ends = ("ub0", "eth0") if to == "uboe" else ("eth0", "ub0")
        (r0, s0), t0 = ask.packets(*ends), machine.cpu_ns(task)
        time.sleep(self.env.seconds)
        (r1, s1), t1 = ask.packets(*ends), machine.cpu_ns(task)
        if s1 - s0 < 0.99 * (r1 - r0) - 1000:
            raise RuntimeError(f"causewayd took {r1 - r0} packets and sent only {s1 - s0}")
        return (t1 - t0) / (s1 - s0)


class Control:
    """The control socket of a gateway that is starting."""

    def __init__(self, path, process):
        end = time.monotonic() + 20
        while True:
            self.sock = socket.socket(socket.AF_UNIX)
            try:
                self.sock.connect(path)
                break
            except OSError:
                self.sock.close()
                if time.monotonic() > end or process.poll() is not None:
                    raise
                time.sleep(0.02)
        self.file = self.sock.makefile("rw")

    def packets(self, source, sink):
        self.file.write('{"id":1,"cmd":"show","what":"counters"}\n')
        self.file.flush()
        ports = {p["port"]: p for p in json.loads(self.file.readline())["data"]["ports"]}
        return ports[source]["rx_packets"], ports[sink]["tx_packets"]
