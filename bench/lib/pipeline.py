"""The yardstick program: bare loop, bare pipeline, and the gateway's own nodes in the same loop."""
import json
import subprocess
from . import dpdk


class Pipeline:
    def __init__(self, env):
        self.env = env

    def run(self, source, work, to, payload, *extra):
        """ns a packet"""
        env = self.env
        cmd = [f"{env.build}/bench/pipeline"] + dpdk.eal(env.cores, env.hugepages, "pipeline")
        flows = env.flows if source == "rx" else env.cold_flows
        if source == "rx":
            cmd += ["--vdev", dpdk.source(env.frames("ub" if to == "uboe" else "uboe", payload))]
        cmd += ["--", source, work, to, str(payload), str(flows), str(env.seconds)]
        cmd += extra
        out = subprocess.run(cmd, capture_output=True, text=True, timeout=60)
        if out.returncode:
            raise RuntimeError(f"{' '.join(cmd)}:\n{out.stderr[-2000:]}")
        return json.loads(out.stdout.strip().splitlines()[-1])["ns"]
