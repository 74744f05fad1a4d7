/* The subnet in the files that OpenSM writes, for the tools that read those:
 *
 *   opensm-lfts.dump    every switch's linear table, as dump_lfts shows it
 *   opensm-subnet.lst   every link from both of its ends     (ibdmchk -s)
 *   opensm.fdbs         tables again, with hops              (ibdmchk -f)
 *   opensm-sl2vl.dump   lanes by service level               (ibdmchk -d)
 *   opensm.mcfdbs       multicast tables                     (ibdmchk -m)
 *
 * They show what the switches have confirmed, not what is wanted of them. Ports whose lanes the
 * manager cannot know get a remark instead of a table. There is no file of service levels by path
 * (ibdmchk -c): path records tell them (tests/interop/qos.sh makes the file of saquery's answer).
 * Printing a large subnet takes seconds, so it is done from a picture that is quick to take and
 * then independent of the manager. */
#ifndef WEFT_HOST_DAEMON_DUMPS_H
#define WEFT_HOST_DAEMON_DUMPS_H

#include "base/err.h"
#include "base/text.h"
#include "subnet/subnet.h"

struct dump_picture;

struct dump_picture *dump_picture_take(const struct subnet *subnet);
void dump_picture_free(struct dump_picture *picture);

void dump_print_lfts(const struct dump_picture *picture, FILE *out);
void dump_print_links(const struct dump_picture *picture, FILE *out);
void dump_print_routes(const struct dump_picture *picture, FILE *out);
void dump_print_lanes(const struct dump_picture *picture, FILE *out);

/* All of them into a directory, which is made if need be; each appears as a whole. */
int dump_write(const struct dump_picture *picture, const char *directory, struct err *err);

#endif
