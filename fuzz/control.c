/* control.c - any line as a request to the control socket: the answer is one JSON object on one
 * line. Input: the line. */
#include "daemon/control/server.h"
#include "fuzz/fuzz.h"

static json_t *echo(void *arg, const json_t *request, struct cw_diag *diag)
{
	struct cw_config *c = NULL;

	if (arg == NULL)
		return json_deep_copy(request);
	if (json_object_get(request, "file") != NULL) {
		cw_diag_set(diag, CW_E_FORBIDDEN, "file", NULL, "files are not for fuzzers");
		return NULL;
	}
	if (cw_control_config(&c, request, NULL, diag) != CW_OK)
		return NULL;
	cw_config_free(c);
	return json_object();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char yes[] = "yes";
	const struct cw_control_provider table[] = {
		{"show", "counters", "echo", echo, NULL},
		{"show", "ports", "echo", echo, NULL},
		{"reload", NULL, "take a configuration", echo, yes},
	};
	struct fuzz_in in = {data, size};
	json_error_t err;
	uint8_t *line;
	char *answer;
	json_t *j;
	size_t len;

	line = fuzz_block(&in, in.left, &len);
	answer = cw_control_answer(table, 3, (const char *)line, len);
	FUZZ_CHECK(answer != NULL);
	j = json_loads(answer, JSON_REJECT_DUPLICATES, &err);
	FUZZ_CHECK(json_is_object(j));
	FUZZ_CHECK(strchr(answer, '\n') == NULL || strchr(answer, '\n')[1] == '\0');
	json_decref(j);
	free(answer);
	free(line);
	return 0;
}
