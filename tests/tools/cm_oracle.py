#!/usr/bin/python3
"""cm_oracle.py CAUSEWAY DIR - CM messages with random fields, made by craft, read by tshark.

Every field that tshark names has to have the value that decode shows. tshark 4.0 cuts eight bits
off the flow labels and reads the packet rates from the wrong place (IBTA table 99, and the Linux
kernel's layout, have 20 and 6 bits at octet 88): of those the upper bits of the label are compared.
Prints TAP.
"""
import json
import random
import subprocess
import sys

REQ = """local_comm_id= service_id=serviceid ca_guid=localcaguid qkey=localqkey qpn=localqpn
responder_res=responderres eecn=localeecn initiator_depth=initdepth remote_eecn=remoteeecn
remote_timeout=remoteresptout transport=transpsvctype flow_control=e2eflowctrl psn=startpsn
local_timeout=localresptout retry_count=retrcount pkey=pkey mtu=pppmtu rdc=rdcexist
rnr_retry=rnrretrcount max_cm_retries=maxcmretr srq=srq ext_transport=ext_transport
local_lid=prim_locallid remote_lid=prim_remotelid local_gid=prim_localgid
remote_gid=prim_remotegid flow_label=prim_flowlabel tclass=prim_tfcclass
hop_limit=prim_hoplim sl=prim_sl subnet_local=prim_subnetlocal ack_timeout=prim_localacktout
alt_local_lid=alt_locallid alt_remote_lid=alt_remotelid alt_flow_label=alt_flowlabel
alt_tclass=alt_tfcclass alt_hop_limit=alt_hoplim alt_sl=alt_sl
alt_subnet_local=alt_subnetlocal alt_ack_timeout=alt_localacktout"""
REP = """local_comm_id= remote_comm_id=remotecommid qkey=localqkey qpn=localqpn eecn=localeecn
psn=startpsn responder_res=respres initiator_depth=initdepth ack_delay=tgtackdelay
failover=failoveracc flow_control=e2eflowctrl rnr_retry=rnrretrcount srq=srq ca_guid=localcaguid"""
IDS = "local_comm_id=localcommid remote_comm_id=remotecommid"
MESSAGES = {
    "cm_req": (140, "infiniband.cm.req", REQ),
    "cm_rep": (36, "infiniband.cm.rep", REP),
    "cm_rtu": (8, "infiniband.cm.rtu", IDS),
    "cm_rej": (84, "infiniband.cm.rej", IDS + " message=msgrej info_length=rejinfolen reason=reason"),
    "cm_dreq": (12, "infiniband.cm.dreq", IDS),
    "cm_drep": (8, "infiniband.cm.drsp", IDS),
}


def packet(layer, size, body):
    return {"layers": [
        {"layer": "eth", "dst": "02:00:00:00:00:01", "src": "02:00:00:00:00:02"},
        {"layer": "ipv6", "src": "2001:db8::1", "dst": "2001:db8::2"},
        {"layer": "udp"},
        {"layer": "bth", "opcode": 0x64, "dqpn": 1},
        {"layer": "deth", "qkey": "0x80010000", "sqpn": 1},
        {"layer": "mad", "tid": "0x1112131415161718"},
        dict(body, layer=layer, tail="00" * (232 - size)),
    ]}


def as_number(text):
    if ":" in text:
        return text
    return int(text, 16) if text.startswith("0x") else int(text)


def main(causeway, tmp):
    rng = random.Random(12)
    src, raw = f"{tmp}/in.jsonl", f"{tmp}/out.pcap"
    print(f"1..{len(MESSAGES)}")
    failed = 0
    for n, (layer, (size, proto, table)) in enumerate(MESSAGES.items(), 1):
        # random bytes first, so that the fields' own widths bound the values
        tail = bytes(rng.randrange(1, 256) for _ in range(232)).hex()
        with open(src, "w") as f:
            p = packet(layer, size, {})
            p["layers"].pop()
            p["layers"][-1].update(mgmt_class=7, class_version=2, method="0x03",
                                   attribute={"cm_req": 16, "cm_rej": 18, "cm_rep": 19,
                                              "cm_rtu": 20, "cm_dreq": 21, "cm_drep": 22}[layer])
            p["payload"] = tail
            f.write(json.dumps(p) + "\n")
        subprocess.run([causeway, "craft", src, raw], check=True)
        out = subprocess.run([causeway, "decode", "-j", raw], check=True, capture_output=True)
        ours = json.loads(out.stdout)["layers"][-1]
        rows = [r.split("=") for r in table.split()]
        names = [proto + ("." + t if t else "") for _, t in rows]
        args = [x for name in names for x in ("-e", name)]
        got = subprocess.run(["tshark", "-n", "-r", raw, "-T", "fields", "-E", "occurrence=f", *args],
                             check=True, capture_output=True, text=True).stdout.rstrip("\n").split("\t")
        wrong = [] if ours["layer"] == layer else [f"layer {ours['layer']}"]
        for (field, _), theirs in zip(rows, got):
            cut = 8 if field.endswith("flow_label") else 0
            mine = as_number(str(ours[field]))
            if (mine >> cut if cut else mine) != as_number(theirs or "0"):
                wrong.append(f"{field}: {ours[field]}, tshark {theirs}")
        failed += bool(wrong)
        print(f"{'not ' if wrong else ''}ok {n} - {layer}: {len(rows)} fields as tshark reads them")
        for w in wrong:
            print("# " + w)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
