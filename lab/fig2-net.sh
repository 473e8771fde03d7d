# fig2-net.sh - sourced by fig2.sh and fig2-ends.sh: the network of figure 2 (see there).

# The rules of section 5 are "ub2e": the defaults where nothing is given.
config() { # [UB2E]
	cat >"$tmp/g1.json" <<END
{ "causeway:causeway": {
  "daemon": { "control-socket": "$tmp/g1.sock" },
  "port": [
    { "name": "ub", "kind": "ub", "device": "packet:ub0", "mtu": 9216 },
    { "name": "eth", "kind": "ethernet", "device": "packet:eth0", "mtu": 9216,
      "address": [ { "address": "10.2.0.254/24" }, { "address": "2001:db8:2::fe/64" } ] }
  ],
  "route": [
    { "prefix": "10.1.0.0/16", "port": "ub" },
    { "prefix": "2001:db8:1::/48", "port": "ub" },
    { "prefix": "10.2.0.0/16", "port": "eth", "mac": "$(mac e eth0)" },
    { "prefix": "2001:db8:2::/48", "port": "eth", "mac": "$(mac e eth0)" }
  ],
  "ub2e": { ${1-} }
} }
END
}

net() {
	space a g1 sw e
	cable a ub0 g1 ub0
	cable g1 eth0 sw g1
	cable sw e e eth0
	bridge sw br0 g1 e
}
