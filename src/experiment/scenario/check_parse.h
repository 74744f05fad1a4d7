/* `check` statements: what is asked, and with what a number is compared. */
#ifndef WEFT_EXPERIMENT_SCENARIO_CHECK_PARSE_H
#define WEFT_EXPERIMENT_SCENARIO_CHECK_PARSE_H

#include "base/line_reader.h"
#include "topology/topology.h"

/* What can be asked of the fabric itself (checks.h). */
enum check_kind {
    CHECK_ONE_MASTER,    /* one in each part, and every end port knows its LID */
    CHECK_SETTLED,       /* managers have nothing left to do */
    CHECK_DISCOVERED,    /* the master knows every node and every link, and none else */
    CHECK_LIDS_UNIQUE,   /* every end port has addresses that nobody else has */
    CHECK_ACTIVE,        /* every port with a link is Active */
    CHECK_REACHABLE,     /* every pair is delivered by the tables in the switches, nothing loops */
    CHECK_DEADLOCK_FREE, /* nor can packets wait for each other in a circle */
    CHECK_KINDS,
};

enum check_statement_kind {
    CHECK_STATEMENT_FABRIC,   /* one of checks.h */
    CHECK_STATEMENT_IN_ORDER, /* all of them */
    CHECK_STATEMENT_MASTER,   /* the manager at `node` is master, and nobody else */
    CHECK_STATEMENT_SMPS,     /* what managers sent during the last run */
    CHECK_STATEMENT_TIME,     /* from the last action to the end of the change that it caused */
    CHECK_STATEMENT_EVENT,    /* a manager said so during the last run */
    CHECK_STATEMENT_NO_EVENT,
    CHECK_STATEMENT_CONSERVED,   /* all packets, buffers and credits are accounted for */
    CHECK_STATEMENT_DEADLOCK,    /* packets wait for each other in a circle, or did … */
    CHECK_STATEMENT_NO_DEADLOCK, /* … and never did */
    CHECK_STATEMENT_UNAFFECTED,  /* no loss of those who did not depend on what failed */
    CHECK_STATEMENT_OTHERS,      /* no loss of those who did not move */
    CHECK_STATEMENT_MACHINES, /* every machine is where it should be, once, and no LID got lost */
    CHECK_STATEMENT_FIGURE,   /* any of the results, by name */
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
    const char *text; /* of an event, or a part of it; a figure's name */
    double number;    /* what a figure is compared with, … */
    const char *unit; /* … in this unit of results.h; "": none was given */
};

/* Reads what follows `check`. */
void check_statement_read(struct check_statement *check, struct cursor *cursor);
bool check_statement_compare(const struct check_statement *check, uint64_t measured);
/* Equal to within a billionth: what is measured was added up, what is written was not. */
bool check_statement_compare_figure(const struct check_statement *check, double measured);

#endif
