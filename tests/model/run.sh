#!/bin/sh
# run.sh - let spin look at every state of uet.pml; TAP. Exit code 77 (skipped) without spin.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
command -v spin >/dev/null || { echo "1..0 # SKIP spin is not installed"; exit 0; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cd "$tmp"
n=0 bad=0

result() { # NAME OUTPUT - good when nothing was found and nothing was cut off
	n=$((n + 1))
	if grep -q 'errors: 0' "$2" && ! grep -q 'max search depth too small\|out of memory' "$2"; then
		echo "ok $n - $1 ($(awk '/states, stored/ { print $1; exit }' "$2") states)"
	else
		bad=1
		echo "not ok $n - $1"
		sed 's/^/# /' "$2" | head -20
	fi
}

model() { # FILE
	cp "$1" model.pml
	spin -a model.pml >spin.out 2>&1 || { sed 's/^/# /' spin.out; exit 1; }
	cc -O2 -w -DSAFETY -DNOCLAIM -o safe pan.c
	cc -O2 -w -DNFAIR=3 -o live pan.c
}

model "$here/uet.pml"
./safe -m200000 -w22 >safe.out 2>&1 || true
result "delivered whole, once, never early; Acks tell the truth; no deadlock" safe.out
./live -a -f -m200000 -w22 >live.out 2>&1 || true
result "with finitely many losses everything arrives" live.out

# The properties can fail: without the memory of finished messages one is delivered twice.
sed 's/over\[m\] = true;/here[m] = 0;/' "$here/uet.pml" >broken.pml
model broken.pml
./safe -m200000 -w22 >broken.out 2>&1 || true
n=$((n + 1))
if grep -q 'errors: 0' broken.out; then
	bad=1
	echo "not ok $n - a receiver that forgets what it delivered is found out"
else
	echo "ok $n - a receiver that forgets what it delivered is found out"
fi
echo "1..$n"
exit $bad
