/* causeway.c - Wireshark plugin: the packets that libcauseway knows, by its own field tables.
 *
 * There is no parser here. cw_dissect() takes the bytes apart; this file registers one Wireshark
 * field for each row of each table (cw.HEADER.FIELD) and walks the layers that were found.
 * Entrances: link type USER0 (native UB), EtherType 0x88B6 (emulated UB link), and those UDP ports
 * of the families that Wireshark does not know. Written for Wireshark 4.0.
 */
#include <epan/expert.h>
#include <epan/packet.h>
#include <epan/conversation_table.h>
#include <epan/prefs.h>
#include <epan/tap.h>
#include <epan/to_str.h>
#include <wiretap/wtap.h>
#include <ws_symbol_export.h>
#include <ws_version.h>
#include "causeway/cut.h"
#include "causeway/packet.h"
#include "causeway/show.h"
#include "causeway/wire/dhcp.h"
#include "causeway/wire/eth.h"
#include "causeway/wire/ip.h"
#include "causeway/wire/roce.h"

WS_DLL_PUBLIC_DEF const gchar plugin_version[] = CW_VERSION;
WS_DLL_PUBLIC_DEF const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
WS_DLL_PUBLIC_DEF const int plugin_want_minor = WIRESHARK_VERSION_MINOR;
WS_DLL_PUBLIC void plugin_register(void);

/* A header of the registry and the Wireshark ids made from it. */
struct entry {
	const struct cw_hdr *hdr;
	int self, tail, ett;
	int *fields;
};

static int proto_cw = -1, cw_tap = -1;
static GPtrArray *entries; /* of struct entry */
static dissector_handle_t link_handle, ethertype_handle, udp_handle;

static int hf_payload = -1, hf_pad = -1, hf_trailer = -1, hf_icrc = -1, hf_icrc_status = -1,
	   hf_icrc_computed = -1, hf_verdict = -1, hf_family = -1, hf_addr4 = -1, hf_addr6 = -1;
static int ett_cw = -1;
static expert_field ei_icrc = EI_INIT, ei_error = EI_INIT, ei_cut = EI_INIT;

static gint pref_icrc_order = CW_ICRC_LE;
static gboolean pref_cetph_caqm;

static const value_string icrc_names[] = {
	{CW_ICRC_ABSENT, "absent"},       {CW_ICRC_OK, "ok"}, {CW_ICRC_BAD, "bad"},
	{CW_ICRC_UNCHECKED, "unchecked"}, {0, NULL},
};

/* ---- The tree ---------------------------------------------------------------------------- */

static const struct entry *find_entry(const struct cw_hdr *hdr)
{
	guint i;

	for (i = 0; i < entries->len; i++) {
		const struct entry *e = g_ptr_array_index(entries, i);

		if (e->hdr == hdr)
			return e;
	}
	return NULL;
}

/* What is shown: `p` was made from the bytes of `tvb`, after `skip` octets that are not in it. */
struct view {
	tvbuff_t *tvb;
	packet_info *pinfo;
	const struct cw_packet *p;
	gint skip;
	unsigned first; /* layers in front of it are Wireshark's own */
};

static gint at(const struct view *v, uint32_t off)
{
	return (gint)off - v->skip;
}

static void show_field(const struct view *v, proto_tree *tree, int hf, const struct cw_field *f,
		       uint32_t off)
{
	gint start = at(v, off + f->bit / 8u), len = f->width / 8;

	if (cw_field_is_int(f))
		len = (gint)CW_BITS_OCTETS(f->bit, f->width);
	proto_tree_add_item(tree, hf, v->tvb, start, len,
			    f->show == CW_SHOW_OCTETS ? ENC_NA : ENC_BIG_ENDIAN);
}

