#!/usr/bin/python3
"""readme.py - run what README.md shows: each line `$ build/causeway ...` must print what stands below it.

A line of `...` stands for any lines. Prints TAP. CW_BUILD is the build directory (build).
"""
import os
import pathlib
import re
import subprocess
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("CW_BUILD", TOP / "build")).resolve()


def shown():
    """(command, the lines below it) of every fenced block."""
    for block in re.findall(r"^```\n(.*?)^```$", (TOP / "README.md").read_text(), re.M | re.S):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            command, _, output = part.partition("\n")
            yield command, output


def pattern(output):
    lines = [r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line) + r"\n"
             for line in output.strip("\n").split("\n")]
    return re.compile("".join(lines) if output.strip() else "")


def main():
    n = 0
    with tempfile.TemporaryDirectory() as place:
        for name, at in (("build", BUILD), ("packaging", TOP / "packaging"), ("tests", TOP / "tests")):
            os.symlink(at, pathlib.Path(place) / name)
        for command, output in shown():
            n += 1
            r = subprocess.run(["sh", "-c", command], cwd=place, capture_output=True, text=True)
            printed = "\n".join(line.rstrip() for line in (r.stdout + r.stderr).strip("\n").split("\n")) + "\n"
            good = r.returncode == 0 and pattern(output).fullmatch(printed)
            print(f"{'ok' if good else 'not ok'} {n} - {command}")
            if not good:
                print("".join(f"# {line}\n" for line in printed.split("\n")[:60]), end="")
    if n < 5:
        print(f"not ok {n + 1} - README.md shows commands")
        n += 1
    print(f"1..{n}")


main()
