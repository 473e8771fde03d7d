#!/bin/sh
# run.sh - let spin look at every state of uet.pml; TAP. Exit code 77 (skipped) without spin.
# Each property is also tried on a model that breaks it, and must be what spin finds there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v spin >/dev/null || { echo "1..0 # SKIP spin is not installed"; exit 0; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
n=0 bad=0

ok() { # NAME
	n=$((n + 1))
	echo "ok $n - $1"
}

not_ok() { # NAME OUTPUT
	n=$((n + 1)) bad=1
	echo "not ok $n - $1"
	sed 's/^/# /' "$2" | head -20
}

explore() { # MODEL safe|live - to found.out
	cp "$1" model.pml
	spin -a model.pml >spin.out 2>&1 || { sed 's/^/# /' spin.out; exit 1; }
	if [ "$2" = safe ]; then
		cc -O2 -w -DSAFETY -DNOCLAIM -o pan pan.c
		./pan -m200000 -w22 >found.out 2>&1 || true
	else
		cc -O2 -w -DNFAIR=3 -o pan pan.c
		./pan -a -f -m200000 -w22 >found.out 2>&1 || true
	fi
}

holds() { # NAME safe|live - nothing was found and nothing was cut off
	explore "$here/uet.pml" "$2"
	if grep -q 'errors: 0' found.out && ! grep -q 'max search depth too small\|out of memory' found.out; then
		ok "$1 ($(awk '/states, stored/ { print $1; exit }' found.out) states)"
	else
		not_ok "$1" found.out
	fi
}

fails() { # NAME safe|live WHAT-IS-FOUND EDIT... - for sed; each must change the model
	name=$1 how=$2 what=$3
	shift 3
	cp "$here/uet.pml" broken.pml
	for edit; do
		sed "$edit" broken.pml >next.pml
		if cmp -s broken.pml next.pml; then
			echo "no such line: $edit" >found.out
			not_ok "$name" found.out
			return
		fi
		mv next.pml broken.pml
	done
	explore broken.pml "$how"
	if grep -qF "$what" found.out; then ok "$name"; else not_ok "$name" found.out; fi
}

holds "delivered whole, once, never early; Acks tell the truth; no deadlock" safe
holds "with finitely many losses everything arrives" live

fails "a receiver that forgets what it delivered delivers twice" safe \
	'assertion violated (delivered[m]==1)' 's/over\[m\] = true;/here[m] = 0;/'
fails "a receiver that takes the last packet for the end delivers early" safe \
	'assertion violated (came[m]==((1<<2)-1))' 's/:: here\[m\] == ALL ->/:: p == PACKETS - 1 ->/'
fails "an Ack of the whole group tells of what did not come" safe \
	'assertion violated ((acked[m]& ~(came[m]))==0)' 's/:: else -> put(back, ACK, m, p, here\[m\], false)/:: else -> put(back, ACK, m, p, ALL, false)/'
fails "a sender that ends at the first Ack ends before the message was delivered" safe \
	'assertion violated (delivered[m]>0)' 's/:: acked\[m\] == ALL -> assert/:: true -> assert/'
fails "a sender that does not send again comes to a standstill" safe \
	'invalid end state' 's/nfull(net) \&\& len(net) > 0 \&\& sent/nfull(net) \&\& sent/' \
	's/len(net) == 0 \&\& len(back) == 0 ->/sent[0] == 0 ->/'
fails "a receiver that does not answer a late packet keeps its sender waiting for ever" live \
	'acceptance cycle' 's/:: over\[m\] -> put(back, ACK, m, p, 0, true)/:: over[m] -> skip/'
fails "a receiver that never finds a buffer is waited for for ever" live \
	'acceptance cycle' 's/!has_buffer\[m\] \&\& refusals < REFUSALS ->/!has_buffer[m] ->/' 's/refusals++;/skip;/'
echo "1..$n"
exit $bad
