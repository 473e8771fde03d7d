/* replay.c - runs a fuzz target over files: its corpus as an ordinary test, or one finding.
 *
 * usage: fuzz_NAME FILE|DIRECTORY...
 * Prints one TAP line for every argument. A directory without a file in it fails: a corpus that
 * got lost must not look like a corpus that passed.
 */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include "fuzz/fuzz.h"

static int run_file(const char *path)
{
	struct stat st;
	uint8_t *data;
	FILE *f;
	size_t n;

	if ((f = fopen(path, "rb")) == NULL || fstat(fileno(f), &st) < 0) {
		printf("# %s: %s\n", path, strerror(errno));
		if (f != NULL)
			fclose(f);
		return -1;
	}
	data = malloc(st.st_size > 0 ? (size_t)st.st_size : 1);
	FUZZ_CHECK(data != NULL);
	n = fread(data, 1, (size_t)st.st_size, f);
	fclose(f);
	/* The name is out before the run, so that a crash says which input it was. */
	fprintf(stderr, "%s\n", path);
	(void)LLVMFuzzerTestOneInput(data, n);
	free(data);
	return 1;
}

/* Number of inputs run, or -1. */
static int run_dir(const char *dir)
{
	char path[PATH_MAX];
	struct dirent *e;
	DIR *d;
	int n = 0;

	if ((d = opendir(dir)) == NULL) {
		printf("# %s: %s\n", dir, strerror(errno));
		return -1;
	}
	while (n >= 0 && (e = readdir(d)) != NULL) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		n = run_file(path) < 0 ? -1 : n + 1;
	}
	closedir(d);
	return n;
}

static bool run_arg(const char *path, int number)
{
	struct stat st;
	int n;

	n = stat(path, &st) == 0 && S_ISDIR(st.st_mode) ? run_dir(path) : run_file(path);
	printf("%sok %d - %s: %d input%s\n", n > 0 ? "" : "not ", number, path, n < 0 ? 0 : n,
	       n == 1 ? "" : "s");
	return n > 0;
}

int main(int argc, char **argv)
{
	bool good = true;
	int i;

	if (argc < 2) {
		fprintf(stderr, "usage: %s FILE|DIRECTORY...\n", argv[0]);
		return 2;
	}
	printf("1..%d\n", argc - 1);
	for (i = 1; i < argc; i++)
		good = run_arg(argv[i], i) && good;
	return good ? 0 : 1;
}