static void show_layer(const struct view *v, proto_tree *tree, unsigned i)
{
	const struct cw_layer *l = &v->p->layers[i];
	const struct entry *e = find_entry(l->hdr);
	proto_item *item;
	proto_tree *sub;
	unsigned k;

	if (e == NULL)
		return;
	item = proto_tree_add_item(tree, e->self, v->tvb, at(v, l->off), (gint)l->len, ENC_NA);
	sub = proto_item_add_subtree(item, e->ett);
	for (k = 0; k < l->hdr->nfields; k++)
		show_field(v, sub, e->fields[k], &l->hdr->fields[k], l->off);
	if (l->len > l->hdr->size)
		proto_tree_add_item(sub, e->tail, v->tvb, at(v, l->off + l->hdr->size),
				    (gint)(l->len - l->hdr->size), ENC_NA);
}

static void show_octets(const struct view *v, proto_tree *tree, int hf, uint32_t off, uint32_t len)
{
	if (len > 0)
		proto_tree_add_item(tree, hf, v->tvb, at(v, off), (gint)len, ENC_NA);
}

static void show_icrc(const struct view *v, proto_tree *tree)
{
	const struct cw_icrc *c = &v->p->icrc;
	proto_item *item, *status;

	if (c->status == CW_ICRC_ABSENT)
		return;
	item = proto_tree_add_uint(tree, hf_icrc, v->tvb, at(v, c->off), 4, c->wire);
	status = proto_tree_add_uint(tree, hf_icrc_status, v->tvb, at(v, c->off), 4, c->status);
	proto_item_set_generated(status);
	if (c->status == CW_ICRC_UNCHECKED)
		return;
	status = proto_tree_add_uint(tree, hf_icrc_computed, v->tvb, at(v, c->off), 4, c->computed);
	proto_item_set_generated(status);
	proto_item_append_text(
		item, c->status == CW_ICRC_OK ? " [correct]" : " [incorrect, should be 0x%08x]",
		c->computed);
	if (c->status == CW_ICRC_BAD)
		expert_add_info(v->pinfo, item, &ei_icrc);
}

static void show_verdict(const struct view *v, proto_tree *tree)
{
	const struct cw_packet *p = v->p;
	proto_item *item;

	item = proto_tree_add_string(tree, hf_family, v->tvb, 0, 0, p->family);
	proto_item_set_generated(item);
	item = proto_tree_add_string(tree, hf_verdict, v->tvb, 0, 0, cw_err_name(p->verdict));
	proto_item_set_generated(item);
	if (tvb_captured_length(v->tvb) < tvb_reported_length(v->tvb))
		expert_add_info(v->pinfo, item, &ei_cut);
	if (p->verdict != CW_OK && p->verdict != CW_E_ICRC) {
		proto_item_append_text(item, ", at octet %d", at(v, p->verdict_off));
		expert_add_info_format(v->pinfo, item, &ei_error, "%s", cw_strerror(p->verdict));
	}
}

static void append_text(void *item, const char *text, size_t len)
{
	proto_item_append_text(item, "%.*s", (int)len, text);
}

static proto_tree *show_tree(const struct view *v, proto_tree *tree)
{
	const struct cw_packet *p = v->p;
	proto_item *item = proto_tree_add_item(tree, proto_cw, v->tvb, 0, -1, ENC_NA);
	proto_tree *sub = proto_item_add_subtree(item, ett_cw);
	struct cw_sink line = {append_text, item};
	unsigned i;

	proto_item_append_text(item, ": ");
	cw_show_line(p, v->first, &line);
	for (i = v->first; i < p->nlayers; i++)
		show_layer(v, sub, i);
	show_octets(v, sub, hf_payload, p->payload_off, p->payload_len);
	show_octets(v, sub, hf_pad, p->payload_off + p->payload_len, p->pad_len);
	show_icrc(v, sub);
	if ((guint)at(v, p->trailer_off) < tvb_reported_length(v->tvb))
		show_octets(v, sub, hf_trailer, p->trailer_off, p->trailer_len);
	show_verdict(v, sub);
	return sub;
}

/* ---- The columns ------------------------------------------------------------------------- */

