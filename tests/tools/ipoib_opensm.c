/* ipoib_opensm.c SOCKNAME - the join matrix and the link machine against OpenSM on ibsim: joins,
 * leaves, refusals, partitions, MLIDs, paths, traps; then it waits for a line on its input while
 * the lab restarts OpenSM, and looks whether the group came back. Prints TAP. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "causeway/ipoib.h"
#include "causeway/wire/mad.h"
#include "causeway/wire/sa.h"
#include "daemon/io/ibsim.h"

static const uint8_t gid2[16] = {0xfe, 0x80, [13] = 0x10, [15] = 4};
static const uint8_t gid3[16] = {0xfe, 0x80, [13] = 0x10, [15] = 7};
static unsigned count, failed;

static void ok(bool good, const char *what)
{
	printf("%sok %u - %s\n", good ? "" : "not ", ++count, what);
	failed += !good;
	(void)fflush(stdout);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000u + (uint64_t)t.tv_nsec / 1000000u;
}

/* One request, its answer in `mad`; the status, or -1. */
static int ask(struct ibsim *s, unsigned method, unsigned attribute, uint64_t mask,
	       const uint8_t *record, size_t len, uint8_t mad[256])
{
	static uint32_t tid = 0x1000;
	uint8_t got[256];
	unsigned i;

	memset(mad, 0, 256);
	cw_mad_set_base_version(mad, 1);
	cw_mad_set_mgmt_class(mad, CW_MAD_CLASS_SA);
	cw_mad_set_class_version(mad, 2);
	cw_mad_set_method(mad, method);
	cw_mad_set_tid(mad, ++tid);
	cw_mad_set_attribute(mad, attribute);
	cw_sa_set_mask(mad + 36, mask);
	memcpy(mad + CW_SA_DATA, record, len);
	if (ibsim_send(s, 1, mad) < 0)
		return -1;
	for (i = 0; i < 50; i++) {
		if (ibsim_recv(s, got, 100) != 1 || !cw_mad_response(got) ||
		    (uint32_t)cw_mad_tid(got) != tid)
			continue;
		memcpy(mad, got, 256);
		return (int)cw_mad_status(mad);
	}
	return -1;
}

enum { SHORT = 0x10083, FULL = 0x173f7, LEAVE = 0x10003 };

static uint8_t answer[256];

/* What a join asks for beside MGID and states. */
struct wish {
	uint32_t qkey;
	uint8_t mtu, rate;   /* codes */
	uint16_t pkey, mgid; /* P_Keys of the record, and in the MGID */
};

static const struct wish good = {0x80010b1b, 4, 3, 0x8001, 0x8001};

static int member_as(struct ibsim *s, unsigned method, uint64_t mask, const char *group,
		     unsigned js, const struct wish *w)
{
	uint8_t r[CW_SIZE_MCMEMBER] = {0}, mgid[16], addr[4];

	(void)cw_ip4_parse(group, addr);
	cw_ipoib_mgid4(mgid, addr, w->mgid, 2);
	cw_mcmember_set_mgid(r, mgid);
	cw_mcmember_set_port_gid(r, gid2);
	cw_mcmember_set_qkey(r, w->qkey);
	cw_mcmember_set_mtu_sel(r, CW_SA_EXACTLY);
	cw_mcmember_set_mtu(r, w->mtu);
	cw_mcmember_set_pkey(r, w->pkey);
	cw_mcmember_set_rate_sel(r, CW_SA_EXACTLY);
	cw_mcmember_set_rate(r, w->rate);
	cw_mcmember_set_join_state(r, js);
	return ask(s, method, CW_SA_MCMEMBER, mask, r, sizeof(r), answer);
}

static int member(struct ibsim *s, unsigned method, uint64_t mask, const char *group, unsigned js)
{
	return member_as(s, method, mask, group, js, &good);
}

static unsigned js_of(void)
{
	return cw_mcmember_join_state(answer + CW_SA_DATA);
}

static void path_record(struct ibsim *s)
{
	uint8_t r[CW_SIZE_PATHRECORD] = {0};

	cw_pathrecord_set_dgid(r, gid3);
	cw_pathrecord_set_sgid(r, gid2);
	cw_pathrecord_set_pkey(r, 0x8001);
	cw_pathrecord_set_reversible(r, 1);
	cw_pathrecord_set_numb_path(r, 1);
	ok(ask(s, CW_SA_GET, CW_SA_PATHRECORD, 0x380c, r, sizeof(r), answer) == 0 &&
		   cw_pathrecord_dlid(answer + CW_SA_DATA) == 4,
	   "PathRecord: LID 4");
	r[23] = 0x99;
	ok(ask(s, CW_SA_GET, CW_SA_PATHRECORD, 0x380c, r, sizeof(r), answer) == CW_SA_NO_RECORDS,
	   "PathRecord of a GID that nobody has: no records");
}

