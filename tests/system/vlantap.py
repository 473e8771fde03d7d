#!/usr/bin/env python3
"""vlantap.py CABLE TAP VID - a VLAN of CABLE as the interface TAP, for kernels without 802.1Q.

Frames that carry VID on CABLE appear without tag on TAP, and the other way round. Runs until killed.
"""
import fcntl
import os
import select
import socket
import struct
import sys

SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 8, 23
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 2, 0x1000
ETH_P_ALL = 3


def untagged(cable, vid):
    """The next frame of this VLAN without its tag, None for one of another VLAN."""
    data, anc, _, _ = cable.recvmsg(65536, 256)
    for level, kind, aux in anc:
        if level == SOL_PACKET and kind == PACKET_AUXDATA:
            status, _, _, _, _, tci, _ = struct.unpack_from("=IIIHHHH", aux)
            if status & 0x10:
                return data if tci & 0xFFF == vid else None
    if data[12:14] != b"\x81\x00" or struct.unpack_from(">H", data, 14)[0] & 0xFFF != vid:
        return None
    return data[:12] + data[16:]


def main(cable_name, tap_name, vid):
    tap = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(tap, TUNSETIFF, struct.pack("16sH", tap_name.encode(), IFF_TAP | IFF_NO_PI))
    cable = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    cable.bind((cable_name, ETH_P_ALL))
    cable.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    cable.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    tag = struct.pack(">HH", 0x8100, vid)
    while True:
        for fd in select.select([tap, cable], [], [])[0]:
            try:
                if fd is cable:
                    frame = untagged(cable, vid)
                    if frame:
                        os.write(tap, frame)
                else:
                    frame = os.read(tap, 65536)
                    cable.send(frame[:12] + tag + frame[12:])
            except OSError:
                pass  # an interface is down: the frame is lost, as on a cable


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
