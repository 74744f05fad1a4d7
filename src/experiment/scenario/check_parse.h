/* `check` statements: the condition, and the value that a number is compared with. */
#ifndef WEFT_EXPERIMENT_SCENARIO_CHECK_PARSE_H
#define WEFT_EXPERIMENT_SCENARIO_CHECK_PARSE_H

#include "base/line_reader.h"
#include "topology/topology.h"

/* Conditions of the fabric itself (checks.h). */
enum check_kind {
    CHECK_ONE_MASTER,  /* each part has one master, and every end port has its LID as MasterSMLID */
    CHECK_SETTLED,     /* no manager has work left */
    CHECK_DISCOVERED,  /* the master has discovered all nodes and links, and no others */
    CHECK_LIDS_UNIQUE, /* every end port has LIDs of its own */
    CHECK_ACTIVE,      /* every port with a link is Active */
    CHECK_REACHABLE,   /* the LFTs deliver every pair, without a loop */
    CHECK_DEADLOCK_FREE, /* the channel dependencies have no cycle */
    CHECK_KINDS,
};

enum check_statement_kind {
    CHECK_STATEMENT_FABRIC,   /* one of checks.h */
    CHECK_STATEMENT_IN_ORDER, /* all of them */
    CHECK_STATEMENT_MASTER,   /* the manager at `node` is the only master */
    CHECK_STATEMENT_LID,      /* the LID of the first end port of `node` */
    CHECK_STATEMENT_SMPS,     /* the number of SMPs that managers sent during the last run */
    CHECK_STATEMENT_TIME,  /* the time from the last action to the end of the change that it caused
                            */
    CHECK_STATEMENT_EVENT, /* a manager reported this event during the last run */
    CHECK_STATEMENT_NO_EVENT,
    CHECK_STATEMENT_CONSERVED,   /* packets, buffers and credits are conserved */
    CHECK_STATEMENT_DEADLOCK,    /* a cycle of waiting packets exists or existed */
    CHECK_STATEMENT_NO_DEADLOCK, /* no such cycle existed */
    CHECK_STATEMENT_UNAFFECTED,  /* no loss between pairs whose path does not use what failed */
    CHECK_STATEMENT_OTHERS,      /* no loss between end points that did not move */
    CHECK_STATEMENT_MACHINES,    /* every machine is at its hypervisor, once, and no LID is lost */
    CHECK_STATEMENT_FIGURE,      /* a figure of the results */
};

enum comparison { COMPARE_AT_MOST, COMPARE_EQUAL, COMPARE_AT_LEAST };

struct check_statement {
    enum check_statement_kind kind;
    enum check_kind fabric;
    struct word node_word;
    uint32_t node;      /* once bound */
    unsigned method;    /* 0: any */
    unsigned attribute; /* 0: any */
    enum comparison comparison;
    uint64_t value;
    const char *text; /* part of the text of an event, or the name of a figure */
    double number;    /* the value that a figure is compared with */
    const char *unit; /* its unit, as in results.h; "": none was given */
};

/* Reads what follows `check`. */
void check_statement_read(struct check_statement *check, struct cursor *cursor);
bool check_statement_compare(const struct check_statement *check, uint64_t measured);
/* Equality has a tolerance of 1e-9: measured values are sums with rounding errors. */
bool check_statement_compare_figure(const struct check_statement *check, double measured);

#endif
