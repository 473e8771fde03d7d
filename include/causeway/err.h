/* err.h - the library's one list of errors, each with the scope of its blame.
 *
 * Numbers are stable and negative. The scope says what may die because of the error: the packet
 * at hand, the session it belongs to, the call that was made, or the process.
 */
#ifndef CAUSEWAY_ERR_H
#define CAUSEWAY_ERR_H

#ifdef __cplusplus
extern "C" {
#endif

#define CW_MUST_USE __attribute__((warn_unused_result))

/* X(NAME, name, number, scope, text) */
#define CW_ERRORS(X)                                                                               \
	X(SHORT, "short", 1, PACKET, "packet ends inside a header")                                \
	X(VERSION, "version", 2, PACKET, "unsupported version")                                    \
	X(LENGTH, "length", 3, PACKET, "a length field disagrees with the packet")                 \
	X(RESERVED, "reserved", 4, PACKET, "reserved code point")                                  \
	X(UNKNOWN, "unknown", 5, PACKET, "no known protocol claims these bytes")                   \
	X(CHECKSUM, "checksum", 6, PACKET, "checksum is wrong")                                    \
	X(ICRC, "icrc", 7, PACKET, "ICRC is wrong")                                                \
	X(FRAGMENT, "fragment", 8, PACKET, "IP fragment")                                          \
	X(OPTIONS, "options", 9, PACKET, "IP options or extension headers where none are allowed") \
	X(DEPTH, "depth", 10, PACKET, "too many nested headers")                                   \
	X(STATE, "state", 11, SESSION, "message not allowed in this state")                        \
	X(ARG, "arg", 12, CALLER, "invalid argument")                                              \
	X(SPACE, "space", 13, CALLER, "output buffer is too small")                                \
	X(RANGE, "range", 14, CALLER, "value does not fit the field")                              \
	X(NAME, "name", 15, CALLER, "no such name")                                                \
	X(SYNTAX, "syntax", 16, CALLER, "cannot be read as a value of this kind")                  \
	X(CONFLICT, "conflict", 17, CALLER, "two settings contradict each other")                  \
	X(NOMEM, "nomem", 18, PROCESS, "out of memory")                                            \
	X(FORBIDDEN, "forbidden", 19, PACKET, "packet kind that may not occur here")               \
	X(IO, "io", 20, CALLER, "file, socket or device refused")

enum cw_err {
	CW_OK = 0,
#define CW_X(id, name, num, scope, text) CW_E_##id = -(num),
	CW_ERRORS(CW_X)
#undef CW_X
};

enum cw_err_scope {
	CW_SCOPE_NONE,
	CW_SCOPE_PACKET,
	CW_SCOPE_SESSION,
	CW_SCOPE_CALLER,
	CW_SCOPE_PROCESS
};

/* Text of an error, static, never NULL ("unknown error" for a number not in the list). */
const char *cw_strerror(int err);

/* Stable lower-case name of an error ("short"), for JSON and counters; "ok" for CW_OK. */
const char *cw_err_name(int err);

/* What the error may take down with it; CW_SCOPE_NONE for CW_OK and unknown numbers. */
enum cw_err_scope cw_err_scope(int err);

/* A diagnosis for people: what is wrong, where, why, and which value. Filled by checks of
 * configuration; `path` is in the words of the configuration's schema. */
struct cw_diag {
	int err;
	char path[192];
	char value[96];
	char reason[256];
};

/* Fill `d` (may be NULL) and return `err`. `value` may be NULL. Text that does not fit is cut. */
int cw_diag_set(struct cw_diag *d, int err, const char *path, const char *value, const char *fmt,
		...) __attribute__((format(printf, 5, 6)));

#ifdef __cplusplus
}
#endif
#endif
