#!/bin/sh
# causeway mgid: both ways, and what it refuses. Expected values: RFC 4391 4 and by hand.
. "$(dirname "$0")/lib.sh"

while read -r group pkey scope mgid; do
	run 0 "$group" "$causeway" mgid "$group" --pkey "$pkey" --scope "$scope"
	out_has "is $mgid" "^$mgid\$"
done <<END
224.0.0.2 0x8000 2 ff12:401b:8000::2
239.1.2.3 0x8001 5 ff15:401b:8001::f01:203
239.1.2.3 1 2 ff12:401b:8001::f01:203
255.255.255.255 0xffff 2 ff12:401b:ffff::ffff:ffff
ff02::1:ff10:4 0x8001 2 ff12:601b:8001::1:ff10:4
ff3e:40:2001:db8::4000:1 0x8001 2 ff12:601b:8001:db8::4000:1
END
run 0 "back to IPv4" "$causeway" mgid ff12:401b:8001::f01:203
out_has "says group, P_Key and scope" '^239.1.2.3, P_Key 0x8001, scope 2$'
run 0 "the broadcast-GID" "$causeway" mgid ff15:401b:ffff::ffff:ffff
out_has "is named" '^255.255.255.255, P_Key 0xffff, scope 5 (broadcast-GID)$'
run 0 "back to IPv6" "$causeway" mgid -j ff12:601b:8001:db8::4000:1
out_has "is not exact" '"group":"ff02::db8:0:0:4000:1","exact":false'
run 0 "the link-layer address" "$causeway" mgid -j 224.0.0.1 --pkey 0x8001
out_has "has the multicast QPN" '"lladdr":"00:ff:ff:ff:ff:12:40:1b:80:01:00'
run 1 "a unicast address" "$causeway" mgid 10.0.0.1 --pkey 0x8001
err_is "is none" 'causeway mgid: 10.0.0.1: not a multicast address, nor 255.255.255.255'
run 1 "a group without a P_Key" "$causeway" mgid 239.1.2.3
run 1 "an MGID of others" "$causeway" mgid ff12:401c:8001::1
err_is "is none" 'causeway mgid: ff12:401c:8001::1: not an MGID of IPoIB; for a group, give --pkey'
run 2 "no address at all" "$causeway" mgid nonsense --pkey 1
run 2 "P_Key 0" "$causeway" mgid 224.0.0.1 --pkey 0
plan
