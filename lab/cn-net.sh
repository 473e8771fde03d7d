# cn-net.sh - sourced by the labs of congestion notification: what their gateways have in common.
#
#   hosts p core - core c      p: the proxy near the senders, 10.0.1.0/24; c: the congested node

common() { # GATEWAY
	echo "\"forwarding\": {\"between-ethernet\": true}, \"daemon\": {\"buffers\": 8192, \"control-socket\": \"$tmp/$1.sock\"}"
}

proxy() { # INTERFACE SOURCE KIND - of the senders
	cat <<-JSON
		, "fast-cnp": {"proxy": {"enabled": true, "interface": ["$1"], "allowed-source": ["$2/32"],
		  "sender": [{"prefix": "10.0.1.0/24", "kind": "$3"}]}}
	JSON
}

proxy_config() { # MORE
	cat >"$tmp/p.json" <<-JSON
		{"causeway:causeway": { $(common p),
		  "port": [
		    {"name": "hosts", "kind": "ethernet", "device": "packet:hosts", "address": [{"address": "10.0.1.1/24"}]},
		    {"name": "core", "kind": "ethernet", "device": "packet:core", "address": [{"address": "10.0.3.1/24"}]}],
		  "route": [{"prefix": "10.0.1.0/24", "port": "hosts"}, {"prefix": "10.0.3.0/24", "port": "core"},
		    {"prefix": "0.0.0.0/0", "port": "core", "next-hop": "10.0.3.2"}] $1 }}
	JSON
}
