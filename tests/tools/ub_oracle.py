#!/usr/bin/env python3
"""Test vectors of UB and UBoE from code of its own: Python and zlib, nothing of the library.

usage: ub_oracle.py            write the vectors to standard output
       ub_oracle.py FILE       compare with FILE; exit 1 if they differ

A line is one vector:
  hdr  NAME CLAUSE HEX FIELD=VALUE,...
  pkt  NAME CLAUSE LINK OPTION HEX VERDICT ICRC PAYLOAD PAD TRAILER LAYER@OFFSET,...
  names HEADER.FIELD VALUE=NAME,...   every value that has a name
  plen MODE OCTETS CODE        and: plencrc MODE MAX CRC-32 of all codes as 16-bit words
"""
import struct
import sys
import zlib

# Widths in bits, in wire order, read from UB 2.0's figures (not from the library's tables).
HEADERS = {
    "lph": ("UB2.0/4.3.2", "crd:1 ack:1 crd_vl:4 reserved1:1 vl:4 reserved2:1 cfg:4 rt:2"
            " plen_blocks:4 plen_flits:5 plen_tail:5"),
    "cci": ("UB2.0/5.3.5.1", "mode:3 info:13"),
    "cci_caqm": ("UB2.0/5.3.5.1", "mode:3 loc:1 reserved:1 enable:1 c:1 i:1 hint:8"),
    "cci_fecn_rtt": ("UB2.0/5.3.5.1", "mode:3 loc:1 timestamp:10 fecn:2"),
    "cci_fecn": ("UB2.0/5.3.5.1", "mode:3 loc:1 reserved:10 fecn:2"),
    "npi": ("UB2.0/5.2.3", "reserved:7 permission:1 id:24"),
    "cna16": ("UB2.0/5.2.1", "scna:16 dcna:16 cci_mode:3 cci_info:13 lbf:8 sl:4 mgmt:1 nlp:3"),
    "cna24": ("UB2.0/5.2.2",
              "scna:24 dcna:24 cci_mode:3 cci_info:13 lbf:8 sl:4 reserved:1 nlp:3"),
    "netctl": ("UB2.0/B.2.6", "protocol:16 dguid:128o sguid:128o"),
    "lch": ("UB2.0/4.3.2", "zero:1 clength:5 fixed:6 cfg:4 ctrl:4 sub_ctrl:4 specific:8"),
    "rtph": ("UB2.0/6.2.1", "last:1 opcode:7 version:2 padding:2 nlp:4 src_tpn:24 dst_tpn:24"
             " a:1 f:1 reserved:6 psn:24 rspst:3 rspinfo:5 tpmsn:24"),
    "utph": ("UB2.0/6.2.1", "reserved1:1 opcode:7 version:2 padding:2 nlp:4 reserved2:48"
             " reserved3:64"),
    "ctph": ("UB2.0/6.2.1", "opcode:2 padding:2 nlp:4"),
    "cetph_ldcp": ("UB2.0/6.2.2", "ack_seq:32 ce_seq:32"),
    "cetph_caqm": ("UB2.0/6.2.2", "ack_seq:32 reserved:6 loc:1 i:1 c:8 hint:16"),
    "cetph_cnp": ("UB2.0/6.2.2", "ecn:2 loc:1 reserved1:61 reserved2:64"),
    "saetph": ("UB2.0/6.2.3", "reserved:5 bitmap_size:3 max_rcv_psn:24"),
    "upih": ("UB2.0/B.3", "reserved:8 upi:24"),
    "upih16": ("UB2.0/B.3", "reserved:1 upi:15"),
    "eidh": ("UB2.0/B.3", "seid:128a deid:128a"),
    "eidh40": ("UB2.0/B.3", "seid:20 deid:20"),
    "btah": ("UB2.0/7.2.1", "opcode:8 version:2 ee_bits:2 tv_en:1 poison:1 reserved1:1 ud_flag:1"
             " tassn:16 no_taack:1 odr_compl:1 odr_exec:2 mt_en:1 fce:1 retry:1 alloc:1"
             " reserved2:1 e_bit:1 rc_type:2 rc_id:20"),
    "btah_compact": ("UB2.0/7.2.1", "opcode:8 version:2 ee_bits:2 tv_en:1 poison:1 reserved:1"
                     " ud_flag:1 tassn:16"),
    "atah": ("UB2.0/7.2.2", "opcode:8 version:2 reserved1:2 sv:1 poison:1 reserved2:2 tassn:16"
             " rspst:3 rspinfo:5 reserved3:2 rc_type:2 rc_id:20"),
    "atah_compact": ("UB2.0/7.2.2", "opcode:8 version:2 status:2 sv:1 poison:1 reserved:2"
                     " tassn:16"),
    "udetah": ("UB2.0/7.4", "vendor1:8 subtype:4 vendor2:20"),
    "maetah": ("UB2.0/7.4", "address:64 reserved1:4 token_id:20 reserved2:8 length:32"),
    "maetah_compact": ("UB2.0/7.4", "address:58 affinity:2 so:1 len:3 reserved:12 token_id:20"),
    "mtetah": ("UB2.0/7.4", "hint:8 reserved:2 tc_type:2 tc_id:20"),
    "tvetah": ("UB2.0/7.4", "token_value:32"),
    "taidetah": ("UB2.0/7.4", "reserved:16 taid:16"),
    "ofstetah": ("UB2.0/7.4", "reserved:8 offset:24"),
    "immetah": ("UB2.0/7.4", "imm:64 token_value:32 msg_length:32"),
    "ntfetah": ("UB2.0/7.4", "address:64 reserved1:4 token_id:20 reserved2:8 token_value:32"
                " data:64"),
}


