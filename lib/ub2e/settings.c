/* settings.c - the rules of a gateway: defaults, checks, compilation.
 * Spec: draft-li-uboe-00 4 and 5.
 */
#include <stdio.h>
#include <stdlib.h>
#include "lib/ub2e/internal.h"

void cw_ub2e_settings_init(struct cw_ub2e_settings *s)
{
	unsigned i;

	*s = (struct cw_ub2e_settings){
		.udp_port = CW_UB_PORT,
		.udp_verify = true,
		.ttl_decrement = true,
		.plain_ip = true,
		.plength_check = true,
		.rt = 2,
		.light_to_ce = true,
		.ect = 2,
		.ce_to_fecn = 3,
		.untagged_npi = CW_NPI_DEFAULT,
	};
	for (i = 0; i < 64; i++)
		s->dscp_out[i] = s->dscp_in[i] = (uint8_t)i;
}

/* One number and what it may be. */
struct range {
	const char *leaf;
	uint32_t value, min, max;
};

static int check_ranges(const struct range *r, size_t n, struct cw_diag *diag)
{
	char value[16];

	for (; n > 0; n--, r++) {
		if (r->value >= r->min && r->value <= r->max)
			continue;
		(void)snprintf(value, sizeof(value), "%u", r->value);
		return cw_diag_set(diag, CW_E_RANGE, r->leaf, value, "must be %u..%u", r->min,
				   r->max);
	}
	return CW_OK;
}

/* `entry` is the path of a list's entry, with %u for its DSCP. */
static int check_dscp_table(const char *entry, const uint8_t t[64], uint32_t max,
			    struct cw_diag *diag)
{
	char path[64];
	unsigned i;

	for (i = 0; i < 64; i++) {
		struct range r = {path, t[i], 0, max};

		(void)snprintf(path, sizeof(path), entry, i);
		if (check_ranges(&r, 1, diag) < 0)
			return CW_E_RANGE;
	}
	return CW_OK;
}

static int check_settings(const struct cw_ub2e_settings *s, struct cw_diag *diag)
{
	const struct range ranges[] = {
		{"udp/port", s->udp_port, 1, 65535},
		{"icrc/check-from-ub", s->icrc_check_ub, CW_ICRC_CHECK_OFF, CW_ICRC_CHECK_DROP},
		{"icrc/check-from-ethernet", s->icrc_check_eth, CW_ICRC_CHECK_OFF,
		 CW_ICRC_CHECK_DROP},
		{"icrc/order", s->icrc_order, CW_ICRC_LE, CW_ICRC_BE},
		{"rt/to-ub", s->rt, 0, 3},
		{"cci/unmappable", s->cci_policy, CW_CCI_NOT_ECT, CW_CCI_DROP},
		{"ecn/markable", s->ect, 1, 2},
		{"npi/mode", s->npi_mode, CW_NPI_LOW12, CW_NPI_ENHANCED},
		{"npi/untagged", s->untagged_npi, 0, CW_NPI_PERM | CW_NPI_ID_MASK},
	};
	char value[16];
	int err;

	if ((err = check_ranges(ranges, sizeof(ranges) / sizeof(ranges[0]), diag)) < 0 ||
	    (err = check_dscp_table("ip/dscp-to-ethernet[from='%u']/to", s->dscp_out, 63, diag)) <
		    0 ||
	    (err = check_dscp_table("ip/dscp-to-ub[from='%u']/to", s->dscp_in, 63, diag)) < 0 ||
	    (err = check_dscp_table("link/virtual-lane[dscp='%u']/vl", s->vl, 15, diag)) < 0 ||
	    (err = check_dscp_table("npi/pcp[dscp='%u']/pcp", s->pcp, 7, diag)) < 0)
		return err;
	if (s->ce_to_fecn != 1 && s->ce_to_fecn != 3) {
		(void)snprintf(value, sizeof(value), "%u", s->ce_to_fecn);
		return cw_diag_set(diag, CW_E_RANGE, "ecn/ce", value,
				   "must be 1 (light) or 3 (severe)");
	}
	if (s->untagged_npi == CW_NPI_PERM)
		return cw_diag_set(diag, CW_E_RANGE, "npi/untagged", "0x1000000",
				   "partition ID 0 is invalid (draft-li-uboe-00 5.3)");
	return CW_OK;
}

static int copy_pins(struct cw_ub2e *u, struct cw_diag *diag)
{
	size_t size = u->s.npins * sizeof(*u->pins);

	if (size == 0)
		return CW_OK;
	if ((u->pins = malloc(size)) == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "out of memory");
	memcpy(u->pins, u->s.pins, size);
	u->s.pins = u->pins;
	return CW_OK;
}

int cw_ub2e_new(struct cw_ub2e **out, const struct cw_ub2e_settings *s, const uint32_t *partitions,
		unsigned npartitions, struct cw_diag *diag)
{
	struct cw_ub2e *u;
	int err;

	if ((err = check_settings(s, diag)) < 0)
		return err;
	u = calloc(1, sizeof(*u) + s->nnpi * sizeof(s->npi[0]));
	if (u == NULL)
		return cw_diag_set(diag, CW_E_NOMEM, NULL, NULL, "out of memory");
	u->s = *s;
	if (s->nnpi > 0)
		memcpy(u->npi, s->npi, s->nnpi * sizeof(s->npi[0]));
	u->s.npi = u->npi;
	if ((err = copy_pins(u, diag)) < 0 ||
	    (err = ub2e_build_npi(u, partitions, npartitions, diag)) < 0) {
		cw_ub2e_free(u);
		return err;
	}
	ub2e_build_tos(u);
	ub2e_build_cci(u);
	ub2e_build_fast(u);
	*out = u;
	return CW_OK;
}

void cw_ub2e_free(struct cw_ub2e *u)
{
	if (u == NULL)
		return;
	free(u->slots);
	free(u->pins);
	free(u);
}

const struct cw_ub2e_settings *cw_ub2e_get_settings(const struct cw_ub2e *u)
{
	return &u->s;
}
