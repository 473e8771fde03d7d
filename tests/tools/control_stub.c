/* control_stub.c - a control socket and a metrics server without a gateway behind them, for the
 * tests of `causeway show`, `reload` and the rest.
 *
 * usage: control_stub SOCKET [METRICS-ADDRESS]; ends at SIGTERM. Counters grow by a fixed step with
 * each question.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include "daemon/control/metrics.h"
#include "daemon/control/server.h"

static volatile sig_atomic_t stopped;
static unsigned asked, generation = 1;

static void stop(int sig)
{
	stopped = sig;
}

static json_t *summary(void *arg, const json_t *request, struct cw_diag *d)
{
	return json_pack("{s:s, s:i, s:i, s:{s:i}, s:{}}", "version", CW_VERSION, "uptime_ms",
			 93784005, "rx_octets", 1234567, "drops", "mtu", 3, "notes");
}

static json_t *counters(void *arg, const json_t *request, struct cw_diag *d)
{
	int n = (int)asked++;

	return json_pack("{s:[{s:s, s:i, s:i, s:i, s:i, s:i, s:{s:i}, s:{}}, {s:s, s:i}]}", "ports",
			 "port", "ub0", "rx_packets", 5000 * n, "rx_octets", 1000000 * n,
			 "tx_packets", 7, "tx_octets", 700, "dropped", 10 * n, "drops", "mtu",
			 10 * n, "notes", "port", "eth0", "rx_packets", 12);
}

static json_t *drops(void *arg, const json_t *request, struct cw_diag *d)
{
	static int n = 4;

	n += 10;
	return json_pack("{s:[{s:s, s:s, s:i}, {s:s, s:s, s:i}]}", "drops", "reason", "mtu", "text",
			 "too large", "packets", 0, "reason", "ttl", "text", "ran out", "packets",
			 n - 10);
}

static json_t *config(void *arg, const json_t *request, struct cw_diag *d)
{
	struct cw_config *c;
	json_t *data;

	if (cw_config_default(&c) != CW_OK)
		return NULL;
	data = json_loads(cw_config_json(c), 0, NULL);
	cw_config_free(c);
	return data;
}

static json_t *reload(void *arg, const json_t *request, struct cw_diag *d)
{
	struct cw_config *c;

	if (cw_control_config(&c, request, NULL, d) != CW_OK)
		return NULL;
	if (c->workers != 1) {
		cw_diag_set(d, CW_E_CONFLICT, "/causeway:causeway/daemon/workers", "2",
			    "can't change while running");
		cw_config_free(c);
		return NULL;
	}
	cw_config_free(c);
	return json_pack("{s:i}", "generation", (int)++generation);
}

static json_t *echo(void *arg, const json_t *request, struct cw_diag *d)
{
	return json_deep_copy(request);
}

static const struct cw_control_provider table[] = {
	{"show", "summary", NULL, summary, NULL}, {"show", "counters", NULL, counters, NULL},
	{"show", "drops", NULL, drops, NULL},     {"show", "config", NULL, config, NULL},
	{"reload", NULL, NULL, reload, NULL},     {"capture-drops", NULL, NULL, echo, NULL},
	{"log-level", NULL, NULL, echo, NULL},
};

static void walk(void *arg, struct cw_metrics_text *t)
{
	const struct cw_label odd[] = {{"port", "a\"b\\c\nd"}, {"reason", "mtu"}};

	cw_metrics_family(t, "causeway_drops_total", "counter", "Dropped packets, \\ by reason.");
	cw_metrics_sample(t, odd, 2, 18446744073709551615u);
	cw_metrics_sample(t, odd + 1, 1, 3);
	cw_metrics_family(t, "causeway_up", "gauge", "1.");
	cw_metrics_sample_real(t, NULL, 0, 0.5);
}

static int fail(const char *name, const struct cw_diag *d)
{
	fprintf(stderr, "%s: %s: %s\n", name, d->value, d->reason);
	return 1;
}

int main(int argc, char **argv)
{
	struct sigaction sa = {.sa_handler = stop};
	struct cw_metrics_server *m = NULL;
	struct cw_control_server *s;
	struct pollfd p[2] = {{.fd = -1}, {.fd = -1}};
	struct cw_diag d = {0};

	if (argc < 2)
		return 2;
	(void)sigaction(SIGTERM, &sa, NULL);
	if (cw_control_server_new(&s, argv[1], table, sizeof(table) / sizeof(table[0]), &d) < 0)
		return fail(argv[0], &d);
	if (argc > 2 && cw_metrics_server_new(&m, argv[2], false, walk, NULL, &d) < 0) {
		cw_control_server_free(s);
		return fail(argv[0], &d);
	}
	p[0] = (struct pollfd){.fd = cw_control_server_fd(s), .events = POLLIN};
	if (m != NULL)
		p[1] = (struct pollfd){.fd = cw_metrics_server_fd(m), .events = POLLIN};
	puts("ready");
	fflush(stdout);
	while (!stopped) {
		if (poll(p, 2, -1) < 0)
			continue;
		cw_control_server_run(s);
		if (m != NULL)
			cw_metrics_server_run(m);
	}
	cw_metrics_server_free(m);
	cw_control_server_free(s);
	return 0;
}
