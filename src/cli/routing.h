/* Functions of the routing commands: reading a network, names of roots, the list of engines. */
#ifndef WEFT_CLI_ROUTING_H
#define WEFT_CLI_ROUTING_H

#include "base/record.h"
#include "routing/check/verify.h"
#include "routing/engine/engine.h"

struct root_list {
    enum root_choice choice;
    VEC(uint64_t) guids;
};

/* "0x1,0x2", "manager", "centre" or "detect"; NULL is the default. */
bool root_list_parse(struct root_list *roots, const char *text);

/* Reads a network from a file. `lmc` is the value of --lmc or NULL. `renames`: an engine gives
 * ports several LIDs, so the default LMC is 2 unless the file has LIDs. `lfts`: a dump of tables
 * whose LIDs the ports get, or NULL. Prints errors and returns
 * an exit status. The caller releases the network in any case. */
int load_network(const char *command, const char *path, const char *lmc, bool renames,
                 const char *lfts, struct network *network);

/* Prints the number of connected parts, in text only if there are several. */
void put_parts(struct record *record, const struct network *network,
               const struct verify_report *report);

/* Prints all engines with their summaries, in lines of 80 columns. */
void print_engines(FILE *out, int indent);

#endif
