#!/usr/bin/python3
"""ipoib_oracle.py CAUSEWAY SRC TMP - captures of real IPoIB: decode's fields as tshark reads them.
ipoib_oracle.py CAUSEWAY compare FILE TMP - the same of a pcap file of Ethernet frames of EtherType 0x88B5.

tshark checks neither ICRC nor VCRC, so both are computed here, bit by bit and by zlib. Prints TAP.
"""
import json
import struct
import subprocess
import sys
import zlib

SAME = {  # ours: tshark's
    "lrh.dlid": "infiniband.lrh.dlid", "lrh.slid": "infiniband.lrh.slid",
    "lrh.length": "infiniband.lrh.pktlen", "lrh.sl": "infiniband.lrh.sl",
    "grh.dgid": "infiniband.grh.dgid", "grh.sgid": "infiniband.grh.sgid",
    "grh.length": "infiniband.grh.paylen", "grh.hop_limit": "infiniband.grh.hoplmt",
    "bth.pkey": "infiniband.bth.p_key", "bth.dqpn": "infiniband.bth.destqp",
    "bth.padcnt": "infiniband.bth.padcnt",
    "deth.qkey": "infiniband.deth.q_key", "deth.sqpn": "infiniband.deth.srcqp",
    "mad.attribute": "infiniband.mad.attributeid", "mad.tid": "infiniband.mad.transactionid",
    "sa.mask": "infiniband.sa.componentmask", "sa.attr_offset": "infiniband.sa.attributeoffset",
    "mcmember.mgid": "infiniband.mcmemberrecord.mgid",
    "mcmember.port_gid": "infiniband.mcmemberrecord.portgid",
    "mcmember.qkey": "infiniband.mcmemberrecord.q_key",
    "mcmember.mlid": "infiniband.mcmemberrecord.mlid",
    "mcmember.mtu": "infiniband.mcmemberrecord.mtu",
    "mcmember.pkey": "infiniband.mcmemberrecord.p_key",
    "mcmember.rate": "infiniband.mcmemberrecord.rate",
    "mcmember.hop_limit": "infiniband.mcmemberrecord.hoplimit",
    "mcmember.join_state": "infiniband.mcmemberrecord.joinstate",
    "pathrecord.dgid": "infiniband.pathrecord.dgid",
    "pathrecord.dlid": "infiniband.pathrecord.dlid",
    "pathrecord.mtu": "infiniband.pathrecord.mtu",
    "pathrecord.rate": "infiniband.pathrecord.rate",
    "informinfo.gid": "infiniband.informinfo.gid",
    "informinfo.lid_begin": "infiniband.informinfo.lidrangebegin",
    "informinfo.generic": "infiniband.informinfo.isgeneric",
    "informinfo.subscribe": "infiniband.informinfo.subscribe",
    "informinfo.type": "infiniband.informinfo.type",
    "informinfo.trap": "infiniband.informinfo.trapnumberdeviceid",
    "informinfo.qpn": "infiniband.informinfo.qpn",
    "informinfo.producer": "infiniband.informinfo.producertypevendorid",
    "notice.type": "infiniband.notice.type", "notice.trap": "infiniband.notice.trapnumberdeviceid",
    "notice.producer": "infiniband.notice.producertypevendorid",
    "notice.lid": "infiniband.notice.issuerlid",
    "rmpp.version": "infiniband.rmpp.rmppversion", "rmpp.type": "infiniband.rmpp.rmpptype",
    "classportinfo.base_version": "infiniband.classportinfo.baseversion",
    "classportinfo.class_version": "infiniband.classportinfo.classversion",
    "classportinfo.cap_mask": "infiniband.classportinfo.capabilitymask",
    "icmp6.type": "icmpv6.type", "ipv6.src": "ipv6.src", "ipv6.dst": "ipv6.dst", "ipv4.src": "ip.src",
    "ipv4.dst": "ip.dst", "ipv4.ttl": "ip.ttl", "udp.sport": "udp.srcport", "udp.dport": "udp.dstport",
    "ipoib_arp.htype": "arp.hw.type", "ipoib_arp.op": "arp.opcode",
    "ipoib_arp.spa": "arp.src.proto_ipv4", "ipoib_arp.tpa": "arp.dst.proto_ipv4",
    "nd.target": "icmpv6.nd.ns.target_address",
    "dhcp.htype": "dhcp.hw.type", "dhcp.hlen": "dhcp.hw.len", "dhcp.xid": "dhcp.id",
    "dhcp.yiaddr": "dhcp.ip.your", "dhcp.broadcast": "dhcp.flags.bc",
}
FILES = ["ipoib-dhcp.pcap", "ipoib-242.pcap", "ipoib-torture.pcap", "ipoib-rocev1-ud.pcap",
         "ipoib-rocev2-ud.pcap"]


def value(text):
    text = str(text).split(",")[0]
    if text.lower() in ("true", "false"):
        return int(text.lower() == "true")
    if ":" in text or text.count(".") == 3:
        return text
    return int(text, 16) if text.startswith("0x") else int(text)


def ours(causeway, path):
    out = subprocess.run([causeway, "decode", "-j", path], capture_output=True).stdout
    for line in out.splitlines():
        p = json.loads(line)
        fields = {}
        for layer in p["layers"]:
            for k, v in layer.items():
                fields.setdefault(layer["layer"] + "." + k, v)
        yield p, fields