/* Native UB has its IP header inside: its addresses are the packet's. False when there is none. */
static bool set_addresses(const struct view *v, proto_tree *tree)
{
	int i4 = cw_packet_find(v->p, &cw_hdr_ipv4, v->first);
	int i6 = cw_packet_find(v->p, &cw_hdr_ipv6, v->first);
	int i = i4 >= 0 ? i4 : i6, type = i4 >= 0 ? AT_IPv4 : AT_IPv6, n = i4 >= 0 ? 4 : 16;
	int hf = i4 >= 0 ? hf_addr4 : hf_addr6;
	gint src;

	if (i < 0)
		return false;
	src = at(v, v->p->layers[i].off) + (i4 >= 0 ? 12 : 8);
	set_address_tvb(&v->pinfo->net_src, type, n, v->tvb, src);
	copy_address_shallow(&v->pinfo->src, &v->pinfo->net_src);
	set_address_tvb(&v->pinfo->net_dst, type, n, v->tvb, src + n);
	copy_address_shallow(&v->pinfo->dst, &v->pinfo->net_dst);
	proto_item_set_hidden(proto_tree_add_item(tree, hf, v->tvb, src, n, ENC_BIG_ENDIAN));
	proto_item_set_hidden(proto_tree_add_item(tree, hf, v->tvb, src + n, n, ENC_BIG_ENDIAN));
	return true;
}

static const char *upper_case(packet_info *pinfo, const char *s)
{
	char *up = wmem_strdup(pinfo->pool, s);
	unsigned i;

	for (i = 0; up[i] != '\0'; i++)
		up[i] = g_ascii_toupper(up[i]);
	return up;
}

static void append_info(void *ctx, const char *text, size_t len)
{
	col_append_fstr(ctx, COL_INFO, "%.*s", (int)len, text);
}

static void set_columns(const struct view *v)
{
	column_info *cinfo = v->pinfo->cinfo;
	struct cw_sink info = {append_info, cinfo};

	col_add_str(cinfo, COL_PROTOCOL, upper_case(v->pinfo, v->p->family));
	col_clear(cinfo, COL_INFO);
	cw_show_line(v->p, v->first, &info);
}

/* ---- The entrances ----------------------------------------------------------------------- */

static struct cw_dissect_opts options(void)
{
	struct cw_dissect_opts o = {
		.icrc_order = (enum cw_icrc_order)pref_icrc_order,
		.cetph_caqm = pref_cetph_caqm,
	};

	return o;
}

/* As much as the capture cut off `tvb` is missing behind `data`. A length that no packet has is no
 * reason to look for the rest. */
static void take_apart(struct cw_packet *p, enum cw_link link, const guint8 *data, size_t len,
		       tvbuff_t *tvb, packet_info *pinfo, const struct cw_dissect_opts *o)
{
	size_t wire = len + tvb_reported_length(tvb) - tvb_captured_length(tvb);

	if (wire > WTAP_MAX_PACKET_SIZE_STANDARD)
		wire = len;
	(void)cw_dissect_cut(p, link, data, len, wire, wmem_alloc(pinfo->pool, wire), o);
}

static int dissect_link(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
	gint len = (gint)tvb_captured_length(tvb);
	struct cw_dissect_opts o = options();
	struct cw_packet p;
	struct view v = {.tvb = tvb, .pinfo = pinfo, .p = &p};

	(void)data;
	take_apart(&p, CW_LINK_UB, tvb_get_ptr(tvb, 0, len), (size_t)len, tvb, pinfo, &o);
	set_columns(&v);
	if (set_addresses(&v, show_tree(&v, tree)))
		tap_queue_packet(cw_tap, pinfo, NULL);
	return len;
}

/* As on USER0, but what lies behind the packet is the Ethernet frame's padding. */
static int dissect_ethertype(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
	guint len = tvb_captured_length(tvb);
	struct cw_dissect_opts o = {.no_icrc = true};
	struct cw_packet p;

	(void)cw_dissect(&p, CW_LINK_UB, tvb_get_ptr(tvb, 0, (gint)len), len, &o);
	if (p.trailer_off > 0 && p.trailer_off < len)
		set_actual_length(tvb, p.trailer_off);
	return dissect_link(tvb, pinfo, tree, data);
}