static void matrix(struct ibsim *s)
{
	const uint8_t *r = answer + CW_SA_DATA;

	ok(member(s, CW_SA_SET, SHORT, "255.255.255.255", 1) == 0 &&
		   cw_mcmember_qkey(r) == 0x80010b1b && cw_mcmember_mlid(r) == 0xc001 &&
		   cw_mcmember_mtu(r) == 4,
	   "broadcast group: Q_Key, MLID and MTU are in the answer");
	ok(member(s, CW_SA_SET, SHORT, "239.5.5.5", 1) == CW_SA_INSUFFICIENT,
	   "absent group, short mask: insufficient components");
	ok(member(s, CW_SA_SET, SHORT, "239.5.5.5", 4) == CW_SA_REQ_INVALID,
	   "SendOnlyNonMember of an absent group: invalid");
	ok(member(s, CW_SA_SET, SHORT, "239.5.5.5", 2) == CW_SA_REQ_INVALID,
	   "NonMember of an absent group: invalid");
	ok(member(s, CW_SA_SET, FULL, "239.5.5.5", 1) == 0 && cw_mcmember_mlid(r) >= 0xc002,
	   "FullMember, all parameters: created");
	ok(member(s, CW_SA_SET, SHORT, "239.5.5.5", 2) == 0 && js_of() == 3,
	   "then NonMember: states are joined");
	ok(member(s, CW_SA_DELETE, LEAVE, "239.5.5.5", 1) == 0, "FullMember leave");
	ok(member(s, CW_SA_DELETE, LEAVE, "239.6.6.6", 1) == CW_SA_REQ_INVALID,
	   "leave of a group that is none: invalid");
	ok(member(s, CW_SA_SET, FULL, "239.5.5.6", 8) == 0, "SendOnlyFullMember: creates");
	ok(member(s, CW_SA_DELETE, LEAVE, "239.5.5.6", 8) == 0, "and leaves");
	path_record(s);
}

/* What does not fit the group, or the port, is refused: existing groups and new ones. */
static void refusals(struct ibsim *s)
{
	static const struct {
		struct wish w;
		const char *group, *what;
	} bad[] = {
		{{0x80010b1c, 4, 3, 0x8001, 0x8001}, "255.255.255.255", "another Q_Key: invalid"},
		{{0x80010b1b, 5, 3, 0x8001, 0x8001}, "255.255.255.255", "another MTU: invalid"},
		{{0x80010b1b, 4, 7, 0x8001, 0x8001}, "255.255.255.255", "another rate: invalid"},
		{{0x80010b1b, 4, 3, 0xffff, 0x8001}, "255.255.255.255", "another P_Key: invalid"},
		{{0x80010b1b, 4, 3, 0x8002, 0x8002},
		 "239.5.5.7",
		 "a P_Key that the port lacks: invalid"},
		{{0x80010b1b, 9, 3, 0x8001, 0x8001},
		 "239.5.5.7",
		 "an MTU that there is not: invalid"},
	};
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(member_as(s, CW_SA_SET, FULL, bad[i].group, 1, &bad[i].w) == CW_SA_REQ_INVALID,
		   bad[i].what);
}

static void partitions(struct ibsim *s)
{
	static const struct wish other = {0xb1b, 4, 3, 0xffff, 0xffff};
	const uint8_t *r = answer + CW_SA_DATA;

	ok(member_as(s, CW_SA_SET, SHORT, "255.255.255.255", 1, &other) == 0 &&
		   cw_mcmember_qkey(r) == 0xb1b && cw_mcmember_mlid(r) == 0xc000 &&
		   cw_mcmember_pkey(r) == 0xffff,
	   "the default partition has a broadcast group, Q_Key and MLID of its own");
	ok(member(s, CW_SA_SET, FULL, "239.7.7.7", 1) == 0 &&
		   member_as(s, CW_SA_SET, SHORT, "239.7.7.7", 2, &other) == CW_SA_REQ_INVALID,
	   "a group of one partition is none of the other");
	ok(member(s, CW_SA_DELETE, LEAVE, "239.7.7.7", 1) == 0, "and it is left");
}

