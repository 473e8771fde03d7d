"""The machine: what it is, its huge pages, and the processor time of a thread."""
import contextlib
import glob
import os
import platform
import time

NR_HUGEPAGES = "/proc/sys/vm/nr_hugepages"
WANTED_PAGES = 1200  # of 2 MB: a pool for each OVS port, a cold pool of 160 MB, tables, and room


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


def free_huge_pages():
    for line in read("/proc/meminfo").splitlines():
        if line.startswith("HugePages_Free:"):
            return int(line.split()[1])
    return 0


@contextlib.contextmanager
def huge_pages():
    """Take huge pages for the run when the kernel gives them, beside those that others use; put the
    old number back. Yields how many are free (0: the programs run on ordinary pages)."""
    old = int(read(NR_HUGEPAGES, "0") or 0)
    missing = WANTED_PAGES - free_huge_pages()
    try:
        if missing > 0:
            with open(NR_HUGEPAGES, "w") as f:
                f.write(str(old + missing))
    except OSError:
        pass
    free = free_huge_pages()
    try:
        yield free if free >= WANTED_PAGES else 0
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
