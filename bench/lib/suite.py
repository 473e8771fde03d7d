"""What is measured: cells (subject, source, direction, payload), each repeated with the others in
between, so that a slow minute of the machine hits all of them."""
import json
import os
import statistics
import subprocess
import sys
import time
from . import dpdk
from .gateway import Gateway
from .ovs import Ovs
from .pipeline import Pipeline
from .testpmd import Testpmd

PEERS = {"uboe": "ub", "ub": "uboe"}  # direction -> what goes in


def progress(text):
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K" + text)
        sys.stderr.flush()


def wanted(env, source, payload):
    """The flushed pool only shows that payload stays out of it: two sizes are enough."""
    return source != "dram" or (not env.quick and payload in (256, 8192))


def cells(env, ovs):
    """name -> function of (direction, payload) that gives ns a packet"""
    pipe, pmd, gateway = Pipeline(env), Testpmd(env), Gateway(env)
    subjects = {
        ("testpmd", "rx"): lambda to, n: pmd.run(PEERS[to], n),
        ("rewrite", "rx"): lambda to, n: pipe.run("rx", "rewrite", to, n),
        ("bare", "rx"): lambda to, n: pipe.run("rx", "bare", to, n),
        ("causewayd", "rx"): lambda to, n: gateway.run(to, n),
        ("causewayd-icrc", "rx"): lambda to, n: gateway.run(to, n, icrc=True),
        ("ovs", "rx"): lambda to, n: ovs.run("vxlan" if to == "uboe" else "plain", n),
    }
    for source in ("cold", "dram"):
        for work in ("rewrite", "bare", "graph"):
            subjects[work, source] = lambda to, n, s=source, w=work: pipe.run(s, w, to, n)
    for extra in ("icrc", "v6", "learned", "proxy"):  # next hops towards UB are never learned
        subjects["graph-" + extra, "cold"] = lambda to, n, e=extra: pipe.run("cold", "graph", to, n, e)
    return subjects


def attempt(run, to, payload, tries=4):
    """A program may find no memory or no time on a busy machine: once more, a little later."""
    for left in reversed(range(tries)):
        try:
            return run(to, payload)
        except RuntimeError:
            if not left:
                raise
            time.sleep(2)
    return None


def figure(source, ns):
    """The repeats' median. Of a pool the fastest one: the program has no driver's part that varies,
    only the processor's clock does, from process to process."""
    return statistics.median(ns) if source == "rx" else min(ns)


def measure(env, subjects):
    samples = {}
    for repeat in range(env.repeats):
        for payload in env.payloads:
            for to in ("uboe", "ub"):
                for (subject, source), run in subjects.items():
                    if not wanted(env, source, payload):
                        continue
                    progress(f"{repeat + 1}/{env.repeats} {payload} B -> {to}: {subject} {source}")
                    ns = attempt(run, to, payload)
                    if ns is not None:
                        samples.setdefault((subject, source, to, payload), []).append(ns)
    progress("")
    return [{"subject": k[0], "source": k[1], "to": k[2], "payload": k[3], "ns": v,
             "figure": figure(k[1], v)} for k, v in samples.items()]


def micro(env):
    """Lines of bench/micro; the repeats' medians."""
    groups = {}
    for _ in range(env.repeats):
        out = subprocess.run([f"{env.build}/bench/micro", "0.01" if env.quick else "0.05"],
                             check=True, capture_output=True, text=True).stdout
        for line in map(json.loads, out.splitlines()):
            key = tuple((k, v) for k, v in line.items() if k not in ("ns", "cycles"))
            groups.setdefault(key, []).append(line["ns"])
    return [dict(k, ns=v, median=statistics.median(v)) for k, v in groups.items()]


def uet_lines(env):
    """Lines of bench/uet (with huge pages, where the C library can ask for them) and of the paths."""
    huge = dict(os.environ, GLIBC_TUNABLES="glibc.malloc.hugetlb=1")
    lines = []
    for _ in range(env.repeats):
        lines += subprocess.run([f"{env.build}/bench/uet"], check=True, capture_output=True,
                                text=True, env=huge).stdout.splitlines()
    paths = dict(os.environ, CW_BUILD=env.build)
    lines += subprocess.run([f"{env.top}/bench/uet-paths.sh"] + ["quick"] * env.quick, check=True,
                            stdout=subprocess.PIPE, text=True, env=paths).stdout.splitlines()
    return [json.loads(line) for line in lines if line.startswith("{")]


def notify(env):
    """Lines of bench/notify; of each number the repeats' median."""
    runs = []
    for _ in range(env.repeats):
        out = subprocess.run([f"{env.build}/bench/notify"], check=True, capture_output=True, text=True).stdout
        runs.append([json.loads(line) for line in out.splitlines()])
    return [{k: v if isinstance(v, str) else statistics.median_low(row[k] for row in rows)
             for k, v in rows[0].items()} for rows in zip(*runs)]


def live(env):
    """Notifications of a polling worker: by messages a second (0: as many as it takes), data packets a walk."""
    lines = []
    for rate, data in ((100000, 0), (1000000, 0), (0, 0), (100000, 8)):
        cmd = [f"{env.build}/bench/cnlive"] + dpdk.eal(env.cores, env.hugepages, "cnlive")
        cmd += ["--", "1000000", str(env.seconds), str(rate), str(data)]
        for _ in range(env.repeats):
            out = subprocess.run(cmd, check=True, capture_output=True, text=True, timeout=120).stdout
            lines.append(json.loads(out.splitlines()[-1]))
    return lines


def gateway(env, results):
    with Ovs(env) as ovs:
        results["cells"] = measure(env, cells(env, ovs))
    progress("the library by itself")
    results["micro"] = micro(env)
    progress("the congestion notification proxy")
    results["notify"] = notify(env)
    results["live"] = live(env)
    progress("")


def uet(env, results):
    progress("UET messages")
    results["uet"] = uet_lines(env)
    progress("")


def routing(env, results):
    """Proxies by BGP and BMP, once: other people's programs take most of the time."""
    progress("proxies by BGP and BMP")
    out = subprocess.run([f"{env.top}/bench/pnc.sh", "10000" if env.quick else "100000"], check=True,
                         stdout=subprocess.PIPE, text=True, env=dict(os.environ, CW_BUILD=env.build))
    results["routing"] = [json.loads(line) for line in out.stdout.splitlines() if line.startswith("{")]
    progress("")
