/* cnproxy.c - proxy and congestion point fed with any packets. Input: settings, then records of a
 * kind, a length and an IP packet. What comes out is a packet that dissects without an error, goes
 * to a unicast sender, and never answers what is no message; a congestion point's message is one
 * that the proxy understands. */
#include "causeway/cnpoint.h"
#include "causeway/cnrelay.h"
#include "causeway/packet.h"
#include "causeway/wire/cnmsg.h"
#include "causeway/wire/eth.h"
#include "fuzz/fuzz.h"

enum { RECORDS = 100 };

struct world {
	struct cw_lpm *all;
	struct cw_gid proxy[1];
	struct cw_nrp nrps[1];
	struct cw_nrp_rule rule[1];
	struct cw_qpmap *map;
	struct cw_relay *relay;
	struct cw_relay_settings settings;
	struct cw_point *point;
};

static void fill_settings(struct world *w, struct fuzz_in *in, struct cw_point_settings *p)
{
	struct cw_relay_settings *r = &w->settings;
	uint8_t bits = fuzz_u8(in);
	enum cw_sender kind = (enum cw_sender)(1 + fuzz_u8(in) % (CW_SENDER_COUNT - 1));
	struct cw_gid zero4 = cw_gid_of(4, (const uint8_t[4]){0}), zero6 = {{0}};

	FUZZ_CHECK(cw_lpm_add(w->all, &zero4, 0, kind) == CW_OK);
	FUZZ_CHECK(cw_lpm_add(w->all, &zero6, 0, kind) == CW_OK);
	r->enabled = true;
	r->allowed = r->senders = w->all;
	r->uetx_on_ub_port = (bits & 1) != 0;
	r->coalesce_ns = (bits & 2) != 0 ? 5000 : 0;
	r->flows = p->flows = 16;
	w->nrps[0] = (struct cw_nrp){.has_qp = true, .has_tp = true};
	r->nrps = w->nrps;
	r->nnrps = 1;
	p->detect_depth = 0;
	p->option = 1 + (bits >> 2 & 1);
	p->packed = (bits & 8) != 0;
	p->own4 = cw_gid_of(4, (const uint8_t[4]){10, 9, 8, 7});
	p->own6 = (struct cw_gid){{0x20, 1}};
	w->proxy[0] = (bits & 16) != 0 ? p->own4 : p->own6;
	w->proxy[0].o[15] = 9;
	FUZZ_CHECK(cw_lpm_new((struct cw_lpm **)&p->proxy_map) == CW_OK);
	FUZZ_CHECK(cw_lpm_add((struct cw_lpm *)p->proxy_map, &zero4, 0, 1) == CW_OK);
	FUZZ_CHECK(cw_lpm_add((struct cw_lpm *)p->proxy_map, &zero6, 0, 1) == CW_OK);
	p->proxies = w->proxy;
	p->nproxies = 1;
	w->rule[0] = (struct cw_nrp_rule){CW_NRP_ANY, 0, 0};
	p->nrp = w->rule;
	p->nnrp = 1;
}

/* A packet that was made is right, as far as it is understood. */
static void check_packet(const uint8_t *ip, uint32_t len, bool reflected)
{
	struct cw_packet p;
	uint8_t *frame = malloc(CW_SIZE_ETH + len);
	int err;

	FUZZ_CHECK(frame != NULL && len >= 44 && len <= CW_RELAY_MAX);
	memset(frame, 2, CW_SIZE_ETH);
	cw_eth_set_type(frame, ip[0] >> 4 == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6);
	memcpy(frame + CW_SIZE_ETH, ip, len);
	err = cw_dissect(&p, CW_LINK_ETHERNET, frame, CW_SIZE_ETH + len, NULL);
	/* What is reflected is as wrong as it came, and cut; IP and UDP are right still. */
	FUZZ_CHECK(err == CW_OK || reflected);
	FUZZ_CHECK(p.nlayers >= 3 && p.trailer_len == 0);
	free(frame);
}

/* A message read by itself, and a burst's thrift: what is worth learning from is there. */
static void read_only(const struct cw_relay_settings *s, const uint8_t *ip, size_t len)
{
	struct cw_cnmsg m;
	unsigned option;
	uint64_t flow;

	FUZZ_CHECK(cw_relay_worth(s, ip, (uint32_t)len, &flow) <= len);
	for (option = 1; option <= 2; option++) {
		if (cw_cnmsg_parse(&m, option, ip, len) == CW_OK)
			FUZZ_CHECK(cw_cnmsg_hdr(option, len) != NULL);
		else
			FUZZ_CHECK(cw_cnmsg_hdr(option, len) == NULL);
	}
}

static void one(struct world *w, struct fuzz_in *in, uint64_t now)
{
	uint8_t kind = fuzz_u8(in), buf[CW_RELAY_MAX];
	size_t len;
	uint8_t *ip = fuzz_block(in, fuzz_u8(in), &len);
	struct cw_relay_out out;
	struct cw_point_out told;
	enum cw_relay_result why;

	read_only(&w->settings, ip, len);
	if (kind % 3 == 0)
		cw_relay_learn(w->relay, ip, len, len + kind, now);
	if (kind % 3 == 1) {
		why = cw_relay_input(w->relay, ip, len, true, now, buf, &out);
		FUZZ_CHECK(cw_relay_sent(why) == (out.len != 0));
		FUZZ_CHECK(!cw_relay_sent(why) ||
			   cw_is_cn_message(ip, len, CW_CN_PORT1, CW_CN_PORT2));
		if (cw_relay_sent(why))
			check_packet(buf, out.len, why == CW_RELAY_BTS);
	}
	if (kind % 3 == 2) {
		struct cw_point_packet pkt = {.ip = ip, .len = (uint32_t)len, .wire = 1500};

		cw_point_packet(w->point, &pkt, now, buf, &told);
		if (told.len != 0) {
			check_packet(buf, told.len, false);
			why = cw_relay_input(w->relay, buf, told.len, true, now, buf, &out);
			FUZZ_CHECK(why != CW_RELAY_FORM && why != CW_RELAY_UDP_CHECKSUM &&
				   why != CW_RELAY_NOT_MESSAGE && why != CW_RELAY_IP_LENGTH);
		}
	}
	free(ip);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};
	struct cw_point_settings p;
	struct cw_qpmap_opts o;
	struct world w = {0};
	unsigned i;

	cw_relay_settings_init(&w.settings);
	cw_point_settings_init(&p);
	cw_qpmap_opts_init(&o);
	o.pairs = 16;
	o.requests = 64;
	o.connections = 8;
	FUZZ_CHECK(cw_lpm_new(&w.all) == CW_OK);
	FUZZ_CHECK(cw_qpmap_new(&w.map, &o) == CW_OK);
	fill_settings(&w, &in, &p);
	FUZZ_CHECK(cw_relay_new(&w.relay, &w.settings, w.map, NULL) == CW_OK);
	FUZZ_CHECK(cw_point_new(&w.point, &p, NULL) == CW_OK);
	for (i = 0; i < RECORDS && in.left > 0; i++)
		one(&w, &in, 1 + i * 10000ull);
	cw_relay_free(w.relay);
	cw_point_free(w.point);
	cw_qpmap_free(w.map);
	cw_lpm_free((struct cw_lpm *)p.proxy_map);
	cw_lpm_free(w.all);
	return 0;
}
