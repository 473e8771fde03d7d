"""OVS-DPDK: VXLAN encapsulation and decapsulation, the work most like the gateway's. Runs from a
private directory, with its own database, sockets and processes; the caller keeps it in a network
namespace of its own."""
import os
import re
import shutil
import subprocess
import tempfile
import time
from . import dpdk, machine

VSWITCHD = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
LOCAL, REMOTE, MAC = "10.200.0.1", "10.200.0.2", "02:00:00:00:00:02"  # as frames.c has them
VNI = 101


class Ovs:
    def __init__(self, env):
        self.env = env
        self.dir = tempfile.mkdtemp(prefix="cw-ovs-")
        self.environ = dict(os.environ, OVS_RUNDIR=self.dir, OVS_LOGDIR=self.dir,
                            OVS_DBDIR=self.dir, OVS_SYSCONFDIR=self.dir)
        self.running = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for p in reversed(self.running):
            p.terminate()
            try:
                p.wait(timeout=10)
            except subprocess.TimeoutExpired:
                p.kill()
                p.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def spawn(self, *cmd):
        with open(f"{self.dir}/{os.path.basename(cmd[0])}.out", "w") as log:
            self.running.append(subprocess.Popen(cmd, env=self.environ, stdin=subprocess.DEVNULL,
                                                 stdout=log, stderr=log))
        return self.running[-1]

    def call(self, *cmd):
        out = subprocess.run(cmd, env=self.environ, capture_output=True, text=True, timeout=30)
        if out.returncode:
            raise RuntimeError(f"{' '.join(cmd)}: {out.stderr.strip()}")
        return out.stdout

    def vsctl(self, *args):
        return self.call("ovs-vsctl", f"--db=unix:{self.dir}/db.sock", "--timeout=30", *args)

    def appctl(self, *args):
        return self.call("ovs-appctl", "-t", f"{self.dir}/vswitchd.ctl", *args)

    def start(self):
        self.call("ovsdb-tool", "create", f"{self.dir}/conf.db", SCHEMA)
        self.spawn("ovsdb-server", f"{self.dir}/conf.db", f"--remote=punix:{self.dir}/db.sock",
                   f"--unixctl={self.dir}/ovsdb.ctl", f"--pidfile={self.dir}/ovsdb.pid")
        self.wait_for(f"{self.dir}/db.sock")
        extra = dpdk.eal(self.env.cores, self.env.hugepages, "ovs")[2:]  # lcores: OVS's own keys
        config = {"dpdk-init": "true", "dpdk-lcore-mask": hex(1 << self.env.cores[0]),
                  "pmd-cpu-mask": hex(1 << self.env.cores[1]), "dpdk-extra": " ".join(extra)}
        self.vsctl("--no-wait", "init", "--", "set", "Open_vSwitch", ".",
                   *[f'other_config:{k}="{v}"' for k, v in config.items()])
        self.vswitchd = self.spawn(VSWITCHD, f"unix:{self.dir}/db.sock",
                                   f"--unixctl={self.dir}/vswitchd.ctl",
                                   f"--pidfile={self.dir}/vswitchd.pid")
        self.wait_for(f"{self.dir}/vswitchd.ctl")
        self.bridges()

    def wait_for(self, path):
        end = time.monotonic() + 20
        while not os.path.exists(path):
            if time.monotonic() > end or self.running[-1].poll() is not None:
                raise RuntimeError("OVS does not start:\n" + self.log())
            time.sleep(0.02)

    def log(self):
        return machine.read(f"{self.dir}/{os.path.basename(VSWITCHD)}.out")[-3000:]

    def bridges(self):
        for br in ("br-phys", "br-int"):
            self.vsctl("add-br", br, "--", "set", "bridge", br, "datapath_type=netdev",
                       "fail_mode=secure")
        self.vsctl("set", "bridge", "br-phys", f'other_config:hwaddr="{MAC}"')
        self.vsctl("add-port", "br-int", "vx", "--", "set", "interface", "vx", "type=vxlan",
                   f"options:remote_ip={REMOTE}", f"options:key={VNI}", "ofport_request=9")
        subprocess.run(["ip", "addr", "add", f"{LOCAL}/24", "dev", "br-phys"], check=True)
        subprocess.run(["ip", "link", "set", "br-phys", "up"], check=True)
        self.appctl("tnl/arp/set", "br-phys", REMOTE, "02:00:00:00:00:03")

    def flows(self, bridge, *flows):
        self.call("ovs-ofctl", "del-flows", f"unix:{self.dir}/{bridge}.mgmt")
        for f in flows:
            self.call("ovs-ofctl", "add-flow", f"unix:{self.dir}/{bridge}.mgmt", f)

    def port(self, bridge, name, devargs):
        self.vsctl("add-port", bridge, name, "--", "set", "interface", name, "type=dpdk",
                   "ofport_request=1", "mtu_request=9300", f'options:dpdk-devargs="{devargs}"')
        err = self.vsctl("get", "interface", name, "error").strip()
        if err not in ("[]", '""'):
            raise RuntimeError(f"OVS port {name}: {err}\n{self.log()}")

    def packets(self, source, sink):
        """Received from source, sent to sink so far."""
        stats = self.appctl("dpctl/show", "-s", "netdev@ovs-netdev")
        seen = {}
        for port, rx, tx in re.findall(r"port \d+: (\S+) .*?RX packets:(\d+).*?TX packets:(\d+)",
                                       stats, re.S):
            seen[port] = int(rx), int(tx)
        return seen[source][0], seen[sink][1]

    def run(self, to, payload):
        """ns a packet. `to` vxlan: plain frames as long as UB ones go in; plain: VXLAN frames as
        long as UBoE ones."""
        encap = to == "vxlan"
        source = dpdk.source(self.env.frames("plain" if encap else "vxlan", payload))
        sink = "net_null0,no-rx=1"
        ends = ("inner", "outer") if encap else ("outer", "inner")
        self.remove_ports()  # of a run that failed
        self.port("br-int", "inner", source if encap else sink)
        self.port("br-phys", "outer", sink if encap else source)
        self.flows("br-int", "in_port=1,actions=output:9", "in_port=9,actions=output:1")
        self.flows("br-phys", "in_port=1,actions=LOCAL", "in_port=LOCAL,actions=output:1")
        ns = self.measure(*ends)
        self.remove_ports()
        return ns

    def remove_ports(self):
        self.vsctl("--if-exists", "del-port", "inner", "--", "--if-exists", "del-port", "outer")

    def measure(self, source, sink):
        task = machine.find_thread(self.vswitchd.pid, ["pmd-"])
        time.sleep(0.7)  # flows reach the caches
        (r0, s0), t0 = self.packets(source, sink), machine.cpu_ns(task)
        time.sleep(self.env.seconds)
        (r1, s1), t1 = self.packets(source, sink), machine.cpu_ns(task)
        if s1 - s0 < 0.9 * (r1 - r0):
            raise RuntimeError(f"OVS took {r1 - r0} packets and sent only {s1 - s0}")
        return (t1 - t0) / (s1 - s0)
