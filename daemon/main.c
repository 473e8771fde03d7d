/* main.c - causewayd: options, start, the control thread's loop, signals, end. */
#include <errno.h>
#include <getopt.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <rte_eal.h>
#include "daemon/control/capture.h"
#include "daemon/control/congestion.h"
#include "daemon/control/current.h"
#include "daemon/control/icmp.h"
#include "daemon/control/nexthop.h"
#include "daemon/control/plane.h"
#include "daemon/control/show.h"
#include "daemon/control/telemetry.h"
#include "daemon/eal.h"
#include "daemon/ipoib/ipoib.h"
#include "daemon/log.h"
#include "daemon/peers/peers.h"

enum { EXIT_OK = 0, EXIT_FAILED = 1, EXIT_BAD_USAGE = 2 };

static const char help[] =
	"causewayd - the Causeway gateway\n"
	"\n"
	"usage: causewayd -c CONFIG [OPTIONS]\n"
	"\n"
	"  -c, --config FILE       configuration, JSON by causeway.yang\n"
	"  -s, --socket PATH       control socket, instead of the configuration's\n"
	"  -l, --log-level LEVEL   error, warning, notice, info or debug, instead of the\n"
	"                          configuration's, also after a reload\n"
	"      --pin               a CPU of its own for each worker, where there are enough; "
	"without\n"
	"                          it only workers that never sleep (idle-sleep 0) get one\n"
	"      --foreground        stay in the foreground; always so, accepted for service files\n"
	"      --version, --help\n"
	"\n"
	"Logs to stderr. SIGHUP reads the configuration again, losing no packet; a wrong one "
	"changes\n"
	"nothing. SIGTERM and SIGINT finish what is queued and end.\n"
	"\n"
	"examples:\n"
	"  causeway check gateway.json && causewayd -c gateway.json\n"
	"  taskset -c 2,3 causewayd -c gateway.json --pin -l debug\n"
	"\n"
	"exit code: 0 ended by a signal, 1 could not start, 2 usage\n";

struct options {
	const char *config, *socket;
	int log_level; /* -1: the configuration's */
	bool pin;
};

struct service {
	struct cw_control_server *control;
	struct cw_metrics_server *metrics;
	int signals;
	bool end;
	const struct options *opt;
};

static int usage(const char *what, const char *value)
{
	fprintf(stderr, "causewayd: %s%s%s\nTry 'causewayd --help'.\n", what,
		value != NULL ? ": " : "", value != NULL ? value : "");
	return EXIT_BAD_USAGE;
}

/* Exit code, or -1 to go on. */
static int parse_options(int argc, char **argv, struct options *o)
{
	enum { OPT_PIN = 256, OPT_FOREGROUND, OPT_VERSION, OPT_HELP };
	static const struct option longs[] = {{"config", required_argument, NULL, 'c'},
					      {"socket", required_argument, NULL, 's'},
					      {"log-level", required_argument, NULL, 'l'},
					      {"pin", no_argument, NULL, OPT_PIN},
					      {"foreground", no_argument, NULL, OPT_FOREGROUND},
					      {"version", no_argument, NULL, OPT_VERSION},
					      {"help", no_argument, NULL, OPT_HELP},
					      {NULL, 0, NULL, 0}};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":c:s:l:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'c':
			o->config = optarg;
			break;
		case 's':
			o->socket = optarg;
			break;
		case 'l':
			if ((o->log_level = cw_log_level_parse(optarg)) < 0)
				return usage("no such log level", optarg);
			break;
		case OPT_PIN:
			o->pin = true;
			break;
		case OPT_FOREGROUND:
			break;
		case 'V':
		case OPT_VERSION:
			puts("causewayd " CW_VERSION);
			return fflush(stdout) == 0 ? EXIT_OK : EXIT_FAILED;
		case 'h':
		case OPT_HELP:
			fputs(help, stdout);
			return fflush(stdout) == 0 ? EXIT_OK : EXIT_FAILED;
		case ':':
			return usage("a value is missing", argv[optind - 1]);
		default:
			return usage("unknown option", argv[optind - 1]);
		}
	}
	if (optind < argc)
		return usage("unexpected argument", argv[optind]);
	return o->config != NULL ? -1 : usage("a configuration (-c FILE) is needed", NULL);
}

