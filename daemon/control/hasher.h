/* hasher.h - OpenSSL's hashes for the library's protocols. */
#ifndef CW_DAEMON_HASHER_H
#define CW_DAEMON_HASHER_H

#include "causeway/hmac.h"

extern const struct cw_hasher cw_openssl_hasher;

#endif