/* Offset in `frame` of the IP header in front of the UDP header at `udp`; -1 if there is none.
 * Wireshark does not hand it over, and the ICRC covers it. */
static gint find_ip(tvbuff_t *frame, gint udp, const packet_info *pinfo)
{
	gint n, off;

	for (n = 20; pinfo->net_src.type == AT_IPv4 && n <= 60 && n <= udp; n += 4) {
		off = udp - n;
		if (tvb_get_guint8(frame, off) == (0x40 | n / 4) &&
		    tvb_memeql(frame, off + 12, pinfo->net_src.data, 4) == 0 &&
		    tvb_memeql(frame, off + 16, pinfo->net_dst.data, 4) == 0)
			return off;
	}
	for (n = 40; pinfo->net_src.type == AT_IPv6 && n <= 40 + 2048 && n <= udp; n += 8) {
		off = udp - n;
		if (tvb_get_guint8(frame, off) >> 4 == 6 &&
		    tvb_memeql(frame, off + 8, pinfo->net_src.data, 16) == 0 &&
		    tvb_memeql(frame, off + 24, pinfo->net_dst.data, 16) == 0)
			return off;
	}
	return -1;
}

/* The octets from the IP header on, with an Ethernet header in front: cw_dissect() takes frames. */
static guint8 *frame_of_ip(packet_info *pinfo, tvbuff_t *frame, gint ip, size_t len)
{
	guint8 *copy = wmem_alloc0(pinfo->pool, CW_SIZE_ETH + len);

	tvb_memcpy(frame, copy + CW_SIZE_ETH, ip, len);
	cw_eth_set_type(copy, copy[CW_SIZE_ETH] >> 4 == 4 ? CW_ETHERTYPE_IP4 : CW_ETHERTYPE_IP6);
	return copy;
}

static int dissect_udp(tvbuff_t *tvb, packet_info *pinfo, proto_tree *tree, void *data)
{
	tvbuff_t *frame = tvb_get_ds_tvb(tvb);
	gint start = tvb_raw_offset(tvb), ip = find_ip(frame, start - CW_SIZE_UDP, pinfo), udp;
	struct cw_dissect_opts o = options();
	struct cw_packet p;
	struct view v = {.tvb = tvb, .pinfo = pinfo, .p = &p, .skip = CW_SIZE_ETH + start - ip};
	const guint8 *octets;
	size_t len;

	(void)data;
	if (ip < 0 || pinfo->match_uint != pinfo->destport)
		return 0;
	len = CW_SIZE_ETH + (size_t)(start - ip) + tvb_captured_length(tvb);
	octets = frame_of_ip(pinfo, frame, ip, len - CW_SIZE_ETH);
	take_apart(&p, CW_LINK_ETHERNET, octets, len, tvb, pinfo, &o);
	udp = cw_packet_find(&p, &cw_hdr_udp, 0);
	if (udp >= 0 && udp + 1u == p.nlayers && p.verdict == CW_OK) {
		/* A port that no family claims was given to UB by the user. */
		o.ub_port = (uint16_t)pinfo->destport;
		take_apart(&p, CW_LINK_ETHERNET, octets, len, tvb, pinfo, &o);
	}
	if (udp < 0 || (udp + 1u == p.nlayers && p.verdict == CW_OK))
		return 0;
	v.first = (unsigned)udp + 1;
	set_columns(&v);
	show_tree(&v, tree);
	return (int)tvb_captured_length(tvb);
}

/* ---- Conversations and endpoints --------------------------------------------------------- */

