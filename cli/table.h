/* table.h - a gateway's answers for people: tables, lists, units. */
#ifndef CLI_TABLE_H
#define CLI_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* A member that is an array of objects becomes a table, an object a list under its name, the rest
 * lines `name  value`. Names that end in _ms are durations, those that end in octets sizes. `all`:
 * table rows whose only number is 0 are shown too. */
void table_print(FILE *f, const json_t *data, bool all);

/* Two answers to `show counters` or `show drops`, `seconds` apart, as rates. */
void table_print_rates(FILE *f, const json_t *before, const json_t *after, double seconds);

#endif
