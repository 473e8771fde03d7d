/* roce_sim.h - RoCEv2 packets and whole conversations for tests of the queue pair map. */
#ifndef TESTS_UNIT_ROCE_SIM_H
#define TESTS_UNIT_ROCE_SIM_H

#include "tests/unit/test.h"
#include "causeway/cnproxy.h"
#include "causeway/icrc.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/roce.h"

#define SIM_PACKET_MAX 400

/* xorshift: the same run every time. */
static inline uint32_t sim_rand(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return (uint32_t)(*s >> 32);
}

/* An IPv4 RoCEv2 packet without extended headers' contents but for the AETH's syndrome.
 * Returns its length. */
static inline size_t sim_packet(uint8_t *ip, uint32_t src, uint32_t dst, uint16_t sport,
				uint8_t opcode, uint32_t dqpn, uint32_t psn, bool ackreq,
				size_t body)
{
	size_t len = CW_SIZE_IPV4 + CW_SIZE_UDP + CW_SIZE_BTH + body + CW_ICRC_LEN;
	uint8_t *udp = ip + CW_SIZE_IPV4, *bth = udp + CW_SIZE_UDP;

	memset(ip, 0, len);
	ip[0] = 0x45;
	cw_ipv4_set_length(ip, (uint32_t)len);
	cw_ipv4_set_df(ip, 1);
	cw_ipv4_set_ttl(ip, 64);
	cw_ipv4_set_proto(ip, CW_IPPROTO_UDP);
	cw_put_be32(ip + 12, src);
	cw_put_be32(ip + 16, dst);
	cw_ipv4_set_checksum(ip, cw_ipv4_compute(ip));
	cw_udp_set_sport(udp, sport);
	cw_udp_set_dport(udp, CW_ROCE_PORT);
	cw_udp_set_length(udp, (uint32_t)(len - CW_SIZE_IPV4));
	cw_bth_set_opcode(bth, opcode);
	cw_bth_set_pkey(bth, 0x8123);
	cw_bth_set_dqpn(bth, dqpn);
	cw_bth_set_ackreq(bth, ackreq);
	cw_bth_set_psn(bth, psn);
	return len;
}

static inline void sim_seal(uint8_t *ip, size_t len)
{
	assert_int_equal(cw_icrc_put(ip, len, &cw_icrc_rocev2, CW_ICRC_LE), CW_OK);
}

/* A CM message without its contents; *body is where they go. sim_seal() when it is complete. */
static inline size_t sim_cm(uint8_t *ip, uint32_t src, uint32_t dst, uint32_t attr, uint64_t tid,
			    uint8_t **body)
{
	size_t len = sim_packet(ip, src, dst, 0xd872, CW_BTH_UD_SEND, CW_MAD_QPN_GSI, 0, false,
				CW_SIZE_DETH + CW_MAD_OCTETS);
	uint8_t *deth = ip + CW_SIZE_IPV4 + CW_SIZE_UDP + CW_SIZE_BTH, *mad = deth + CW_SIZE_DETH;

	cw_deth_set_qkey(deth, CW_MAD_QKEY_GSI);
	cw_deth_set_sqpn(deth, CW_MAD_QPN_GSI);
	cw_mad_set_base_version(mad, 1);
	cw_mad_set_mgmt_class(mad, CW_MAD_CLASS_CM);
	cw_mad_set_class_version(mad, 2);
	cw_mad_set_method(mad, CW_MAD_SEND);
	cw_mad_set_tid(mad, tid);
	cw_mad_set_attribute(mad, attr);
	*body = mad + CW_SIZE_MAD;
	return len;
}

static inline struct cw_gid sim_addr(uint32_t v4)
{
	uint8_t o[4];

	cw_put_be32(o, v4);
	return cw_gid_of(4, o);
}

/* The same packet, seen as it leaves in a VLAN (CW_VLAN_SEEN and a VID). */
static inline void sim_seen_in(struct cw_qpmap *m, uint16_t vlan, const uint8_t *ip, size_t len,
			       uint64_t now)
{
	uint8_t *exact = exact_copy(ip, len);
	struct cw_qp_seen seen = {exact, len, len, now, vlan};

	cw_qpmap_learn(m, &seen, 1);
	free(exact);
}

/* The VLAN of a pair that is sure. */
static inline unsigned sim_vlan(struct cw_qpmap *m, uint32_t sender, uint32_t receiver,
				uint32_t dqpn, uint64_t now)
{
	struct cw_gid s = sim_addr(sender), r = sim_addr(receiver);
	struct cw_qp_pair p = {0};

	assert_int_equal(cw_qpmap_lookup(m, &s, &r, dqpn, now, &p), CW_OK);
	return p.vlan;
}

/* What a lookup says: the source queue pair, -1 undecided, -2 never seen. */
static inline int64_t sim_lookup(struct cw_qpmap *m, uint32_t sender, uint32_t receiver,
				 uint32_t dqpn, uint64_t now)
{
	struct cw_gid s = sim_addr(sender), r = sim_addr(receiver);
	struct cw_qp_pair p = {0};
	int err = cw_qpmap_lookup(m, &s, &r, dqpn, now, &p);

	if (err == CW_OK)
		return p.sqpn;
	return err == CW_E_STATE ? -1 : -2;
}

/* Two maps know the same, and came to it by the same events. */
static inline void sim_same_maps(const struct cw_qpmap *a, const struct cw_qpmap *b)
{
	struct cw_qp_pair p, q;
	uint32_t i = 0, k = 0;

	while (memset(&p, 0, sizeof(p)), cw_qpmap_next(a, &i, &p)) {
		memset(&q, 0, sizeof(q));
		assert_true(cw_qpmap_next(b, &k, &q));
		assert_memory_equal(&p.sender, &q.sender, sizeof(p.sender));
		assert_memory_equal(&p.receiver, &q.receiver, sizeof(p.receiver));
		assert_int_equal(p.dqpn, q.dqpn);
		assert_int_equal(p.sqpn, q.sqpn);
		assert_int_equal(p.how, q.how);
		assert_int_equal(p.decided, q.decided);
		assert_int_equal(p.votes, q.votes);
		assert_int_equal(p.rivals, q.rivals);
		assert_int_equal(p.pkey, q.pkey);
		assert_int_equal(p.vlan, q.vlan);
		assert_int_equal(p.seen_ns, q.seen_ns);
	}
	assert_false(cw_qpmap_next(b, &k, &q));
	for (i = 0; i < CW_QPMAP_COUNTER_COUNT; i++)
		assert_int_equal(cw_qpmap_counter(a, i), cw_qpmap_counter(b, i));
}

#endif
