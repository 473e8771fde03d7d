"""iperf3 and other programs with a server, between network namespaces."""
import contextlib
import json
import signal
import subprocess
import time


def inside(ns, *cmd):
    return ["ip", "netns", "exec", ns, *cmd] if ns else list(cmd)


def listens(ns, port):
    table = subprocess.run(inside(ns, "cat", "/proc/net/tcp", "/proc/net/tcp6"), text=True,
                           capture_output=True, check=True).stdout
    return any(f":{port:04X} " in line and " 0A " in line for line in table.splitlines())


@contextlib.contextmanager
def server(ns, port, *cmd):
    s = subprocess.Popen(inside(ns, *cmd), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 20
        while not listens(ns, port):
            if s.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{cmd[0]} does not listen")
            time.sleep(0.02)
        yield
    finally:
        with contextlib.suppress(subprocess.TimeoutExpired):
            s.wait(5)
        if s.poll() is None:
            s.send_signal(signal.SIGKILL)
            s.wait()


def client(seconds, *cmd):
    out = subprocess.run(cmd, text=True, capture_output=True, timeout=seconds + 60)
    try:
        return json.loads(out.stdout)
    except ValueError as e:
        raise RuntimeError(f"{cmd[0]}: {out.stderr or out.stdout}") from e


def iperf3(ns, server_ns, address, seconds, *options):
    """What iperf3 says at its end."""
    with server(server_ns, 5201, "iperf3", "-s", "-1"):
        r = client(seconds, *inside(ns, "iperf3", "-c", address, "-J", "-t", str(seconds), *options))
    if "end" not in r or "cpu_utilization_percent" not in r["end"]:
        raise RuntimeError(f"iperf3: {r.get('error', 'no result')}")
    return r["end"]