def fields_of(name):
    for item in HEADERS[name][1].split():
        field, width = item.split(":")
        yield field, int(width.rstrip("oa")), width[-1] if width[-1] in "oa" else ""


def pack(name, **values):
    """The header as octets; fields that are not named are 0."""
    bits = 0
    total = 0
    for field, width, _ in fields_of(name):
        v = values.pop(field, 0)
        assert 0 <= v < 1 << width, (name, field, v)
        bits = bits << width | v
        total += width
    assert not values and total % 8 == 0, (name, values)
    return bits.to_bytes(total // 8, "big")


# ---- Headers ---------------------------------------------------------------------------------

def ip6_text(v):
    import ipaddress
    return str(ipaddress.IPv6Address(v))


def header_vectors():
    """Two a header: octets that rise from 0x11 by 0x0f (all different), and those inverted."""
    for name, (clause, _) in HEADERS.items():
        total = sum(w for _, w, _ in fields_of(name)) // 8
        rising = bytes((0x11 + 0x0f * i) % 251 + 1 for i in range(total))
        for tag, octets in (("a", rising), ("b", bytes(255 - o for o in rising))):
            bits = int.from_bytes(octets, "big")
            left = 8 * total
            out = []
            for field, width, kind in fields_of(name):
                left -= width
                v = bits >> left & (1 << width) - 1
                text = str(v)
                if kind == "o":
                    text = v.to_bytes(width // 8, "big").hex()
                if kind == "a":
                    text = ip6_text(v)
                out.append("%s=%s" % (field, text))
            yield "hdr %s-%s %s %s %s" % (name, tag, clause, octets.hex(), ",".join(out))


# What values mean, by the tables of UB 2.0; fields with the same meaning stand together.
NAMES = {
    "lph.cfg lch.cfg": "0=link-control 3=IPv4 4=IPv6 5=network-control 6=CNA16 7=CNA24"
                       " 9=CNA16-memory",
    "lph.rt": "0=per-flow 1=per-packet 2=per-flow-shortest 3=per-packet-shortest",
    "cci.mode cci_caqm.mode cci_fecn.mode cci_fecn_rtt.mode cna16.cci_mode cna24.cci_mode":
        "0=CAQM 2=FECN_RTT 4=FECN",
    "cci_fecn.fecn cci_fecn_rtt.fecn": "0=unmarkable 1=light 2=markable 3=severe",
    "npi.permission": "0=high 1=low",
    "cna16.nlp": "0=CTPH-or-TAH 1=UPIH16",
    "cna24.nlp": "0=CTPH 2=RTPH",
    "netctl.protocol": "256=DHCPv4 257=DHCPv6 258=IP-notify 260=ULAP 262=NPIC",
    "rtph.opcode utph.opcode": "0=UTP 1=RTP 2=TPACK 3=TPACK-CC 5=TPSACK 6=TPSACK-CC 8=CNP",
    "rtph.nlp utph.nlp": "0=TAH 1=UPIH+EIDH 3=CIPH",
    "ctph.nlp": "0=TAH 1=UPIH+EIDH 2=UPIH16+EIDH40 3=CIPH",
    "rtph.rspst": "0=success 1=RNR 2=page-fault 3=completer-error 5=TA-response",
    "cetph_cnp.ecn": "0=none 1=minor 3=severe",
    "saetph.bitmap_size": "0=64-bits 1=128-bits 2=256-bits 3=512-bits 4=1024-bits",
    "btah.opcode btah_compact.opcode atah.opcode atah_compact.opcode":
        "0=Send 1=Send_imm 3=Write 4=Write_imm 5=Write_notify 6=Read 7=Atomic_compare_swap"
        " 8=Atomic_swap 9=Atomic_store 10=Atomic_load 11=Atomic_fetch_add 12=Atomic_fetch_sub"
        " 13=Atomic_fetch_and 14=Atomic_fetch_or 15=Atomic_fetch_xor 16=Management 17=TAACK"
        " 18=Read_response 19=Atomic_response 20=Write_be 21=Prefetch_tgt 23=Writeback"
        " 24=Writeback_be",
    "btah.ee_bits btah_compact.ee_bits": "1=non-TEE 3=TEE",
    "btah.odr_exec": "0=none 1=relaxed 2=strong",
    "btah.rc_type atah.rc_type": "0=SQ 1=SQ 2=SC",
    "atah.rspst": "0=success 1=RNR 2=page-fault 3=completer-error 5=received-not-placed",
    "atah_compact.status": "0=ok 1=authentication-failed",
    "mtetah.tc_type": "0=TC 1=TC 2=group",
    "udetah.subtype": "0=ADD 1=CLR 2=EOR 3=SET 4=SMAX 5=SMIN 6=UMAX 7=UMIN",
}


def name_vectors():
    for fields, names in NAMES.items():
        for field in fields.split():
            yield "names %s %s" % (field, names.replace(" ", ","))


# ---- PLENGTH by filling flits one octet at a time --------------------------------------------

def plength(octets, end):
    """PLENGTH of `octets` behind the LPH, blocks ending in `end` octets (4: CRC, 1: END)."""
    left = octets
    head = 4
    block = 0
    while left > 640 - head - end:      # a full block that others follow
        left -= 640 - head - end
        head = 2
        block += 1
        if block == 16:
            return None
    flits = []                          # of the last block: room, used
    room = -end
    while room < left:
        flits.append([20 if flits else 20 - head, 0])
        room += flits[-1][0]
    for f in flits:
        f[1] = min(f[0], left)
        left -= f[1]
    if flits[-1][1] > 0:
        n = flits[-1][1]
        code = n - 1 if n <= 16 else n + 11
    else:
        n = flits[-2][1]
        code = n - 1 if n >= 17 else n + 11
    return block << 10 | len(flits) - 1 << 5 | code


def plength_vectors():
    for mode, end, most in (("crc", 4, 10142), ("plain", 1, 10190)):
        codes = [plength(n, end) for n in range(1, most + 1)]
        assert None not in codes and plength(most + 1, end) is None
        for n in sorted(set(list(range(1, 60)) + list(range(600, 680)) +
                            list(range(1, most, 97)) + [most])):
            yield "plen %s %d 0x%04x" % (mode, n, codes[n - 1])
        blob = b"".join(struct.pack(">H", c) for c in codes)
        yield "plencrc %s %d 0x%08x" % (mode, most, zlib.crc32(blob))


# ---- Packets ---------------------------------------------------------------------------------

def inet_sum(data):
    if len(data) % 2:
        data += b"\0"
    s = sum(struct.unpack(">%dH" % (len(data) // 2), data))
    while s >> 16:
        s = (s & 0xffff) + (s >> 16)
    return s


class Pkt:
    """Octets with the names and offsets of their layers."""

    def __init__(self):
        self.data = b""
        self.layers = []

    def add(self, name, octets):
        self.layers.append("%s@%d" % (name, len(self.data)))
        self.data += octets
        return self


V4 = (bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2]))
V6 = (bytes.fromhex("20010db8000000000000000000000001"),
      bytes.fromhex("20010db8000000000000000000000002"))
ETH = bytes.fromhex("02b1c2d3e4f5" + "02a1a2a3a4a5")


def ip_udp(version, body, sport=0xc000, dport=4792, ecn=2, ttl=64, ident=0, flow=0x12345,
           udp_checksum=False, dscp=0x10, options=b"", ext=b""):
    """IP and UDP headers in front of `body` (which ends with the ICRC)."""
    udp = struct.pack(">4H", sport, dport, 8 + len(body), 0)
    if version == 4:
        total = 20 + len(options) + 8 + len(body)
        h = struct.pack(">BBHHHBBH", 0x45 + len(options) // 4, dscp << 2 | ecn, total, ident,
                        0x4000, ttl, 17, 0) + V4[0] + V4[1] + options
        h = h[:10] + struct.pack(">H", 0xffff ^ inet_sum(h)) + h[12:]
        pseudo = V4[0] + V4[1] + struct.pack(">BBH", 0, 17, 8 + len(body))
    else:
        word = 6 << 28 | (dscp << 2 | ecn) << 20 | flow
        h = struct.pack(">IHBB", word, len(ext) + 8 + len(body), ext[0] if ext else 17, ttl)
        h += V6[0] + V6[1]
        if ext:
            h += bytes([17]) + ext[1:]
        pseudo = V6[0] + V6[1] + struct.pack(">II", 8 + len(body), 17)
    if udp_checksum:
        c = 0xffff ^ inet_sum(pseudo + udp + body)
        udp = udp[:6] + struct.pack(">H", c or 0xffff)
    return h, udp


def icrc(ip, udp, body):
    """Value of the ICRC of ip + udp + body (without ICRC), UB 2.0 5.3.7."""
    ip = bytearray(ip)
    if ip[0] >> 4 == 4:
        ip[1] = ip[8] = ip[10] = ip[11] = 0xff
    else:
        ip[0:4] = b"\x6f\xff\xff\xff"
        ip[7] = 0xff
    return zlib.crc32(bytes(ip) + udp[:6] + b"\xff\xff" + body)


def place(frame, version, tp, payload, pad=None, break_icrc=0, trailer=b"", cci=b"\x80\x02",
          npi=1, plen=None, lph=0, be=False, **ip):
    """A whole packet around the transport layers `tp`. Returns Pkt, pad and trailer length."""
    body = b"".join(o for _, o in tp) + payload
    if pad is None:
        pad = -len(body) % 4
    body += bytes(pad)
    h, udp = ip_udp(version, body + b"\0\0\0\0", **ip)
    crc = icrc(h, udp, body) ^ break_icrc
    tail = struct.pack(">I" if be else "<I", crc)
    if ip.get("udp_checksum"):
        h, udp = ip_udp(version, body + tail, **ip)
    p = Pkt()
    if frame == "vlan":
        p.add("eth", ETH + b"\x81\x00").add("vlan", b"\x60\x64" +
                                            (b"\x08\x00" if version == 4 else b"\x86\xdd"))
    elif frame == "qinq":
        p.add("eth", ETH + b"\x88\xa8").add("vlan", b"\x20\xc8\x81\x00")
        p.add("vlan", b"\x60\x64" + (b"\x08\x00" if version == 4 else b"\x86\xdd"))
    elif frame == "eth":
        p.add("eth", ETH + (b"\x08\x00" if version == 4 else b"\x86\xdd"))
    else:
        if frame == "ubeth":
            p.add("eth", ETH + b"\x88\xb6")
        total = 6 + len(h) + 8 + len(body) + 4
        code = plength(total, 4) if plen is None else plen
        word = lph << 20 | (3 if version == 4 else 4) << 16 | 2 << 14 | code
        p.add("lph", struct.pack(">I", word))
        modes = {0: "cci_caqm", 2: "cci_fecn_rtt", 4: "cci_fecn"}
        p.add(modes.get(cci[0] >> 5, "cci"), cci)
        p.add("npi", struct.pack(">I", npi))
    p.add("ipv4" if version == 4 else "ipv6", h[:40] if version == 6 else h)
    if len(h) > 40 and version == 6:
        p.add("ipv6_ext", h[40:])
    p.add("udp", udp)
    for name, octets in tp:
        p.add(name, octets)
    p.data += payload + bytes(pad) + tail + trailer
    return p, pad, len(trailer)


def pkt_line(name, clause, link, p, verdict, crc, payload, pad, trailer, option="-"):
    return "pkt %s %s %s %s %s %s %s %d %d %d %s" % (
        name, clause, link, option, p.data.hex(), verdict, crc, payload, pad, trailer,
        ",".join(p.layers))


def rtph(nlp, pad, op=1, **kw):
    v = dict(last=1 if op == 1 else 0, opcode=op, padding=pad, nlp=nlp, src_tpn=0x010203,
             dst_tpn=0xa4a5a6, psn=0x00c7c8, tpmsn=0x0d0e0f)
    v.update(kw)
    return ("rtph", pack("rtph", **v))


UPI = [("upih", pack("upih", upi=0x123456)),
       ("eidh", pack("eidh", seid=int.from_bytes(V6[0], "big"), deid=int.from_bytes(V6[1], "big")))]

# TAOpcode, name, headers behind the BTAH (? = by its flag), payload octets
OPS = [
    (0x00, "send", "ud? mt? ofst tv?", 11), (0x01, "send-imm", "ud? mt? ofst imm tv?", 12),
    (0x03, "write", "ud? mae tv?", 29), (0x04, "write-imm", "ud? mt? mae imm tv?", 30),
    (0x05, "write-notify", "ud? mae ntf tv?", 32), (0x06, "read", "ud? mae tv?", 0),
    (0x07, "cas", "ud? mae tv?", 16), (0x08, "swap", "ud? mae tv?", 16),
    (0x09, "store", "ud? mae tv?", 16), (0x0a, "load", "ud? mae tv?", 16),
    (0x0b, "fetch-add", "ud? mae tv?", 16), (0x0c, "fetch-sub", "ud? mae tv?", 16),
    (0x0d, "fetch-and", "ud? mae tv?", 16), (0x0e, "fetch-or", "ud? mae tv?", 16),
    (0x0f, "fetch-xor", "ud? mae tv?", 16), (0x14, "write-be", "ud? mae tv? be", 100),
    (0x15, "prefetch", "ud? mae", 0), (0x17, "writeback", "ud? mae tv?", 64),
    (0x18, "writeback-be", "ud? mae tv? be", 64),
]

EXT = {
    "ud": ("udetah", pack("udetah", vendor1=0xa1, subtype=4, vendor2=0xb2c3d)),
    "taid": ("taidetah", pack("taidetah", taid=0x7172)),
    "mt": ("mtetah", pack("mtetah", hint=0x51, tc_type=2, tc_id=0x0d52d)),
    "ofst": ("ofstetah", pack("ofstetah", offset=0x616263)),
    "imm": ("immetah", pack("immetah", imm=0x8182838485868788, token_value=0x91929394,
                            msg_length=0xa1a2a3a4)),
    "ntf": ("ntfetah", pack("ntfetah", address=0xb1b2b3b4b5b6b7b8, token_id=0xc1c2c,
                            token_value=0xd1d2d3d4, data=0xe1e2e3e4e5e6e7e8)),
    "tv": ("tvetah", pack("tvetah", token_value=0xf1f2f3f4)),
}


def ext(kind, payload):
    if kind == "mae":
        return ("maetah", pack("maetah", address=0x1122334455667788, token_id=0x99aab,
                               length=payload // 2 if payload == 16 else payload))
    if kind == "be":
        size = 8
        while 8 * size < payload:
            size *= 2
        return ("beetah", bytes((i * 37 + 1) & 255 for i in range(size)))
    return EXT[kind]


def btah(op, flags=(), **kw):
    v = dict(opcode=op, ee_bits=1, tassn=0x2122, rc_id=0x34353, tv_en=int("tv" in flags),
             ud_flag=int("ud" in flags), mt_en=int("mt" in flags))
    v.update(kw)
    return ("btah", pack("btah", **v))


def fill(n):
    return bytes((i * 7 + 0x31) & 255 for i in range(n))


def transaction(op, order, n, flags):
    """Layers of a transaction and its payload."""
    tp = [btah(op, flags)]
    for kind in order.split():
        if kind.endswith("?"):
            kind = kind[:-1]
            if kind not in flags:
                continue
        tp.append(ext(kind, n))
    return tp, fill(n)


def data_tp(nlp, ta, payload, utp=False):
    """RTPH or UTPH in front of a transaction, with its padding."""
    ids = UPI if nlp == 1 else []
    n = sum(len(o) for _, o in ids + ta) + len(payload)
    pad = -n % 4
    head = ("utph", pack("utph", padding=pad, nlp=nlp)) if utp else rtph(nlp, pad)
    return [head] + ids + ta


FRAMES = ["eth", "ub", "vlan", "ubeth", "qinq"]


def ok(name, clause, frame, version, tp, payload, option="-", crc="ok", verdict="ok", **kw):
    p, pad, trailer = place(frame, version, tp, payload, **kw)
    return pkt_line(name, clause, "ub" if frame == "ub" else "ethernet", p, verdict, crc,
                    len(payload), pad, trailer, option)


def transaction_vectors():
    i = 0
    for op, name, order, n in OPS:
        for version in (4, 6):
            for nlp in (0, 1):
                for flags in ((), [k[:-1] for k in order.split() if k.endswith("?")]):
                    ta, payload = transaction(op, order, n, flags)
                    yield ok("%s-v%d-nlp%d-%s" % (name, version, nlp, "flags" if flags else "plain"),
                             "UB2.0/T7-4", FRAMES[i % 5], version, data_tp(nlp, ta, payload),
                             payload)
                    i += 1
    for version in (4, 6):
        for op in (0x00, 0x01, 0x15):
            order, n = [(o[2], o[3]) for o in OPS if o[0] == op][0]
            ta, payload = transaction(op, order, n, ("mt",) if op < 2 else ())
            yield ok("utp-%02x-v%d" % (op, version), "UB2.0/T7-14", FRAMES[i % 5], version,
                     data_tp(0, ta, payload, utp=True), payload)
            i += 1


def operand_vectors():
    """Atomics of each size: two operands, and the one that comes back."""
    for n in (1, 2, 4, 8, 16, 32, 64):
        mae = ("maetah", pack("maetah", address=0x1122334455667788, token_id=0x99aab, length=n))
        yield ok("operands-%d" % n, "UB2.0/7.4.2.3", "eth", 4,
                 data_tp(0, [btah(0x0b), mae], fill(2 * n)), fill(2 * n))
        yield ok("operand-%d" % n, "UB2.0/7.4.2.3", "ub", 6,
                 data_tp(0, [response(0x13)], fill(n)), fill(n))


def response(op, **kw):
    v = dict(opcode=op, tassn=0x4142, rspinfo=3, rc_type=2, rc_id=0x51525)
    v.update(kw)
    return ("atah", pack("atah", **v))


def response_vectors():
    for version in (4, 6):
        f = FRAMES[version - 3]
        for op, name, n in ((0x11, "taack", 0), (0x12, "read-resp", 50), (0x13, "atomic-resp", 8),
                            (0x13, "atomic-resp-empty", 0)):
            payload = fill(n)
            yield ok("%s-v%d" % (name, version), "UB2.0/7.2.2", f, version,
                     data_tp(0, [response(op)], payload), payload)
        yield ok("atomic-resp-taid-v%d" % version, "UB2.0/T7-4", f, version,
                 data_tp(0, [response(0x13), EXT["taid"]], fill(16)), fill(16))
        ta = [btah(0x06), EXT["taid"], EXT["ofst"], ext("mae", 512)]
        yield ok("read-taid-ofst-v%d" % version, "UB2.0/T7-4", f, version, data_tp(0, ta, b""),
                 b"")
        yield ok("read-taid-v%d" % version, "UB2.0/T7-4", f, version,
                 data_tp(0, [btah(0x06, ["tv"]), EXT["taid"], ext("mae", 512), EXT["tv"]], b""),
                 b"")
        yield ok("read-ofst-v%d" % version, "UB2.0/T7-4", f, version,
                 data_tp(0, [btah(0x06), EXT["ofst"], ext("mae", 512)], b""), b"")
        ta = [btah(0x07, ["ud", "tv"]), EXT["ud"], EXT["taid"], ext("mae", 16), EXT["tv"]]
        yield ok("cas-taid-v%d" % version, "UB2.0/T7-4", f, version, data_tp(0, ta, fill(16)),
                 fill(16))
        mgmt = [btah(0x10), ("mgmtetah", fill(20))]
        yield ok("management-v%d" % version, "UB2.0/10.4.3.3", f, version, data_tp(0, mgmt, b""),
                 b"")


def ack_vectors():
    ldcp = ("cetph_ldcp", pack("cetph_ldcp", ack_seq=0x21222324, ce_seq=0x31323334))
    caqm = ("cetph_caqm", pack("cetph_caqm", ack_seq=0x21222324, loc=1, i=1, c=0x42, hint=0x5152))
    cnp = ("cetph_cnp", pack("cetph_cnp", ecn=3, loc=1))
    for version in (4, 6):
        for f in ("eth", "ub"):
            t = "-v%d-%s" % (version, f)
            yield ok("tpack" + t, "UB2.0/6.2.1", f, version, [rtph(0, 0, 2)], b"")
            yield ok("tpnak" + t, "UB2.0/6.4.2.2", f, version, [rtph(0, 0, 2, rspst=3)], b"")
            yield ok("tpack-cc" + t, "UB2.0/6.2.2", f, version, [rtph(0, 0, 3), ldcp], b"")
            yield ok("tpack-cc-caqm" + t, "UB2.0/6.2.2", f, version, [rtph(0, 0, 3), caqm], b"",
                     option="caqm")
            yield ok("cnp" + t, "UB2.0/6.2.2", f, version, [rtph(0, 0, 8), cnp], b"")
            for size in range(5):
                sack = ("saetph", pack("saetph", bitmap_size=size, max_rcv_psn=0x616263) +
                        fill(8 << size))
                yield ok("tpsack%d%s" % (size, t), "UB2.0/6.2.3", f, version,
                         [rtph(0, 0, 5), sack], b"")
            yield ok("tpsack-cc" + t, "UB2.0/6.2.3", f, version, [rtph(0, 0, 6), ldcp, sack], b"")
            yield ok("ack-extra" + t, "UB2.0/6.2.1", f, version, [rtph(0, 0, 2)], fill(8))
            yield ok("keep-alive" + t, "UB2.0/6.2.1", f, version, [rtph(0, 0, 1, f=1)], b"")
            yield ok("ciph" + t, "UB2.0/11.5", f, version, [rtph(3, 1), ("ciph", fill(43))], b"",
                     pad=1)


# ---- Golden packets of ub-wire notes V1..V5 and N1, hex as published there ---------------------

GOLDEN = {
    "v1-write": (4, "4502005000004000401126990a0000010a000002c00012b8003c000081000001020002038000"
                 "000a000000010310000100000007000000001234500000005500000000080001020304050607abd3"
                 "3066", "rtph:16 btah:8 maetah:16", 8, 0),
    "v2-write6": (6, "60212345003c114020010db800000000000000000000000120010db8000000000000000000000"
                  "002c00012b8003c000081000001020002038000000a000000010310000100000007000000001234"
                  "500000005500000000080001020304050607c4a65643", "rtph:16 btah:8 maetah:16", 8, 0),
    "v3-tpack": (4, "4502003000004000401126b90a0000020a000001c00112b8001c00000200000203000102000000"
                 "0a000000017cd366d2", "rtph:16", 0, 0),
    "v4-cnp": (4, "4502004000004000401126a90a0000020a000001c00112b8002c0000080000020300010200000000"
               "00000000c00000000000000000000000000000005afd96a9", "rtph:16 cetph_cnp:16", 0, 0),
    "v5-utp-send": (4, "4502004800004000401126a10a0000010a000002c00012b8003400000030000000000000000"
                    "00000000000000010000208000007000000050000000068656c6c6f0000006a22b7fc",
                    "utph:16 btah:8 mtetah:4 ofstetah:4", 5, 3),
}


def golden_vectors():
    for name, (version, text, layers, payload, pad) in GOLDEN.items():
        octets = bytes.fromhex(text)
        for frame in ("eth", "ub"):
            p = Pkt()
            if frame == "eth":
                p.add("eth", ETH + (b"\x08\x00" if version == 4 else b"\x86\xdd"))
            else:
                word = (3 if version == 4 else 4) << 16 | 2 << 14 | plength(6 + len(octets), 4)
                p.add("lph", struct.pack(">I", word)).add("cci_fecn", b"\x80\x02")
                p.add("npi", b"\0\0\0\1")
            at = len(p.data)
            p.data += octets
            p.layers.append("%s@%d" % ("ipv4" if version == 4 else "ipv6", at))
            at += 20 if version == 4 else 40
            p.layers.append("udp@%d" % at)
            at += 8
            for item in layers.split():
                layer, size = item.split(":")
                p.layers.append("%s@%d" % (layer, at))
                at += int(size)
            if name == "v1-write" and frame == "ub":
                assert p.data[:10].hex() == "00038089800200000001", "N1"
            yield pkt_line(name + "-" + frame, "draft/4.2", "ub" if frame == "ub" else "ethernet",
                           p, "ok", "ok", payload, pad, 0)


# ---- Native formats that do not cross to Ethernet ---------------------------------------------

def native(name, clause, cfg, layers, payload, pad=0, sealed=None, verdict="ok", crc=None,
           frame="ub", trailer=b"", rest=None, lph=True):
    """`sealed`: size of the CNA header, None for packets without ICRC."""
    p = Pkt()
    body = b"".join(o for _, o in layers) + payload + bytes(pad)
    if sealed is not None:
        m = bytearray(body)
        m[sealed - 4:sealed - 1] = b"\xff\xff\xff"
        body += struct.pack("<I", zlib.crc32(bytes(m)))
    if frame == "ubeth":
        p.add("eth", ETH + b"\x88\xb6")
    if lph:
        p.add("lph", struct.pack(">I", cfg << 16 | 2 << 14 | plength(len(body), 4)))
    for n, octets in layers:
        p.add(n, octets)
    p.data += payload + bytes(pad) + body[len(body) - (4 if sealed is not None else 0):] + trailer
    return pkt_line(name, clause, "ub" if frame == "ub" else "ethernet", p, verdict,
                    crc or ("ok" if sealed is not None else "absent"),
                    len(payload) if rest is None else rest, pad, len(trailer))


def native_vectors():
    c16 = ("cna16", pack("cna16", scna=0x1112, dcna=0x2122, cci_mode=4, cci_info=2, lbf=0x31,
                         sl=4))
    c16e = ("cna16", pack("cna16", scna=0x1112, dcna=0x2122, cci_mode=4, cci_info=2, mgmt=1,
                          nlp=1))
    c24 = ("cna24", pack("cna24", scna=0x111213, dcna=0x212223, cci_mode=4, cci_info=3, lbf=0x31))
    c24r = ("cna24", pack("cna24", scna=0x111213, dcna=0x212223, lbf=0x31, sl=5, nlp=2))
    small = [("upih16", pack("upih16", upi=0x4142)),
             ("eidh40", pack("eidh40", seid=0x51525, deid=0x61626))]
    for frame, trailer in (("ub", b""), ("ubeth", bytes(3))):
        kw = dict(frame=frame, trailer=trailer)
        ta, payload = transaction(0x03, "ud? mae tv?", 10, ("tv",))
        n = 1 + 7 + sum(len(o) for _, o in ta) + len(payload)
        pad = -n % 4
        yield native("cna16-ctp-write-" + frame, "UB2.0/5.2.1", 6,
                     [c16, ("ctph", pack("ctph", padding=pad, nlp=2))] + small + ta, payload, pad,
                     sealed=8, **kw)
        yield native("cna16-enumeration-" + frame, "UB2.0/5.2.1", 6, [c16e, small[0]], fill(18),
                     sealed=8, **kw)
        pad = -(n - 7) % 4
        yield native("cna24-ctp-" + frame, "UB2.0/5.2.2", 7,
                     [c24, ("ctph", pack("ctph", padding=pad))] + ta, payload, pad, sealed=10,
                     **kw)
        yield native("cna24-rtp-" + frame, "UB2.0/5.2.2", 7,
                     [c24r, rtph(0, -len(payload) % 4)] + ta, payload, -len(payload) % 4,
                     sealed=10, **kw)
        mem = [c16, ("btah_compact", pack("btah_compact", opcode=0x03, ee_bits=1, tassn=0x7172)),
               ("maetah_compact", pack("maetah_compact", address=0x123456789abcd, len=0,
                                       token_id=0x81828))]
        yield native("cna16-memory-write-" + frame, "UB2.0/B.2.4", 9, mem, fill(64), **kw)
        yield native("cna16-memory-ack-" + frame, "UB2.0/B.2.4", 9,
                     [c16, ("atah_compact", pack("atah_compact", opcode=0x11, tassn=0x7172))],
                     b"", **kw)
        yield native("network-control-" + frame, "UB2.0/B.2.6", 5,
                     [("netctl", pack("netctl", protocol=0x0106, dguid=int.from_bytes(fill(16),
                       "big"), sguid=int.from_bytes(fill(17)[1:], "big")))], fill(40), **kw)
        yield native("link-control-" + frame, "UB2.0/4.3.2", 0,
                     [("lch", pack("lch", clength=1, fixed=0x20, ctrl=2, sub_ctrl=4,
                                   specific=0x91))], fill(36), lph=False, **kw)


# ---- Options, and packets that have to be refused -----------------------------------------------

def variants():
    ta, payload = transaction(0x03, "ud? mae tv?", 29, ())
    tp = data_tp(0, ta, payload)
    for version in (4, 6):
        v = "-v%d" % version
        yield ok("icrc-bad" + v, "draft/4.2", "eth", version, tp, payload, break_icrc=0x10,
                 crc="bad", verdict="icrc")
        yield ok("icrc-big-endian" + v, "UB2.0/5.3.7", "eth", version, tp, payload, be=True,
                 option="be")
        yield ok("icrc-unchecked" + v, "UB2.0/5.3.7", "ub", version, tp, payload, break_icrc=1,
                 option="no-icrc", crc="unchecked")
        yield ok("udp-checksum" + v, "draft/4.1", "eth", version, tp, payload, udp_checksum=True)
        yield ok("trailer" + v, "draft/4.1", "vlan", version, [rtph(0, 0, 2)], b"",
                 trailer=bytes(6))
        yield ok("native-trailer" + v, "UB2.0/5.2.3", "ubeth", version, [rtph(0, 0, 2)], b"",
                 trailer=bytes(6))
        yield ok("ident-ttl-dscp" + v, "UB2.0/5.3.7", "eth", version, tp, payload, ident=0x7172,
                 ttl=3, dscp=46, ecn=3, flow=0xfedcb)
        for cci in ("0fa5", "5b6e", "8002", "9003", "2abc", "ffff"):
            yield ok("cci-%s%s" % (cci, v), "UB2.0/5.3.5.1", "ub", version, tp, payload,
                     cci=bytes.fromhex(cci), npi=0x01a1b2c3, lph=0xc1)
        yield ok("plength-wrong" + v, "UB2.0/4.3.2", "ub", version, tp, payload, plen=0x1234,
                 verdict="length")
        for n in range(8):  # links without block CRC: codes 28..30 are theirs alone
            plen = plength(6 + (20 if version == 4 else 40) + 8 + 16 + 4 * n + 4, 1)
            if plen & 31 >= 28:
                yield ok("plength-plain" + v, "UB2.0/4.3.2", "ub", version, [rtph(0, 0, 2)],
                         fill(4 * n), plen=plen)
        ta_be, _ = transaction(0x14, "ud? mae tv? be", 1000, ())
        yield ok("write-be-1000" + v, "UB2.0/7.4", "eth", version, data_tp(0, ta_be, fill(1000)),
                 fill(1000))
        yield ok("big-payload" + v, "UB2.0/3.5", "ub", version,
                 data_tp(0, ta, fill(4096)), fill(4096))


def refused(name, clause, tp, rest, verdict, **kw):
    """`tp`: the layers that are understood; `rest` stays payload."""
    return ok(name, clause, "eth", 4, tp, rest, verdict=verdict, pad=0, **kw)


def refused_vectors():
    yield refused("tp-version", "UB2.0/6.2.1", [rtph(0, 0, version=1)], fill(8), "version")
    yield refused("nlp-2", "UB2.0/6.2.1", [rtph(2, 0)], fill(8), "reserved")
    yield refused("nlp-9", "UB2.0/6.2.1", [rtph(9, 0)], fill(8), "reserved")
    yield refused("ta-version", "UB2.0/7.2.1", [rtph(0, 0), btah(3, version=1)], fill(24),
                  "version")
    yield refused("ta-opcode-02", "UB2.0/T7-1", [rtph(0, 0), btah(2)], fill(24), "reserved")
    yield refused("ta-opcode-16", "UB2.0/T7-1", [rtph(0, 0), btah(0x16)], fill(24), "reserved")
    yield refused("ta-opcode-19", "UB2.0/T7-1", [rtph(0, 0), btah(0x19)], fill(24), "reserved")
    yield refused("mt-on-write", "UB2.0/T7-4", [rtph(0, 0), btah(3, ["mt"])], fill(24),
                  "forbidden")
    yield refused("tv-on-prefetch", "UB2.0/T7-4", [rtph(0, 0), btah(0x15, ["tv"])], fill(24),
                  "forbidden")
    yield refused("read-too-long", "UB2.0/T7-4", [rtph(0, 0), btah(6)], fill(28), "length")
    yield refused("read-too-short", "UB2.0/T7-4", [rtph(0, 0), btah(6)], fill(12), "short")
    yield refused("atomic-size", "UB2.0/7.4.2.3", [rtph(0, 0), btah(7)], fill(32), "length")
    yield refused("atomic-resp-size", "UB2.0/7.4.2.3", [rtph(0, 0), response(0x13)], fill(24),
                  "length")
    yield refused("write-short", "UB2.0/T7-4", [rtph(0, 0), btah(3)], fill(12), "short")
    yield refused("sack-size-5", "UB2.0/6.2.3", [rtph(0, 0, 5)],
                  pack("saetph", bitmap_size=5) + fill(128), "reserved")
    yield refused("sack-short", "UB2.0/6.2.3", [rtph(0, 0, 5)],
                  pack("saetph", bitmap_size=4) + fill(124), "short")
    yield refused("cnp-short", "UB2.0/6.2.2", [rtph(0, 0, 8)], fill(12), "short")
    yield refused("be-too-long", "UB2.0/7.4", [rtph(0, 0), btah(0x14), ext("mae", 9)],
                  fill(1156), "length")


def vectors():
    yield "# Made by tests/tools/ub_oracle.py; do not edit. The format is described there."
    for part in (header_vectors, name_vectors, plength_vectors, golden_vectors, transaction_vectors,
                 operand_vectors, response_vectors, ack_vectors, native_vectors, variants, refused_vectors):
        yield from part()


def main():
    text = "\n".join(vectors()) + "\n"
    if len(sys.argv) == 1:
        sys.stdout.write(text)
        return 0
    with open(sys.argv[1], encoding="ascii") as f:
        have = f.read()
    if have == text:
        return 0
    sys.stderr.write("%s differs from what ub_oracle.py makes\n" % sys.argv[1])
    return 1


if __name__ == "__main__":
    sys.exit(main())
