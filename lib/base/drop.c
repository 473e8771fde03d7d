/* drop.c - names and texts of drop reasons and counted events. */
#include "causeway/drop.h"

struct row {
	const char *name, *text;
};

static const struct row drops[] = {[CW_PASS] = {"pass", "passed"},
#define CW_X(id, name, text) [CW_DROP_##id] = {name, text},
				   CW_DROPS(CW_X)
#undef CW_X
};

static const struct row notes[] = {
#define CW_X(id, name, text) [CW_NOTE_##id] = {name, text},
	CW_NOTES(CW_X)
#undef CW_X
};

const char *cw_drop_name(enum cw_drop d)
{
	return (unsigned)d < CW_DROP_COUNT ? drops[d].name : "unknown";
}

const char *cw_drop_text(enum cw_drop d)
{
	return (unsigned)d < CW_DROP_COUNT ? drops[d].text : "unknown";
}

const char *cw_note_name(enum cw_note n)
{
	return (unsigned)n < CW_NOTE_COUNT ? notes[n].name : "unknown";
}

const char *cw_note_text(enum cw_note n)
{
	return (unsigned)n < CW_NOTE_COUNT ? notes[n].text : "unknown";
}
