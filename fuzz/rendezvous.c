/* rendezvous.c - what a peer of perf and copy may say before it is known: hello, messages with and
 * without a code, settings; and settings on the command line, and the histogram that perf keeps.
 * Nothing may crash, a message without the key is never taken, settings that are taken are taken
 * again as JSON and accepted by the library, percentiles are in order and within 1 %.
 */
#include <sys/socket.h>
#include <unistd.h>
#include "cli/histogram.h"
#include "cli/knobs.h"
#include "cli/rendezvous.h"
#include "fuzz/fuzz.h"

static void settings(const struct knobs *k)
{
	struct cw_uboe_tp_opts t = CW_UBOE_TP_OPTS;
	struct cw_uboe_tpg_opts g = CW_UBOE_TPG_OPTS;
	char err[KNOBS_ERROR_MAX];
	json_t *json = knobs_json(k);
	struct cw_uboe_dev *dev;
	struct cw_uboe_tpg *group;
	struct knobs back;

	FUZZ_CHECK(knobs_from_json(&back, json, err) == 0);
	FUZZ_CHECK(back.set == k->set);
	json_decref(json);
	knobs_apply(k, &t, &g);
	FUZZ_CHECK(cw_uboe_dev_new(&dev, NULL) == CW_OK);
	FUZZ_CHECK(cw_uboe_tpg_new(dev, &g, &group) == CW_OK);
	cw_uboe_dev_free(dev);
}

static void command_line(const uint8_t *p, size_t len)
{
	char *text = malloc(len + 1), err[KNOBS_ERROR_MAX];
	struct knobs k = {0};

	FUZZ_CHECK(text != NULL);
	memcpy(text, p, len);
	text[len] = '\0';
	if (knobs_parse(&k, text, err) == 0)
		settings(&k);
	else
		FUZZ_CHECK(k.set == 0 && err[0] != '\0');
	free(text);
}

static void peer(const uint8_t *p, size_t len, bool with_key)
{
	struct rdv_key key = {with_key ? 16 : 0, "0123456789abcdef"};
	char err[RDV_ERROR_MAX], why[KNOBS_ERROR_MAX];
	struct rdv *rdv;
	struct knobs k;
	json_t *got;
	int fd[2];

	if (len > 60000) /* what a socket takes at once */
		return;
	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fd) == 0);
	FUZZ_CHECK(write(fd[0], p, len) == (ssize_t)len && shutdown(fd[0], SHUT_WR) == 0);
	if (rdv_begin(&rdv, fd[1], false, &key, "perf", err) == 0) {
		while (rdv_recv(rdv, &got, 0, err) > 0) {
			FUZZ_CHECK(!with_key); /* nobody but us has it */
			if (knobs_from_json(&k, json_object_get(got, "settings"), why) == 0)
				settings(&k);
			json_decref(got);
		}
		rdv_close(rdv);
	}
	(void)close(fd[0]);
}

static void percentiles(struct fuzz_in *in)
{
	struct histogram *h = calloc(1, sizeof(*h));
	uint64_t v = 0, last = 0, max = 0;
	unsigned i;

	FUZZ_CHECK(h != NULL);
	while (in->left > 0) {
		v = (uint64_t)fuzz_u32(in) << fuzz_u8(in) % 33;
		max = v > max ? v : max;
		histogram_add(h, v);
	}
	for (i = 0; i <= 1000; i += 50) {
		v = histogram_permille(h, i);
		FUZZ_CHECK(v >= last && v >= h->min && v <= h->max);
		last = v;
	}
	FUZZ_CHECK(h->n == 0 || last == max);
	free(h);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_in in = {data, size};

	switch (fuzz_u8(&in) & 3) {
	case 0:
		command_line(in.p, in.left);
		break;
	case 1:
		percentiles(&in);
		break;
	case 2:
		peer(in.p, in.left, false);
		break;
	default:
		peer(in.p, in.left, true);
	}
	return 0;
}