static void log_diag(const char *what, const struct cw_diag *d)
{
	char text[600];

	cw_log(CW_LOG_ERROR, "%s: %s", what, cw_config_diag_text(d, text, sizeof(text)));
}

static void apply_log_level(const struct options *o, const struct cw_config *conf)
{
	int level = o->log_level >= 0 ? o->log_level : cw_log_level_parse(conf->log_level);

	cw_log_set_level(level >= 0 ? (enum cw_log_level)level : CW_LOG_INFO);
}

/* Signals of the control thread come by a descriptor; workers inherit the mask and get none. */
static int block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void reload_from_file(void)
{
	struct cw_diag diag = {0};
	struct cw_config *conf = NULL;

	if (cw_show_load(&conf, NULL, &diag) == CW_OK && cw_reload(conf, &diag) == CW_OK)
		return;
	cw_reload_refused(&diag);
	cw_config_free(conf);
}

static void take_signal(struct service *s)
{
	struct signalfd_siginfo si;

	while (read(s->signals, &si, sizeof(si)) == sizeof(si)) {
		if (si.ssi_signo == SIGHUP) {
			reload_from_file();
			continue;
		}
		cw_log(CW_LOG_NOTICE, "%s: finishing what is queued", strsignal((int)si.ssi_signo));
		s->end = true;
	}
}

/* Sleep until there is something to do; at most until `due`. */
static void wait_for_work(struct service *s, uint64_t due)
{
	uint64_t now = cw_now_ms(), count;
	struct pollfd fds[] = {
		{.fd = s->signals, .events = POLLIN},
		{.fd = cw_dp.control_fd, .events = POLLIN},
		{.fd = cw_control_server_fd(s->control), .events = POLLIN},
		{.fd = s->metrics != NULL ? cw_metrics_server_fd(s->metrics) : -1,
		 .events = POLLIN},
		{.fd = cw_peers_fd(), .events = POLLIN},
	};
	int timeout = due <= now ? 0 : due - now > 1000 ? 1000 : (int)(due - now);

	atomic_store(&cw_dp.control_sleeps, true);
	/* What came between the last look and this line has kicked nobody. */
	if (!rte_ring_empty(cw_dp.punt) || !rte_ring_empty(cw_dp.ask) ||
	    !rte_ring_empty(cw_dp.capture) || cw_ibd_pending() || !rte_ring_empty(cw_dp.refused))
		timeout = 0;
	poll(fds, sizeof(fds) / sizeof(fds[0]), timeout);
	atomic_store(&cw_dp.control_sleeps, false);
	if (read(cw_dp.control_fd, &count, sizeof(count)) < 0 && errno != EAGAIN)
		cw_log(CW_LOG_WARNING, "eventfd: %s", strerror(errno));
}

/* What workers, neighbours and peers wait for. Time of the next run. */
static uint64_t run_services(void)
{
	uint64_t due = cw_nexthop_run(), peers, map;

	cw_icmp_run();
	cw_ibd_run();
	peers = cw_peers_run(cw_now_ms());
	due = peers < due ? peers : due;
	map = cw_proxy_map_run(cw_now_ms());
	cw_capture_run();
	return map < due ? map : due;
}

static void control_loop(struct service *s)
{
	uint64_t due = 0;

	while (!s->end) {
		wait_for_work(s, due);
		due = run_services();
		cw_control_server_run(s->control);
		if (s->metrics != NULL)
			cw_metrics_server_run(s->metrics);
		take_signal(s);
	}
}

/* No new packets; what is queued goes out; then the workers end. */
static void drain(void)
{
	const struct cw_plane *p = cw_plane_now();
	unsigned i;

	for (i = 0; i < CW_MAX_PORTS; i++) {
		if (p->port[i].dev != NULL && p->port[i].dev->ops->stop_rx != NULL)
			p->port[i].dev->ops->stop_rx(p->port[i].dev);
	}
	cw_nexthop_run();
	cw_dp_stop();
	cw_nexthop_drain();
	cw_capture_run();
	cw_show_log_totals();
}

