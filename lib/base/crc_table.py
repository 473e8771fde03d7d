#!/usr/bin/env python3
"""Write crc_table.h: CRC-32 of one octet followed by 0..7 zero octets, for slicing by 8."""
POLY = 0xEDB88320

def shift(v, bits):
    for _ in range(bits):
        v = v >> 1 ^ (POLY if v & 1 else 0)
    return v

print("/* crc_table.h - made by crc_table.py. */")
print("static const uint32_t table[8][256] = {")
for k in range(8):
    print("\t{")
    for i in range(0, 256, 8):
        print("\t\t" + " ".join("0x%08x," % shift(j, 8 + 8 * k) for j in range(i, i + 8)))
    print("\t},")
print("};")
