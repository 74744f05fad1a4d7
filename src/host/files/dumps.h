/* Writes the subnet to the files of OpenSM, for tools that read them:
 *
 *   opensm-lfts.dump    the LFT of every switch, as dump_lfts prints it
 *   opensm-subnet.lst   every link, from both ends     (ibdmchk -s)
 *   opensm.fdbs         LFTs with hops                 (ibdmchk -f)
 *   opensm-sl2vl.dump   SL-to-VL tables                (ibdmchk -d)
 *   opensm.mcfdbs       MFTs                           (ibdmchk -m)
 *   weft-subnet.dump    routers, links and LFTs, for 'weft verify' of several subnets; only where
 *                       routers are
 *
 * The files show tables that the switches confirmed. Ports with unknown SL-to-VL tables get a
 * comment instead of a table. There is no file of SLs by path (ibdmchk -c): path records have them
 * (tests/interop/qos.sh makes that file from saquery's output). Printing a large subnet takes
 * seconds, so it is done from a snapshot that is independent of the manager. */
#ifndef WEFT_HOST_FILES_DUMPS_H
#define WEFT_HOST_FILES_DUMPS_H

#include "base/err.h"
#include "base/text.h"
#include "subnet/subnet.h"

struct dump_snapshot;

struct dump_snapshot *dump_snapshot_take(const struct subnet *subnet);
void dump_snapshot_free(struct dump_snapshot *snapshot);

void dump_print_lfts(const struct dump_snapshot *snapshot, FILE *out);
/* The same as a JSON list of switches: "guid", "lid", "description", and "entries" with "lid" and
 * "port". */
void dump_print_lfts_json(const struct dump_snapshot *snapshot, struct text *out);
void dump_print_links(const struct dump_snapshot *snapshot, FILE *out);
/* Lines about routers (dump_border.h), then opensm-subnet.lst and opensm-lfts.dump. */
void dump_print_subnet(const struct dump_snapshot *snapshot, FILE *out);
void dump_print_routes(const struct dump_snapshot *snapshot, FILE *out);
void dump_print_sl2vl(const struct dump_snapshot *snapshot, FILE *out);

/* Writes all files to a directory, which is created if needed; each is replaced atomically. */
int dump_write(const struct dump_snapshot *snapshot, const char *directory, struct err *err);
/* Writes what dump_print_subnet() prints to one file of the directory. */
int dump_write_subnet(const struct dump_snapshot *snapshot, const char *directory, const char *name,
                      struct err *err);

#endif
