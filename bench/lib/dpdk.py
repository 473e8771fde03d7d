"""EAL arguments that all programs of a run share."""
import os


def eal(cores, hugepages, name):
    args = ["-l", f"{cores[0]},{cores[1]}", "--no-pci", "--no-telemetry", "--log-level=4"]
    if hugepages:
        return args + ["--in-memory", f"--file-prefix=cw-{name}-{os.getpid()}"]
    return args + ["--no-huge", "--no-shconf", "-m", "768"]


def source(pcap, index=0):
    """Device arguments of a port that receives the file's frames over and over, and drops what it
    is given to send."""
    return f"net_pcap{index},rx_pcap={pcap},infinite_rx=1"
