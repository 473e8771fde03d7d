/* vectors.h - reading the files of tests/vectors: one vector a line, words separated by blanks. */
#ifndef TESTS_UNIT_VECTORS_H
#define TESTS_UNIT_VECTORS_H

#include "tests/unit/test.h"

#define VECTOR_WORDS 16

/* Call fn(ctx, words, n) for each line of vectors/`name` that begins with `kind`; returns how many
 * there were. words[0] is the kind. */
static inline unsigned each_vector(const char *name, const char *kind,
				   void (*fn)(void *ctx, char *const *words, unsigned n), void *ctx)
{
	const char *root = getenv("CW_SRC");
	char path[512], *line = NULL, *words[VECTOR_WORDS], *save;
	unsigned n, found = 0;
	size_t size = 0;
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/tests/vectors/%s", root != NULL ? root : ".", name);
	f = fopen(path, "r");
	assert_non_null(f);
	while (getline(&line, &size, f) > 0) {
		n = 0;
		for (char *w = strtok_r(line, " \n", &save); w != NULL && n < VECTOR_WORDS;
		     w = strtok_r(NULL, " \n", &save))
			words[n++] = w;
		if (n == 0 || strcmp(words[0], kind) != 0)
			continue;
		found++;
		fn(ctx, words, n);
	}
	free(line);
	(void)fclose(f);
	return found;
}

#endif
