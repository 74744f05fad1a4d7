/* `connection` statements, read from the file. */
#ifndef WEFT_EXPERIMENT_SCENARIO_CONNECTION_SPEC_H
#define WEFT_EXPERIMENT_SCENARIO_CONNECTION_SPEC_H

#include "base/line_reader.h"
#include "console/pace.h"

#include <stdbool.h>
#include <stdint.h>

enum connection_spec_service { SPEC_RC, SPEC_UC, SPEC_UD };
enum connection_spec_operation {
    SPEC_SEND,
    SPEC_WRITE,
    SPEC_READ,
    SPEC_SEND_IMMEDIATE,
    SPEC_WRITE_IMMEDIATE,
    SPEC_COMPARE_SWAP,
    SPEC_FETCH_ADD,
    SPEC_OPERATIONS,
};
enum connection_spec_setup { SETUP_GIVEN, SETUP_CM };
extern const char *const connection_service_names[];   /* "rc" … */
extern const char *const connection_operation_names[]; /* "send" … */

/* The alternate path of a connection: to a LID of the receiver, or the one that shares least with
 * the present path. */
struct alternate_spec {
    bool wanted;
    uint64_t lid; /* 0: auto */
};

/* Who connects to whom by `connect all`. */
enum connection_pattern {
    CONNECT_PAIRS,       /* each host of the first half to one of the second */
    CONNECT_PERMUTATION, /* each host to another one, and each is connected to once: drawn */
    CONNECT_ALL_TO_ALL,
    CONNECT_INCAST, /* all hosts to one */
    CONNECT_ONE,    /* a `connection` statement */
};

struct connection_spec {
    unsigned pattern;            /* enum connection_pattern */
    struct word from, to;        /* NODE[:PORT]; of patterns only INCAST may have `to` */
    unsigned service, operation; /* the enums above */
    uint64_t message_bytes;
    uint64_t messages; /* TIME_NEVER: without end */
    uint64_t outstanding;
    uint64_t q_key; /* 0: that of the receiver */
    uint64_t p_key; /* 0: a partition that both share */
    struct pace pace;
    uint64_t timeout, retry;
    uint64_t reconnect_ps; /* 0: a broken connection stays broken */
    struct alternate_spec alternate;
    unsigned setup; /* enum connection_spec_setup */
};

/* Reads what follows `connection`. The cursor keeps the first error. */
void connection_spec_read(struct connection_spec *spec, struct cursor *cursor);
/* What follows `connect`. */
void connect_spec_read(struct connection_spec *spec, struct cursor *cursor);
/* `auto` or a LID. */
void alternate_spec_read(struct alternate_spec *alternate, struct cursor *cursor);

#endif
