/* What the commands about routing share: the network of a file, and the names of roots. */
#ifndef WEFT_CLI_ROUTING_H
#define WEFT_CLI_ROUTING_H

#include "routing/engine/engine.h"

struct root_list {
    enum root_choice choice;
    VEC(uint64_t) guids;
};

/* "0x1,0x2", "manager", "centre" or "detect"; NULL is the default. */
bool root_list_parse(struct root_list *roots, const char *text);

/* Reads a file into a network; `lmc` as the option was given, or NULL. Engines that rename want an
 * LMC of 2 unless the file has LIDs or the user says otherwise. Prints errors; an exit status. The
 * network is released even after an error. */
int load_network(const char *command, const char *path, const char *lmc, bool renames,
                 struct network *network);

/* All engines, one after the other, in lines that fit a terminal. */
void print_engines(FILE *out, int indent);

#endif
