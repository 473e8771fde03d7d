/* neighbour.c - hellos, and who is at the other end. Spec: RFC 5340 4.2.2.1, RFC 2328 9.5, 10.3,
 * 10.5. */
#include "lib/ospf3/internal.h"

void ospf3_state(struct cw_ospf3 *s, enum cw_ospf3_state state, uint64_t now)
{
	bool was_full = s->nbr.state == CW_OSPF3_FULL;

	if (state == s->nbr.state)
		return;
	s->nbr.state = state;
	s->nbr.since_ms = now;
	if (state == CW_OSPF3_FULL) {
		s->n.adjacencies++;
		ospf3_own_changed(s, now);
	} else if (was_full) {
		s->n.lost++;
	}
	if (was_full || state == CW_OSPF3_FULL)
		ospf3_changed(s, now);
}

/* What was known through it goes. */
static void forget(struct cw_ospf3 *s, enum cw_ospf3_state state, uint64_t now)
{
	s->nbr.has_last = s->nbr.dd_due = false;
	s->nbr.request.n = s->nbr.asked = 0;
	s->ack.n = 0;
	ospf3_lsdb_forget(s);
	ospf3_state(s, state, now);
}

void ospf3_neighbour_down(struct cw_ospf3 *s, uint64_t now)
{
	forget(s, CW_OSPF3_DOWN, now);
	memset(s->nbr.replay, 0, sizeof(s->nbr.replay));
}

void ospf3_neighbour_tick(struct cw_ospf3 *s, uint64_t now)
{
	if (s->nbr.state == CW_OSPF3_DOWN || now < s->nbr.dead_ms)
		return;
	s->n.expired++;
	ospf3_neighbour_down(s, now);
}

/* ---- In ------------------------------------------------------------------------------------ */

static int check(struct cw_ospf3 *s, const struct cw_ospf3_packet *p)
{
	uint32_t area = CW_OSPF3_OPT_E | CW_OSPF3_OPT_N;

	if (cw_ospf3_hello_interval(p->at) != s->c.hello_s ||
	    cw_ospf3_hello_dead(p->at) != s->c.dead_s) {
		s->n.timer_mismatch++;
		return CW_E_CONFLICT;
	}
	if (((cw_ospf3_hello_options(p->at) ^ ospf3_options(s, false)) & area) != 0) {
		s->n.option_mismatch++;
		return CW_E_CONFLICT;
	}
	if (cw_be32(cw_ospf3_hello_dr(p->at)) != 0) {
		s->n.lan++;
		return CW_E_CONFLICT;
	}
	if (s->nbr.state != CW_OSPF3_DOWN &&
	    memcmp(cw_ospf3_head_router(p->at), s->nbr.router, 4) != 0) {
		s->n.other_neighbour++;
		return CW_E_CONFLICT;
	}
	return CW_OK;
}

static bool names_us(const struct cw_ospf3 *s, const struct cw_ospf3_packet *p)
{
	struct cw_rd r = p->body;
	const uint8_t *id;

	while (cw_rd_take(&r, 4, &id) == CW_OK) {
		if (memcmp(id, s->c.router, 4) == 0)
			return true;
	}
	return false;
}

int ospf3_hello_input(struct cw_ospf3 *s, const uint8_t *src, const struct cw_ospf3_packet *p,
		      uint64_t now)
{
	struct neighbour *n = &s->nbr;
	int err = check(s, p);

	if (err != CW_OK || s->said_down)
		return err;
	s->n.hellos_received++;
	memcpy(n->router, cw_ospf3_head_router(p->at), 4);
	memcpy(n->address, src, 16);
	n->dead_ms = now + (uint64_t)s->c.dead_s * 1000;
	if (n->interface != cw_ospf3_hello_interface(p->at)) {
		n->interface = cw_ospf3_hello_interface(p->at);
		ospf3_own_changed(s, now);
	}
	if (n->state == CW_OSPF3_DOWN) {
		ospf3_state(s, CW_OSPF3_INIT, now);
		s->hello_ms = now; /* so that it knows us too */
	}
	if (!names_us(s, p)) {
		if (n->state > CW_OSPF3_INIT) {
			forget(s, CW_OSPF3_INIT, now);
			s->hello_ms = now;
		}
	} else if (n->state == CW_OSPF3_INIT) {
		ospf3_exchange_begin(s, now);
	}
	return CW_OK;
}

/* ---- Out ----------------------------------------------------------------------------------- */

size_t ospf3_hello_pull(struct cw_ospf3 *s, uint8_t *packet, uint64_t now)
{
	bool known = s->nbr.state != CW_OSPF3_DOWN;

	memset(packet, 0, CW_SIZE_OSPF3_HELLO);
	cw_ospf3_head_set_type(packet, CW_OSPF3_HELLO);
	cw_ospf3_hello_set_interface(packet, s->c.interface);
	cw_ospf3_hello_set_priority(packet, 1);
	cw_ospf3_hello_set_options(packet, ospf3_options(s, true));
	cw_ospf3_hello_set_interval(packet, s->c.hello_s);
	cw_ospf3_hello_set_dead(packet, s->c.dead_s);
	if (known)
		memcpy(packet + CW_SIZE_OSPF3_HELLO, s->nbr.router, 4);
	s->hello_ms = now + (uint64_t)s->c.hello_s * 1000;
	s->n.hellos_sent++;
	return CW_SIZE_OSPF3_HELLO + (known ? 4u : 0u);
}
