#!/usr/bin/python3
"""smp_oracle.py CAUSEWAY DIR - SMPs with random octets, LID-routed and directed, read by tshark.

Every field that tshark names has to have the value that decode shows, and craft has to make the same
packet of decode's JSON. tshark 4.0 shows the direction bit as one of the status, and its own field for
it is always 0: the two are compared as one number. Prints TAP.
"""
import json
import random
import subprocess
import sys

SMP = {  # ours: tshark's
    "base_version": "mad.baseversion", "mgmt_class": "mad.mgmtclass", "class_version": "mad.classversion",
    "tid": "mad.transactionid", "attribute": "mad.attributeid", "modifier": "mad.attributemodifier",
}
LID_ROUTED = dict(SMP, status="mad.status", mkey="smplid.mkey")
DIRECTED = dict(SMP, status="smpdirected.smpstatus", mkey="smplid.mkey",
                hop_pointer="smpdirected.hoppointer", hop_count="smpdirected.hopcount",
                dr_slid="smpdirected.drslid", dr_dlid="smpdirected.drdlid")
PATH = {"initial": "smpdirected.initialpath", "back": "smpdirected.returnpath"}
PORTINFO = {k: "portinfo." + v for k, v in (x.split("=") for x in """
mkey=m_key gid_prefix=guid lid=lid sm_lid=mastersmlid cap_mask=capabilitymask diag_code=diagcode
mkey_lease=m_keyleaseperiod local_port=localportnum width_enabled=linkwidthenabled
width_supported=linkwidthsupported width_active=linkwidthactive speed_supported=linkspeedsupported
state=portstate phys_state=portphysicalstate down_default=linkdowndefaultstate
mkey_protect=m_keyprotectbits lmc=lmc speed_active=linkspeedactive speed_enabled=linkspeedenabled
neighbour_mtu=neighbormtu sm_sl=mastersmsl vl_cap=vlcap init_type=inittype vl_high_limit=vlhighlimit
vl_arb_high=vlarbitrationhighcap vl_arb_low=vlarbitrationlowcap init_reply=inittypereply
mtu_cap=mtucap vl_stall=vlstallcount hoq_life=hoqlife operational_vls=operationalvls
enforce_in=partitionenforcementinbound enforce_out=partitionenforcementoutbound
raw_in=filterrawinbound raw_out=filterrawoutbound mkey_violations=m_keyviolations
pkey_violations=p_keyviolations qkey_violations=q_keyviolations guid_cap=guidcap
reregister=clientreregister subnet_timeout=subnettimeout resp_time=resptimevalue
local_phy_errors=localphyerrors overrun_errors=overrunerrors credit_hint=maxcredithint
round_trip=linkroundtriplatency""".split())}


KINDS = [
    ("LID-routed", 0x01, {"smp": LID_ROUTED, "portinfo": PORTINFO}),
    ("directed route", 0x81, {"smp_dr": DIRECTED, "portinfo": PORTINFO, "smp_path": PATH}),
]


def packet(octets):
    return {"link": "erf", "layers": [
        {"layer": "erf"}, {"layer": "lrh", "vl": 15, "dlid": 3, "slid": 1},
        {"layer": "bth", "opcode": 0x64, "dqpn": 0}, {"layer": "deth", "qkey": "0", "sqpn": 0},
    ], "payload": octets.hex()}


def value(text):
    text = str(text).replace(":", "")
    if text.lower() in ("true", "false"):
        return int(text.lower() == "true")
    if len(text) == 128:
        return text
    return int(text, 16) if text.startswith("0x") else int(text)


def run(*args):
    return subprocess.run(args, check=True, capture_output=True).stdout


def compare(causeway, tmp, rng, mgmt_class, tables):
    octets = bytearray(rng.randrange(1, 256) for _ in range(256))
    octets[:2] = [1, mgmt_class]
    octets[16:18] = [0, 0x15]
    src, raw = f"{tmp}/in.jsonl", f"{tmp}/out.pcap"
    with open(src, "w") as f:
        f.write(json.dumps(packet(octets)) + "\n")
    run(causeway, "craft", src, raw)
    line = run(causeway, "decode", "-j", raw)
    ours = {x["layer"]: x for x in json.loads(line)["layers"]}
    wrong = []
    for layer, table in tables.items():
        names = ["infiniband." + t for t in table.values()]
        args = [x for name in names for x in ("-e", name)]
        got = run("tshark", "-n", "-r", raw, "-T", "fields", "-E", "occurrence=f", *args)
        for field, theirs in zip(table, got.decode().rstrip("\n").split("\t"), strict=True):
            mine = ours.get(layer, {}).get(field)
            if (layer, field) == ("smp_dr", "status"):
                mine = str(value(mine) | ours[layer]["direction"] << 15)
            if mine is None or theirs == "" or value(mine) != value(theirs):
                wrong.append(f"{layer}.{field}: {mine}, tshark {theirs}")
    with open(src, "wb") as f:
        f.write(line)
    run(causeway, "craft", src, raw)
    if run(causeway, "decode", "-j", raw) != line:
        wrong.append("craft makes another packet of decode's JSON")
    return wrong


def main(causeway, tmp):
    rng = random.Random(14)
    print(f"1..{len(KINDS)}")
    failed = 0
    for n, (name, mgmt_class, tables) in enumerate(KINDS, 1):
        wrong = [w for _ in range(4) for w in compare(causeway, tmp, rng, mgmt_class, tables)]
        failed += bool(wrong)
        fields = sum(len(t) for t in tables.values())
        print(f"{'not ' * bool(wrong)}ok {n} - PortInfo, {name}: {fields} fields as tshark reads them")
        for w in wrong[:20]:
            print("# " + w)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