def theirs(path):
    args = [x for f in SAME.values() for x in ("-e", f)]
    out = subprocess.run(["tshark", "-n", "-r", path, "-T", "fields", "-E", "occurrence=f", *args],
                         check=True, capture_output=True, text=True).stdout
    for line in out.split("\n")[:-1]:
        yield dict(zip(SAME, line.split("\t")))


def compare(causeway, path):
    wrong, seen = [], set()
    for (p, mine), them in zip(ours(causeway, path), theirs(path), strict=True):
        for name, text in them.items():
            if name == "nd.target" and mine.get("icmp6.type") != 135:
                continue
            if (text == "" or name == "icmp6.type") and name not in mine:
                continue  # echoes and MLD are payload here
            if text == "" and name == "grh.dgid":
                continue
            if name.startswith("grh.") and p["link"] == "ipoib":
                continue  # tshark names them otherwise there
            if text == "" and mine.get("ipoib.reserved", "0x0000") != "0x0000":
                continue  # RFC 4391 6 says to ignore it; tshark stops there
            if name not in mine or text == "" or value(mine[name]) != value(text):
                wrong.append(f"packet {p['number']}: {name} {mine.get(name)}, tshark {text}")
            seen.add(name)
    return wrong, seen


def vcrc(data):
    crc = 0xFFFF
    for b in data:
        crc ^= b
        for _ in range(8):
            crc = crc >> 1 ^ (0xD008 if crc & 1 else 0)
    return crc ^ 0xFFFF


def crcs(path):
    """Both CRCs of each LRH .. VCRC packet, right or wrong."""
    data, at = open(path, "rb").read(), 24
    while at < len(data):
        n = struct.unpack_from("<I", data, at + 8)[0]
        p = data[at + 16:at + 16 + n]
        at += 16 + n
        end = 4 * (struct.unpack_from(">H", p, 4)[0] & 0x7FF)
        m = bytearray(p[:end - 4])
        m[0] |= 0xF0
        if m[1] & 3 == 3:
            m[8] |= 0x0F
            m[9:12] = b"\xff\xff\xff"
            m[15] = 0xFF
        m[(8, 48)[m[1] & 3 == 3] + 4] = 0xFF
        yield (struct.pack("<I", zlib.crc32(bytes(m))) == p[end - 4:end] and
               struct.pack("<H", vcrc(p[:end])) == p[end:end + 2])


def as_erf(path, out):
    """tshark knows no InfiniBand in Ethernet frames of that type, but in ERF records."""
    data, at = open(path, "rb").read(), 24
    with open(out, "wb") as f:
        f.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 197))
        while at < len(data):
            head, n = data[at:at + 8], struct.unpack_from("<I", data, at + 8)[0]
            p = data[at + 16 + 14:at + 16 + n]
            at += 16 + n
            p = p[:4 * (struct.unpack_from(">H", p, 4)[0] & 0x7FF) + 2]
            f.write(head + struct.pack("<II", len(p) + 16, len(p) + 16) +
                    struct.pack("<QBBHHH", 0, 21, 4, 0, 0, 0)[:10] + struct.pack(">HHH", len(p) + 16, 0, len(p)) + p)


def compare_link(causeway, path, tmp):
    """What a lab has captured."""
    as_erf(path, f"{tmp}/erf.pcap")
    wrong, seen = compare(causeway, f"{tmp}/erf.pcap")
    wrong += [f"packet {p['number']}: {p['verdict']}" for p, _ in ours(causeway, f"{tmp}/erf.pcap")
              if p["verdict"] not in ("ok", "fragment")]
    for w in wrong[:20]:
        print(w)
    print(f"{len(seen)} fields compared: {' '.join(sorted(seen))}")
    return 1 if wrong or len(seen) < 20 else 0


def main(causeway, src, tmp):
    print(f"1..{len(FILES) + 2}")
    bad = 0
    for n, name in enumerate(FILES, 1):
        wrong, seen = compare(causeway, f"{src}/tests/pcap/{name}")
        if len(seen) < 5:
            wrong.append(f"only {len(seen)} fields were compared")
        bad += bool(wrong)
        print(f"{'not ' * bool(wrong)}ok {n} - {name}: {len(seen)} fields as tshark reads them")
        for w in wrong[:20]:
            print("# " + w)
    raw = f"{src}/tests/pcap/ipoib-247.pcap"
    good = all(crcs(raw)) and all(p["icrc"]["status"] == "ok" and p["verdict"] == "ok"
                                  for p, _ in ours(causeway, raw))
    bad += not good
    print(f"{'not ' * (not good)}ok {len(FILES) + 1} - ICRC and VCRC of LINKTYPE 247 by zlib and by hand")
    # what craft makes of the JSON is the same file, packet by packet
    same = True
    for name in FILES + ["ipoib-247.pcap"]:
        lines = subprocess.run([causeway, "decode", "-j", f"{src}/tests/pcap/{name}"], check=True,
                               capture_output=True).stdout
        open(f"{tmp}/a.jsonl", "wb").write(lines)
        subprocess.run([causeway, "craft", f"{tmp}/a.jsonl", f"{tmp}/a.pcap"], check=True)
        again = subprocess.run([causeway, "decode", "-j", f"{tmp}/a.pcap"], check=True,
                               capture_output=True).stdout
        same = same and again == lines
    bad += not same
    print(f"{'not ' * (not same)}ok {len(FILES) + 2} - craft makes the same packets of decode's JSON")
    return 1 if bad else 0


if __name__ == "__main__":
    if sys.argv[2] == "compare":
        sys.exit(compare_link(sys.argv[1], *sys.argv[3:]))
    sys.exit(main(*sys.argv[1:]))
