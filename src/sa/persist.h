/* The lines of the registry, written by persist.c and read by persist_read.c: texts and hexadecimal
 * numbers. %b, %h, %n, %w and %q are numbers of 8, 16, 24, 32 and 64 bits with leading zeros, %B,
 * %H, %W and %Q the same without. */
#ifndef WEFT_SA_PERSIST_H
#define WEFT_SA_PERSIST_H

#include "sa/internal.h"

#define REGISTRY_HEADER                                                                            \
    "# weft: registrations of 0x%h instance 0x%Q generations 0x%Q 0x%Q since 0x%Q 0x%Q next "      \
    "0x%W 0x%W 0x%W\n"
#define REGISTRY_ALIASES                                                                           \
    "GUIDInfo Record: base_guid=0x%q lid=0x%h block_num=0x%B guid0=0x%q guid1=0x%q guid2=0x%q "    \
    "guid3=0x%q guid4=0x%q guid5=0x%q guid6=0x%q guid7=0x%q\n\n"
#define REGISTRY_MLID       "MC Group 0x%h "
#define REGISTRY_WELL_KNOWN " (well known)" /* follows the MLID of a permanent group */
#define REGISTRY_GROUP                                                                             \
    ": mgid=0x%q:0x%q port_gid=0x%q:0x%q qkey=0x%w mlid=0x%h mtu=0x%b tclass=0x%b pkey=0x%h "      \
    "rate=0x%b pkt_life=0x%b sl_flow_hop=0x%w scope_state=0x%b proxy_join=0x%B\n\n"
#define REGISTRY_MEMBER "mcm_port: port_gid=0x%q:0x%q scope_state=0x%b proxy_join=0x%B\n\n"
#define REGISTRY_SERVICE                                                                           \
    "Service Record: id=0x%q gid=0x%q:0x%q pkey=0x%H lease=0x%W key=0x%q:0x%q name='"
#define REGISTRY_SERVICE_DATA                                                                      \
    "' data8=0x%q:0x%q data16=0x%q:0x%q data32=0x%q:0x%q data64=0x%q:0x%q modified_time=0x%Q "     \
    "lease_period=0x%W"
#define REGISTRY_NUMBER " number=0x%W"
#define REGISTRY_NAME   " bytes=0x%q:0x%q:0x%q:0x%q:0x%q:0x%q:0x%q:0x%q"
#define REGISTRY_SUBSCRIPTION                                                                      \
    "InformInfo Record: subscriber_gid=0x%q:0x%q subscriber_enum=0x%W InformInfo: gid=0x%q:0x%q "  \
    "lid_range_begin=0x%H lid_range_end=0x%H is_generic=0x%B subscribe=0x%B trap_type=0x%H "       \
    "trap_num=0x%H qpn_resp_time_val=0x%W node_type=0x%n rep_addr: lid=0x%h path_bits=0x%b "       \
    "static_rate=0x%b remote_qp=0x%w remote_qkey=0x%w pkey_ix=0x%h sl=0x%b\n\n"
#define REGISTRY_MACHINES "# weft: all machines"
/* Of the machine in the next line; and of machines without a line. */
#define REGISTRY_DECISION "# weft: decision 0x%Q\n"
#define REGISTRY_ENDED    "# weft: decision of ended machines 0x%Q\n"
/* The names follow, of so many bytes. */
#define REGISTRY_MACHINE "# weft: machine guid=0x%q at=0x%q wish=0x%B lid=0x%H bytes=0x%B 0x%B "
enum { REGISTRY_VALUES = 24, SERVICE_NAME_BYTES = 64 };

/* Matches the beginning of a line with a pattern; a line feed ends the pattern. Returns the rest of
 * the line, or NULL if it does not match. */
const char *registry_scan(const char *line, const char *pattern, uint64_t *values);

#endif
