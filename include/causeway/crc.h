/* crc.h - CRC-32 (ISO-HDLC: what zlib, Ethernet and the ICRCs of UB, RoCE and InfiniBand use),
 * CRC-32C, and the CRC-16 of InfiniBand's VCRC.
 *
 * The implementation is chosen at run time, by what the processor has: carry-less multiplication
 * 64 octets wide, ISA-L if the program links it, carry-less multiplication 16 octets wide, tables.
 * All give zlib's result. The library itself does not need ISA-L: it looks for it by a weak symbol
 * (link with -Wl,--no-as-needed -lisal).
 */
#ifndef CAUSEWAY_CRC_H
#define CAUSEWAY_CRC_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef uint32_t (*cw_crc32_fn)(uint32_t crc, const void *data, size_t len);

/* Continue a CRC over `len` more octets; start with crc 0. As zlib's crc32(). */
uint32_t cw_crc32(uint32_t crc, const void *data, size_t len);

enum cw_crc32_impl {
	CW_CRC32_TABLE,
	CW_CRC32_PCLMUL,
	CW_CRC32_VPCLMUL,
	CW_CRC32_ISAL,
	CW_CRC32_IMPLS
};

/* One implementation by itself, or NULL where this processor or program lacks it. */
cw_crc32_fn cw_crc32_get(enum cw_crc32_impl impl);

/* "table", "pclmul", "vpclmul", "isal". */
const char *cw_crc32_name(enum cw_crc32_impl impl);

/* What cw_crc32() uses on this machine. */
enum cw_crc32_impl cw_crc32_best(void);

/* CRC-32C (Castagnoli; iSCSI, SCTP, Ultra Ethernet): continue over `len` more octets; start with
 * crc 0. By the processor's instruction where it has one, else by tables. */
uint32_t cw_crc32c(uint32_t crc, const void *data, size_t len);

/* The same by tables on every machine. */
uint32_t cw_crc32c_table(uint32_t crc, const void *data, size_t len);

typedef uint16_t (*cw_crc16_fn)(uint16_t crc, const void *data, size_t len);

/* CRC-16, polynomial 0x100b reflected, init and final XOR all ones (IBTA 7.8.2): continue over
 * `len` more octets; start with crc 0. The best of what cw_crc16_get() knows. */
uint16_t cw_crc16(uint16_t crc, const void *data, size_t len);

/* CRC-16 by tables or carry-less multiplication; NULL where this processor lacks it, and for ISA-L,
 * which has no such CRC. */
cw_crc16_fn cw_crc16_get(enum cw_crc32_impl impl);

#ifdef __cplusplus
}
#endif
#endif