static int open_service(struct service *s, const struct cw_config *conf)
{
	struct cw_diag diag = {0};
	const char *path = s->opt->socket != NULL ? s->opt->socket : conf->control_socket;

	/* First of all: a second gateway on this socket must not get as far as opening ports. */
	if (cw_control_server_new(&s->control, path, cw_show_providers, cw_show_nproviders, &diag) <
	    0) {
		log_diag("control socket", &diag);
		return -1;
	}
	cw_log(CW_LOG_INFO, "control socket %s", path);
	if (conf->metrics[0] != '\0' &&
	    cw_metrics_server_new(&s->metrics, conf->metrics, conf->metrics_allow_remote,
				  cw_show_metrics, NULL, &diag) < 0) {
		log_diag("metrics", &diag);
		return -1;
	}
	if (conf->metrics[0] != '\0')
		cw_log(CW_LOG_INFO, "metrics on %s", conf->metrics);
	return 0;
}

static int open_data_plane(const struct options *o, const struct cw_config *conf)
{
	if (conf->workers > CW_MAX_WORKERS) {
		cw_log(CW_LOG_ERROR, "%u workers: the most is %d", conf->workers, CW_MAX_WORKERS);
		return -1;
	}
	if (cw_eal_init(conf, o->pin) < 0 || cw_eal_make_pool(conf->mbufs) < 0)
		return -1;
	cw_io.nworkers = conf->workers;
	return cw_dp_init(conf->workers) < 0 || cw_nexthop_init() < 0 ? -1 : 0;
}

/* Everything between a valid configuration and the end; `conf` is taken over. */
static int run(struct service *s, struct cw_config *conf)
{
	struct cw_diag diag = {0};
	int rc = EXIT_FAILED;

	if (open_service(s, conf) < 0 || open_data_plane(s->opt, conf) < 0) {
		cw_config_free(conf);
		goto out;
	}
	if (cw_reload(conf, &diag) < 0) {
		cw_config_free(conf);
		log_diag("configuration", &diag);
		goto out;
	}
	cw_dp_start();
	if (cw_telemetry_init() < 0)
		cw_log(CW_LOG_WARNING, "DPDK telemetry takes no commands of ours");
	cw_log(CW_LOG_NOTICE, "causewayd " CW_VERSION " is forwarding");
	control_loop(s);
	cw_peers_stop();
	cw_ibd_stop();
	drain();
	cw_proxy_map_stop();
	rc = EXIT_OK;
out:
	cw_control_server_free(s->control);
	cw_metrics_server_free(s->metrics);
	cw_capture_stop();
	return rc;
}

/* Only what must not outlive the process; the rest is the kernel's. */
static void cleanup(void)
{
	if (cw_io.pool == NULL)
		return;
	cw_plane_clear();
	cw_nexthop_fini();
	cw_dp_fini();
	(void)rte_eal_cleanup();
}

int main(int argc, char **argv)
{
	struct options opt = {.log_level = -1};
	struct service s = {.opt = &opt};
	struct cw_diag diag = {0};
	struct cw_config *conf;
	int rc = parse_options(argc, argv, &opt);

	if (rc >= 0)
		return rc;
	cw_log_init();
	if (cw_config_load(&conf, opt.config, &diag) < 0) {
		log_diag(opt.config, &diag);
		return EXIT_FAILED;
	}
	apply_log_level(&opt, conf);
	/* Reload must find it wherever DPDK or a service manager has taken us. */
	cw_show_start(realpath(opt.config, NULL), opt.log_level, run_services);
	if ((s.signals = block_signals()) < 0) {
		cw_log(CW_LOG_ERROR, "signals: %s", strerror(errno));
		return EXIT_FAILED;
	}
	rc = run(&s, conf);
	cleanup();
	return rc;
}