/* Of native UB; UBoE's addresses are Wireshark's own to count. */
static const char *address_filter(const address *a, conv_filter_type_e filter)
{
	static const char *const names[][2] = {
		[CONV_FT_SRC_ADDRESS] = {"cw.ipv4.src", "cw.ipv6.src"},
		[CONV_FT_DST_ADDRESS] = {"cw.ipv4.dst", "cw.ipv6.dst"},
		[CONV_FT_ANY_ADDRESS] = {"cw.ipv4.addr", "cw.ipv6.addr"},
	};

	return filter > CONV_FT_ANY_ADDRESS ? CONV_FILTER_INVALID
					    : names[filter][a->type == AT_IPv6];
}

static const char *conversation_filter(conv_item_t *c, conv_filter_type_e filter)
{
	return address_filter(&c->src_address, filter);
}

static const char *endpoint_filter(endpoint_item_t *e, conv_filter_type_e filter)
{
	return address_filter(&e->myaddress, filter);
}

static tap_packet_status count_conversation(void *table, packet_info *pinfo, epan_dissect_t *edt,
					    const void *data, tap_flags_t flags)
{
	static ct_dissector_info_t info = {conversation_filter};
	conv_hash_t *hash = table;

	hash->flags = flags;
	add_conversation_table_data(hash, &pinfo->src, &pinfo->dst, 0, 0, 1,
				    (int)pinfo->fd->pkt_len, &pinfo->rel_ts, &pinfo->abs_ts, &info,
				    CONVERSATION_NONE);
	return TAP_PACKET_REDRAW;
}

static tap_packet_status count_endpoints(void *table, packet_info *pinfo, epan_dissect_t *edt,
					 const void *data, tap_flags_t flags)
{
	static et_dissector_info_t info = {endpoint_filter};
	conv_hash_t *hash = table;
	int octets = (int)pinfo->fd->pkt_len;

	hash->flags = flags;
	add_endpoint_table_data(hash, &pinfo->src, 0, TRUE, 1, octets, &info, ENDPOINT_NONE);
	add_endpoint_table_data(hash, &pinfo->dst, 0, FALSE, 1, octets, &info, ENDPOINT_NONE);
	return TAP_PACKET_REDRAW;
}

/* ---- Registration ------------------------------------------------------------------------ */

static const void *make_names(const struct cw_field *f, bool wide)
{
	GArray *narrow = g_array_new(TRUE, TRUE, sizeof(value_string));
	GArray *broad = g_array_new(TRUE, TRUE, sizeof(val64_string));
	const struct cw_name *n;

	for (n = f->names; n != NULL && n->name != NULL; n++) {
		value_string small = {(guint32)n->value, n->name};
		val64_string big = {n->value, n->name};

		g_array_append_val(narrow, small);
		g_array_append_val(broad, big);
	}
	return g_array_free(wide ? broad : narrow, FALSE);
}

static enum ftenum int_type(unsigned octets)
{
	static const enum ftenum types[] = {FT_UINT8,  FT_UINT16, FT_UINT24, FT_UINT32,
					    FT_UINT40, FT_UINT48, FT_UINT56, FT_UINT64};

	return types[octets - 1];
}

static void describe_int(header_field_info *h, const struct cw_field *f)
{
	unsigned n = CW_BITS_OCTETS(f->bit, f->width);
	bool wide = n > 4;

	h->bitmask =
		f->width == 8 * n ? 0 : CW_BITS_MASK(f->width) << (8 * n - f->bit % 8u - f->width);
	if (f->show == CW_SHOW_FLAG && f->width == 1) {
		h->type = FT_BOOLEAN;
		h->display = (int)(8 * n);
		return;
	}
	h->type = int_type(n);
	h->display = f->show == CW_SHOW_HEX ? BASE_HEX : BASE_DEC;
	if (f->names == NULL)
		return;
	h->display |= wide ? BASE_VAL64_STRING : 0;
	h->strings = make_names(f, wide);
}

/* "flow label" -> "Flow label"; a text that only gives the value ("4") makes way for the name. */
static char *label(const char *name, const char *text)
{
	char *s = g_strdup(g_ascii_isdigit(text[0]) ? name : text);

	s[0] = g_ascii_toupper(s[0]);
	return s;
}

