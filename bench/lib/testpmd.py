"""testpmd macswap: DPDK's own forwarder, which looks at nothing but the MAC addresses."""
import re
import subprocess
import time
from . import dpdk, machine


class Testpmd:
    def __init__(self, env):
        self.env = env

    def command(self, pcap):
        return (["stdbuf", "-oL", "dpdk-testpmd"] + dpdk.eal(self.env.cores, self.env.hugepages, "testpmd")
                + ["--vdev", dpdk.source(pcap), "--", "-i", "--forward-mode=macswap",
                   "--nb-cores=1", "--port-topology=loop", "--mbuf-size=9856",
                   "--total-num-mbufs=16384"])

    def run(self, kind, payload):
        """ns a packet on frames of that kind and payload"""
        cmd = self.command(self.env.frames(kind, payload))
        p = subprocess.Popen(cmd, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, bufsize=1)
        try:
            p.stdin.write("start\n")
            task = machine.find_thread(p.pid, ["lcore-worker", "rte-worker"])
            self.received(p)
            time.sleep(0.3)
            n0, t0 = self.received(p), machine.cpu_ns(task)
            time.sleep(self.env.seconds)
            n1, t1 = self.received(p), machine.cpu_ns(task)
            p.stdin.write("stop\nquit\n")
            p.communicate(timeout=20)
        finally:
            if p.poll() is None:
                p.kill()
                p.wait()
        return (t1 - t0) / (n1 - n0)

    @staticmethod
    def received(p):
        p.stdin.write("show port stats 0\n")
        seen = []
        for line in p.stdout:
            seen.append(line)
            m = re.search(r"RX-packets: (\d+)", line)
            if m:
                return int(m.group(1))
        raise RuntimeError("testpmd ended:\n" + "".join(seen[-20:]))
