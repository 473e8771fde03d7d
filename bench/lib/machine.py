"""The machine: what it is, its huge pages, and the processor time of a thread."""
import contextlib
import glob
import os
import platform
import time

NR_HUGEPAGES = "/proc/sys/vm/nr_hugepages"
WANTED_PAGES = 800  # of 2 MB: OVS keeps one pool a port, the cold pool is 160 MB


def read(path, default=""):
    try:
        with open(path) as f:
            return f.read().strip()
    except OSError:
        return default


def cpu_model():
    for line in read("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def describe(hugepages):
    governor = read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "none (not exposed)")
    virt = "hypervisor" in read("/proc/cpuinfo")
    return {
        "cpu": cpu_model(),
        "cpus": os.cpu_count(),
        "virtual": virt,
        "kernel": platform.release(),
        "governor": governor,
        "hugepages": hugepages,
        "l2": read("/sys/devices/system/cpu/cpu0/cache/index2/size"),
        "l3": read("/sys/devices/system/cpu/cpu0/cache/index3/size"),
        "load_before": os.getloadavg()[0],
    }


@contextlib.contextmanager
def huge_pages():
    """Take huge pages for the run when the kernel gives them; put the old number back. Yields how
    many there are (0: the programs run on ordinary pages)."""
    old = int(read(NR_HUGEPAGES, "0") or 0)
    got = old
    try:
        if old < WANTED_PAGES:
            with open(NR_HUGEPAGES, "w") as f:
                f.write(str(WANTED_PAGES))
            got = int(read(NR_HUGEPAGES))
    except OSError:
        pass
    if got < WANTED_PAGES // 2:
        got = 0
    try:
        yield got
    finally:
        with contextlib.suppress(OSError):
            with open(NR_HUGEPAGES, "w") as f:
                f.write(str(old))


def cores():
    """(control core, forwarding core)"""
    allowed = sorted(os.sched_getaffinity(0))
    if len(allowed) < 2:
        raise SystemExit("bench: needs two processors, one of them for forwarding alone")
    return allowed[0], allowed[-1]


def find_thread(pid, names, timeout=10):
    """Task directory of the first thread whose name begins with one of `names`."""
    end = time.monotonic() + timeout
    while time.monotonic() < end:
        for comm in glob.glob(f"/proc/{pid}/task/*/comm"):
            if read(comm).startswith(tuple(names)):
                return os.path.dirname(comm)
        time.sleep(0.02)
    raise RuntimeError(f"process {pid} has no thread {' or '.join(names)}")


def cpu_ns(task):
    """Processor time of a thread so far. Polling threads are always busy, so packets by this time
    are not disturbed by another program that got the core for a while."""
    return int(read(task + "/schedstat").split()[0])
