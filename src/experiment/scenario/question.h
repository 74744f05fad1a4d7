/* `check` statements: what is asked, and with what a number is compared. */
#ifndef WEFT_EXPERIMENT_SCENARIO_QUESTION_H
#define WEFT_EXPERIMENT_SCENARIO_QUESTION_H

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

enum question_kind {
    QUESTION_FABRIC,   /* one of checks.h */
    QUESTION_IN_ORDER, /* all of them */
    QUESTION_MASTER,   /* the manager at `node` is master, and nobody else */
    QUESTION_SMPS,     /* what managers sent during the last run */
    QUESTION_TIME,     /* from the last action to the end of the change that it caused */
    QUESTION_EVENT,    /* a manager said so during the last run */
    QUESTION_NO_EVENT,
    QUESTION_CONSERVED,   /* all packets, buffers and credits are accounted for */
    QUESTION_DEADLOCK,    /* packets wait for each other in a circle, or did … */
    QUESTION_NO_DEADLOCK, /* … and never did */
    QUESTION_UNAFFECTED,  /* no loss of those who did not depend on what failed */
    QUESTION_OTHERS,      /* no loss of those who did not move */
    QUESTION_MACHINES,    /* every machine is where it should be, once, and no LID got lost */
    QUESTION_FIGURE,      /* any of the results, by name */
};

enum comparison { COMPARE_AT_MOST, COMPARE_EQUAL, COMPARE_AT_LEAST };

struct question {
    enum question_kind kind;
    enum check_kind check;
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

/* Reads what follows `check`, up to the end of the line. */
int question_read(struct question *question, struct cursor *cursor);
/* The cursor only says where errors go. */
int question_bind(struct question *question, const struct topology *topology,
                  struct cursor *cursor);
bool question_compare(const struct question *question, uint64_t measured);
/* Equal to within a billionth: what is measured was added up, what is written was not. */
bool question_compare_figure(const struct question *question, double measured);

#endif
