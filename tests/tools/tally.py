#!/usr/bin/env python3
"""tally.py LOG... - add up meson's test logs, subtests of TAP programs counted one by one. A log that is
not there is a failure: its tests did not run.

Prints why each skipped test was skipped, then the line `N passed, N failed[, N skipped]`; exits 1
when something failed or nothing ran.
"""
import json
import os
import re
import sys

LINE = re.compile(r"^\s*(not )?ok\b[ \d]*-?\s*([^#]*)(#\s*(SKIP|TODO)\b\s*(.*))?$", re.I)


def subtests(out):
    for line in out.splitlines():
        m = LINE.match(line)
        if m:
            yield ("skip" if (m[4] or "").upper() == "SKIP" else "fail" if m[1] else "pass",
                   m[2].strip(), m[5])


def main(logs):
    count = {"pass": 0, "fail": 0, "skip": 0}
    for log in logs:
        if not os.path.exists(log):
            count["fail"] += 1
            print(f"fail: {log}: there is no such log: its tests did not run")
            continue
        for line in open(log):
            t = json.loads(line)
            rows = list(subtests(t.get("stdout", "")))
            if t["result"] == "SKIP" and not rows:
                why = (t.get("stdout", "") + t.get("stderr", "")).strip().splitlines()
                rows = [("skip", t["name"], why[-1] if why else "no reason given")]
            bad = t["result"] not in ("OK", "SKIP", "EXPECTEDFAIL")
            if not rows or (bad and all(r[0] != "fail" for r in rows)):
                rows.append(("fail" if bad else "pass", t["name"], t["result"]))
            for result, name, why in rows:
                count[result] += 1
                if result != "pass":
                    print(f"{result}: {t['name']}: {name}: {why or ''}")
    line = f"{count['pass']} passed, {count['fail']} failed"
    print(line + (f", {count['skip']} skipped" if count["skip"] else ""))
    return 1 if count["fail"] or not count["pass"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
