#!/usr/bin/python3
"""uet_oracle.py PCAP - writes packets of both UET families, made without our code.

Headers are concatenated bit strings; the CRC-32C is scapy's (its SCTP layer has one), the IP and
UDP parts are scapy's too. One line a packet on the standard output: its name, then the layers and
fields that a decoder has to find in it, as LAYER.FIELD=VALUE.
"""
import logging
import sys

logging.getLogger("scapy").setLevel(logging.ERROR)
from scapy.all import Ether, IP, IPv6, UDP, Raw, wrpcap
from scapy.layers.sctp import crc32c

ETH = Ether(dst="02:11:22:33:44:55", src="02:66:77:88:99:aa")


def bits(*fields):
    """(value, width) pairs, most significant first, to octets."""
    v = n = 0
    for value, width in fields:
        assert 0 <= value < 1 << width
        v, n = v << width | value, n + width
    assert n % 8 == 0
    return v.to_bytes(n // 8, "big")


def with_crc(ip, rest):
    """The IP packet with a CRC-32C over source address .. last octet, little-endian."""
    whole = bytes(ip / Raw(rest + bytes(4)))
    start = 12 if whole[0] >> 4 == 4 else 8
    # scapy's function returns the octets of SCTP's field, which are swapped
    v = int.from_bytes(crc32c(whole[start:-4]).to_bytes(4, "big"), "little")
    eth = ETH.copy()
    eth.type = 0x800 if start == 12 else 0x86dd
    return eth / Raw(whole[:-4] + v.to_bytes(4, "little"))


def v4(**kw):
    return IP(src="10.1.2.3", dst="10.4.5.6", id=0x1234, flags="DF", **kw)


def ue(rest, ip=None):
    return with_crc((ip or v4()) / UDP(sport=0xc001, dport=4793, chksum=0), rest)


req = bits((2, 5), (1, 4), (0, 2), (1, 1), (1, 1), (0, 1), (0, 2), (0xfff0, 16), (0x15161718, 32),
           (0x191a, 16), (0x1b1c, 16))
small = bits((0, 2), (1, 6), (0, 2), (1, 1), (0, 1), (1, 1), (0, 1), (1, 1), (1, 1), (0, 2),
             (0x1234, 14), (0x35, 8), (0x363738, 24), (0, 4), (0x93a, 12), (0, 4), (0xb3c, 12),
             (0x3d3e3f4142434445, 64))
ackcc = bits((8, 5), (4, 4), (0, 1), (1, 1), (0, 1), (0, 1), (2, 2), (0, 1), (0xfff0, 16),
             (100, 32), (0x2122, 16), (0x2324, 16), (0, 4), (0, 4), (0x25, 8), (0xfff8, 16),
             (0x26272829303132, 64), (0x3334, 16), (1, 1), (0x35, 7), (0x363738, 24), (0x393a, 16))
rsp = bits((1, 2), (1, 6), (0, 2), (0x22, 6), (0x4142, 16), (0x43, 8), (0x444546, 24),
           (0x4748494a, 32))
article = bits((1, 4), (5, 8), (11, 4), (0x131415, 24), (0x161718, 24), (0x191a1b1c, 32),
               (0x1d1e1f21, 32), (5, 16), (0, 16)) + b"abcde"
ack = bits((1, 4), (7, 8), (9, 4), (0x232425, 24), (0x262728, 24), (0x292a2b2c, 32),
           (0x2d2e2f31, 32), (0, 16), (0, 16), (0x3233, 16), (0x3435, 16))
PACKETS = [
    ("request", ue(req + small + b"data"),
     "uec_req.type=2 uec_req.retx=1 uec_req.ar=1 uec_req.clear_psn_offset=0xfff0"
     " uec_req.psn=353769240 uec_req.spdcid=0x191a uec_req.dpdcid=0x1b1c ses_small.req_len=4660"
     " ses_small.dc=1 ses_small.rel=1 ses_small.ri_gen=53 ses_small.job_id=0x363738"
     " ses_small.pid_on_fep=2362 ses_small.ri=2876 ses_small.buf_off=0x3d3e3f4142434445"),
    ("ack-cc", ue(ackcc + rsp, IPv6(src="2001:db8::1", dst="2001:db8::2")),
     "uec_ack.m=1 uec_ack.request=2 uec_ack.ack_psn_offset=0xfff0 uec_ack.cack_psn=100"
     " uec_ack_cc.mpr=37 uec_ack_cc.sack_psn_offset=0xfff8 uec_cc_nscc.service_time=13108"
     " uec_cc_nscc.restore_cwnd=1 uec_cc_nscc.rcv_cwnd_pend=53 uec_cc_nscc.rcvd_bytes=3553080"
     " uec_cc_nscc.ooo_count=14650 ses_rsp.list=1 ses_rsp.rc=34 ses_rsp.msg_id=16706"
     " ses_rsp.mod_len=1195919690"),
    ("native", with_crc(v4(proto=253), b"\xe1\xe2\0\0" + req + small),
     "uec_entropy.entropy=0xe1e2 uec_req.psn=353769240 ses_small.req_len=4660"),
    ("article", ETH / v4() / UDP(sport=0xc001, dport=4792) / Raw(article),
     "uetx.version=1 uetx.opcode=5 uetx.ec=1 uetx.s=0 uetx.f=1 uetx.l=1 uetx.dcid=0x131415"
     " uetx.scid=0x161718 uetx.msg_id=421141276 uetx.offset=488513313 uetx.length=5"),
    ("article-ack", ETH / v4() / UDP(sport=0xc001, dport=4792) / Raw(ack),
     "uetx.opcode=7 uetx.ec=1 uetx.l=1 uetx.length=0 uetx_ack.cumulative=12851"
     " uetx_ack.sack=0x3435"),
]

wrpcap(sys.argv[1], [p for _, p, _ in PACKETS])
for name, _, want in PACKETS:
    print(name, want)
