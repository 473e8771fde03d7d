#!/usr/bin/env python3
"""crc_table.py [POLY]: CRC of one octet followed by 0..7 zero octets, for slicing by 8.

POLY is the reflected polynomial, CRC-32's by default; 0x82f63b78 is that of CRC-32C, 0xd008
that of CRC-16 times x^16.
"""
import sys

POLY = int(sys.argv[1], 0) if len(sys.argv) > 1 else 0xEDB88320

def shift(v, bits):
    for _ in range(bits):
        v = v >> 1 ^ (POLY if v & 1 else 0)
    return v

print("/* Made by crc_table.py. */")
print("static const uint32_t table[8][256] = {")
for k in range(8):
    print("\t{")
    for i in range(0, 256, 8):
        print("\t\t" + " ".join("0x%08x," % shift(j, 8 + 8 * k) for j in range(i, i + 8)))
    print("\t},")
print("};")
