#!/usr/bin/env python3
"""embed.py FILE SYMBOL OUT.c - a text file as a NUL-terminated C array, so that programs find it anywhere."""
import sys

path, symbol, out = sys.argv[1:]
data = open(path, "rb").read() + b"\0"
rows = [", ".join(f"0x{b:02x}" for b in data[i:i + 16]) for i in range(0, len(data), 16)]
with open(out, "w") as f:
    f.write(f"#include \"daemon/control/config_int.h\"\n\nconst char {symbol}[] = {{\n\t")
    f.write(",\n\t".join(rows) + "\n};\n")
