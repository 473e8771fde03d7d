# balance.jq - does `causeway show -j counters` of a gateway at rest add up? Every packet that came in or
# was made by the gateway went out, was dropped by name, was for the gateway itself, or waits for a next
# hop: in total, and no port has lost more than it had.
def sum(f): map(f) | add;
["tx-full", "tx-error", "port-down", "queue-full", "cn-border"] as $late # counted where the packet would have gone out
| .ports | sum(.rx_packets + .originated) == sum(.tx_packets + .dropped + .local + .held)
and all(.dropped == ([.drops[]] | add // 0))
and all(.rx_packets + .originated >= .local + .held
	+ ([.drops | to_entries[] | select(.key | IN($late[]) | not).value] | add // 0))