/* Everything but the type, which is FT_NONE until the caller knows better. */
static hf_register_info new_field(int *id, const char *abbrev, const char *text, const char *clause)
{
	hf_register_info r = {
		.p_id = id,
		.hfinfo = {.name = label(strrchr(abbrev, '.') + 1, text),
			   .abbrev = abbrev,
			   .type = FT_NONE,
			   .blurb = g_strdup_printf("%s (%s)", text, clause)},
	};

	*id = -1;
	HFILL_INIT(r);
	return r;
}

static void add_field(GArray *fields, int *id, const struct cw_hdr *hdr, const struct cw_field *f)
{
	hf_register_info r =
		new_field(id, g_strdup_printf("cw.%s.%s", hdr->name, f->name), f->text, f->clause);

	switch (f->show) {
	case CW_SHOW_IP4:
		r.hfinfo.type = FT_IPv4;
		break;
	case CW_SHOW_IP6:
		r.hfinfo.type = FT_IPv6;
		break;
	case CW_SHOW_MAC:
		r.hfinfo.type = FT_ETHER;
		break;
	case CW_SHOW_OCTETS:
		r.hfinfo.type = FT_BYTES;
		break;
	default:
		describe_int(&r.hfinfo, f);
	}
	g_array_append_val(fields, r);
}

static void add_header(GArray *fields, GArray *etts, const struct cw_hdr *hdr)
{
	struct entry *e = g_new0(struct entry, 1);
	hf_register_info self, tail;
	int *ett = &e->ett;
	unsigned i;

	e->hdr = hdr;
	e->fields = g_new0(int, hdr->nfields + 1u);
	e->ett = -1;
	g_ptr_array_add(entries, e);
	g_array_append_val(etts, ett);
	self = new_field(&e->self, g_strdup_printf("cw.%s", hdr->name), hdr->title, hdr->clause);
	g_array_append_val(fields, self);
	for (i = 0; i < hdr->nfields; i++)
		add_field(fields, &e->fields[i], hdr, &hdr->fields[i]);
	tail = new_field(&e->tail, g_strdup_printf("cw.%s.tail", hdr->name), "variable part",
			 hdr->clause);
	tail.hfinfo.type = FT_BYTES;
	g_array_append_val(fields, tail);
}

/* The arrays stay for good: Wireshark keeps pointers into them. */
static void register_tables(void)
{
	GArray *fields = g_array_new(FALSE, FALSE, sizeof(hf_register_info));
	GArray *etts = g_array_new(FALSE, FALSE, sizeof(int *));
	const struct cw_family *const *f;
	const struct cw_hdr *const *h;

	entries = g_ptr_array_new();
	for (f = cw_families; *f != NULL; f++) {
		for (h = (*f)->hdrs; *h != NULL; h++) {
			if (find_entry(*h) == NULL)
				add_header(fields, etts, *h);
		}
	}
	proto_register_field_array(proto_cw, (hf_register_info *)(void *)fields->data,
				   (int)fields->len);
	proto_register_subtree_array((gint *const *)(void *)etts->data, (int)etts->len);
}

