/* interrupt.h - SIGINT and SIGTERM as a question that a command's loop asks. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <stdbool.h>

/* From here on the two signals end nothing; a wait in the kernel returns with EINTR. */
void interrupt_catch(void);

/* Has one of them come since? */
bool interrupted(void);

#endif
