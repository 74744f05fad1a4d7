/* Checks the paths and the migration bit of all packets of one end of a connection (17.2.8), from
 * its packets alone.
 *
 * Until an alternate path is loaded, packets use the primary path and have the bit. Then they have
 * none, until the end moves to the alternate path; it may do that if it was armed, by a packet
 * without the bit, and if its retries are used up or a packet with the bit came by the alternate
 * path. From then on all its packets use that path and have the bit. */
#ifndef WEFT_TESTS_TRANSPORT_PATH_CHECKER_H
#define WEFT_TESTS_TRANSPORT_PATH_CHECKER_H

#include "wire/transport_packet.h"

struct path_checker {
    uint16_t path, alternate; /* DLIDs of the end */
    bool loaded, armed;
    bool dropped;      /* the last packet came from elsewhere: the end ignores it */
    const char *error; /* the rule that was broken */
};
void path_checker_load(struct path_checker *checker, uint16_t alternate);
/* `may_move`: the retries of the end are used up, or its link or its owner made it move. */
bool path_checker_add(struct path_checker *checker, bool sent,
                      const struct transport_packet *packet, bool may_move);

#endif