/* Groups until OpenSM has no MLID for another: it says so, and one that is left makes room. */
static void exhaustion(struct ibsim *s)
{
	enum { MAX = 0x3fff };
	char group[32];
	unsigned i, left = 0;
	int status = 0;

	for (i = 0; i < MAX && status == 0; i++) {
		(void)snprintf(group, sizeof(group), "239.20.%u.%u", i / 256, i % 256);
		status = member(s, CW_SA_SET, FULL, group, 1);
	}
	printf("# status 0x%04x at group %u\n", (unsigned)status, i);
	ok(i > 16 && i < MAX && status == CW_SA_NO_RESOURCES, "MLIDs run out: no resources");
	ok(member(s, CW_SA_DELETE, LEAVE, "239.20.0.0", 1) == 0 &&
		   member(s, CW_SA_SET, FULL, group, 1) == 0,
	   "one that is left makes room for another");
	for (; i > 1; i--) {
		(void)snprintf(group, sizeof(group), "239.20.%u.%u", (i - 1) / 256, (i - 1) % 256);
		left += member(s, CW_SA_DELETE, LEAVE, group, 1) == 0;
	}
	printf("# %u groups left\n", left);
}

struct host {
	struct cw_ipoib *l;
	unsigned ups, logs;
};

static void run_for(struct host *h, struct ibsim *s, unsigned ms)
{
	uint64_t end = now_ms() + ms;
	struct cw_ipoib_out o;
	uint8_t mad[256];

	while (now_ms() < end) {
		cw_ipoib_tick(h->l, now_ms());
		while (cw_ipoib_next(h->l, &o)) {
			h->ups += o.what == CW_IPOIB_UP;
			h->logs += o.what == CW_IPOIB_LOG;
			if (o.what == CW_IPOIB_MAD)
				(void)ibsim_send(s, o.tx.dlid, o.data);
		}
		if (ibsim_recv(s, mad, 20) == 1)
			(void)cw_ipoib_mad(h->l, now_ms(), mad, sizeof(mad));
	}
}

static void link_up(struct host *h)
{
	struct cw_ipoib_config c = {
		.qpn = 0x48, .lid = 4, .sm_lid = 1, .pkey = 0x8001, .refresh_ms = 2000};

	memcpy(c.gid, gid3, 16);
	memset(h, 0, sizeof(*h));
	if (cw_ipoib_new(&h->l, &c) < 0)
		exit(2);
}

static void machine(struct ibsim *other, struct ibsim *s)
{
	static const uint8_t group[4] = {239, 1, 2, 3};
	struct cw_ipoib_info info;
	struct host h;
	uint64_t before;

	link_up(&h);
	(void)cw_ipoib_join(h.l, now_ms(), false, group);
	run_for(&h, s, 1500);
	cw_ipoib_info(h.l, &info);
	ok(info.up && info.qkey == 0x80010b1b && info.mtu == 2044 && info.controlled,
	   "link: up, MTU 2044, controlled Q_Key");
	ok(member(other, CW_SA_SET, SHORT, "239.1.2.3", 4) == 0,
	   "link: OpenSM knows its group, another node may send");
	ok(member(other, CW_SA_SET, FULL, "239.9.9.9", 1) == 0, "another node creates a group");
	run_for(&h, s, 1000);
	before = cw_ipoib_counters(h.l)->reports;
	ok(before > 0, "link: trap 66 came");
	ok(member(other, CW_SA_DELETE, LEAVE, "239.9.9.9", 1) == 0, "it leaves, the group is gone");
	run_for(&h, s, 1500);
	ok(cw_ipoib_counters(h.l)->reports > before, "link: trap 67 came");
	(void)ibsim_reports(other, 0);
	(void)ibsim_reports(s, 0);
	printf("# up\n");
	(void)fflush(stdout);
	(void)getchar(); /* OpenSM was restarted meanwhile */
	run_for(&h, s, 12000);
	ok(member(other, CW_SA_SET, SHORT, "239.1.2.3", 4) == 0,
	   "link: its group is back after a restart of OpenSM");
	cw_ipoib_free(h.l);
}

int main(int argc, char **argv)
{
	struct ibsim a, b;
	uint32_t id = (uint32_t)getpid() * 2;

	if (argc != 2 || ibsim_open(&a, argv[1], "Hca2", id) < 0 ||
	    ibsim_open(&b, argv[1], "Hca3", id + 1) < 0) {
		perror("ipoib_opensm");
		return 2;
	}
	matrix(&a);
	refusals(&a);
	partitions(&a);
	exhaustion(&a);
	machine(&a, &b);
	ibsim_close(&a);
	ibsim_close(&b);
	return failed > 0;
}
