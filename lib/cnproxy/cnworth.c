/* cnworth.c - what a packet is worth to those who learn. See causeway/cnrelay.h. */
#include "causeway/cnrelay.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/roce.h"
#include "causeway/wire/ub.h"
#include "lib/cnproxy/cn_int.h"

#define HEADERS   128u /* octets that any header that is looked at lies in */
#define CM_PACKET 352u /* IPv6, and all of a MAD with its ICRC */

/* Neither asks nor ends anything: it cannot be answered. */
static bool is_middle(const uint8_t *bth)
{
	uint32_t opcode = cw_bth_opcode(bth), op = CW_BTH_OP(opcode), class = CW_BTH_CLASS(opcode);

	return (op == CW_OP_SEND_MIDDLE || op == CW_OP_WRITE_MIDDLE) && !cw_bth_ackreq(bth) &&
	       (class == CW_BTH_RC || class == CW_BTH_UC);
}

static bool is_cm(const uint8_t *bth)
{
	return cw_bth_opcode(bth) == CW_BTH_UD_SEND && cw_bth_dqpn(bth) == CW_MAD_QPN_GSI;
}

uint32_t cw_relay_worth(const struct cw_relay_settings *s, const uint8_t *ip, uint32_t len,
			uint64_t *flow)
{
	uint32_t port;
	struct cn_udp u;

	*flow = 0;
	if (cn_udp_peek(ip, len, len, &u) != CW_OK || u.len < CW_SIZE_BTH)
		return 0;
	port = cw_udp_dport(u.udp);
	if (port == s->roce_port) {
		if (is_cm(u.data))
			return len < CM_PACKET ? len : CM_PACKET;
		if (is_middle(u.data))
			*flow = qp_hash(s->seed, &u.src, &u.dst, cw_bth_dqpn(u.data)) | 1;
	} else if (port == s->ub_port) {
		if (!s->uetx_on_ub_port && u.len >= CW_SIZE_RTPH)
			*flow = qp_hash(~s->seed, &u.src, &u.dst, cw_rtph_dst_tpn(u.data)) | 1;
	} else if (port != s->uec_port) {
		return 0;
	}
	return len < HEADERS ? len : HEADERS;
}