static void register_common(void)
{
	// clang-format off
	static hf_register_info hf[] = {
		{&hf_family, {"Family", "cw.family", FT_STRING, BASE_NONE, NULL, 0,
			      "Innermost packet family", HFILL}},
		{&hf_verdict, {"Verdict", "cw.verdict", FT_STRING, BASE_NONE, NULL, 0,
			       "ok, or the name of the first error", HFILL}},
		{&hf_addr4, {"Source or destination address", "cw.ipv4.addr", FT_IPv4, BASE_NONE, NULL, 0,
			     NULL, HFILL}},
		{&hf_addr6, {"Source or destination address", "cw.ipv6.addr", FT_IPv6, BASE_NONE, NULL, 0,
			     NULL, HFILL}},
		{&hf_payload, {"Payload", "cw.payload", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL}},
		{&hf_pad, {"Padding of the payload", "cw.pad", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL}},
		{&hf_trailer, {"Behind the packet", "cw.trailer", FT_BYTES, BASE_NONE, NULL, 0, NULL, HFILL}},
		{&hf_icrc, {"ICRC", "cw.icrc", FT_UINT32, BASE_HEX, NULL, 0,
			    "Invariant CRC as on the wire", HFILL}},
		{&hf_icrc_status, {"ICRC status", "cw.icrc.status", FT_UINT8, BASE_DEC, VALS(icrc_names), 0,
				   NULL, HFILL}},
		{&hf_icrc_computed, {"ICRC computed", "cw.icrc.computed", FT_UINT32, BASE_HEX, NULL, 0,
				     NULL, HFILL}},
	};
	static ei_register_info ei[] = {
		{&ei_icrc, {"cw.icrc.bad", PI_CHECKSUM, PI_ERROR, "ICRC is wrong", EXPFILL}},
		{&ei_error, {"cw.error", PI_MALFORMED, PI_ERROR, "Packet is not valid", EXPFILL}},
		{&ei_cut, {"cw.cut", PI_UNDECODED, PI_NOTE,
			   "The capture holds only a part of the packet",
			   EXPFILL}},
	};
	// clang-format on
	static gint *ett[] = {&ett_cw};

	proto_register_field_array(proto_cw, hf, array_length(hf));
	proto_register_subtree_array(ett, array_length(ett));
	expert_register_field_array(expert_register_protocol(proto_cw), ei, array_length(ei));
}

static void register_preferences(void)
{
	static const enum_val_t orders[] = {
		{"le", "little-endian", CW_ICRC_LE},
		{"be", "big-endian", CW_ICRC_BE},
		{NULL, NULL, 0},
	};
	module_t *m = prefs_register_protocol(proto_cw, NULL);

	prefs_register_enum_preference(m, "icrc_order", "Byte order of the ICRC",
				       "UB 2.0 5.3.7 leaves it open", &pref_icrc_order, orders,
				       FALSE);
	prefs_register_bool_preference(m, "cetph_caqm", "CETPH carries CAQM",
				       "The congestion extended header of opcodes 3 and 6 has the "
				       "CAQM form instead of the LDCP form",
				       &pref_cetph_caqm);
}

static void register_protocol(void)
{
	proto_cw = proto_register_protocol("Causeway", "Causeway", "cw");
	register_common();
	register_tables();
	register_preferences();
	link_handle = register_dissector("cw", dissect_link, proto_cw);
	ethertype_handle = register_dissector("cw.ethertype", dissect_ethertype, proto_cw);
	udp_handle = register_dissector("cw.udp", dissect_udp, proto_cw);
	cw_tap = register_tap("cw");
	register_conversation_table(proto_cw, TRUE, count_conversation, count_endpoints);
}

/* Ports of the families, but UB's and those of which Wireshark's own dissectors know more. */
static bool is_for_us(const struct cw_claim *c)
{
	return c->sel == CW_SEL_UDP_PORT && c->value != CW_UB_PORT && c->value != CW_ROCE_PORT &&
	       c->value != CW_DHCP_SERVER && c->value != CW_DHCP_CLIENT;
}

static void register_handoff(void)
{
	const struct cw_family *const *f;
	unsigned i;

	dissector_add_uint("wtap_encap", WTAP_ENCAP_USER0, link_handle);
	dissector_add_uint("ethertype", CW_ETHERTYPE_UB, ethertype_handle);
	dissector_add_uint_with_preference("udp.port", CW_UB_PORT, udp_handle);
	for (f = cw_families; *f != NULL; f++) {
		for (i = 0; i < (*f)->nclaims; i++) {
			if (is_for_us(&(*f)->claims[i]))
				dissector_add_uint("udp.port", (*f)->claims[i].value, udp_handle);
		}
	}
}

void plugin_register(void)
{
	static proto_plugin plugin;

	plugin.register_protoinfo = register_protocol;
	plugin.register_handoff = register_handoff;
	proto_register_plugin(&plugin);
}
