/* interrupt.c - see interrupt.h. */
#include "cli/interrupt.h"

#include <signal.h>

static volatile sig_atomic_t caught;

static void on_signal(int sig)
{
	(void)sig;
	caught = 1;
}

void interrupt_catch(void)
{
	struct sigaction sa = {.sa_handler = on_signal};

	(void)sigaction(SIGINT, &sa, NULL);
	(void)sigaction(SIGTERM, &sa, NULL);
}

bool interrupted(void)
{
	return caught != 0;
}
