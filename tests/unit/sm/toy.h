/* A toy subnet: a handful of switches and adapters, just enough agent in each to be managed, and
 * managers that sit at their ports. It has no simulator below it: SMPs walk the links, are answered
 * at once and arrive TOY_LATENCY later. Its own time passes only in toy_run() and its friends,
 * which give up, and fail the test, when a manager does not come to rest.
 *
 * A subnet is described by its links: "S1-S2 S1-H1" has two switches and one adapter. A link takes
 * the lowest free port of each node, so parallel links are written twice, and an adapter with two
 * links has two ports. Names that begin with S are switches. */
#ifndef WEFT_TESTS_SM_TOY_H
#define WEFT_TESTS_SM_TOY_H

#include "base/text.h"
#include "base/time.h"
#include "sm/sm.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* The manager's unit of time is named here and at the top of toy_run.c, nowhere else. */
#define TOY_US    NS_PER_US
#define TOY_MS    NS_PER_MS
#define TOY_S     NS_PER_S
#define TOY_NEVER TIME_NEVER

#define TOY_LATENCY (10 * TOY_US)  /* of an SMP and its answer together */
#define TOY_TIMEOUT (100 * TOY_MS) /* these four are settings of toy_config() */
#define TOY_SWEEP   (100 * TOY_S)
#define TOY_POLL    (1 * TOY_S)
#define TOY_DRAIN   (5 * TOY_MS)

enum { TOY_PORTS = 8, TOY_LFT = 1024, TOY_MANAGERS = 3, TOY_RULES = 4 };

struct toy_port {
    struct toy_node *peer; /* NULL: no cable */
    unsigned peer_port;
    uint8_t info[64];        /* PortInfo */
    uint8_t arbitration[64]; /* the lower half of its low-priority table */
};

struct toy_node {
    char name[8];
    uint64_t guid; /* that of a port is this plus its number */
    bool is_switch;
    bool mute;             /* neither answers nor forwards: its agent hangs */
    bool lenient;          /* a port takes any state that it is told, as the papers' do */
    bool claims_manager;   /* an SMInfo is answered from the next field, by no real manager … */
    uint8_t manager[64];   /* … which a test fills, and … */
    unsigned last_control; /* … the modifier of the last Set(SMInfo) that came */
    unsigned port_count;
    struct toy_port ports[TOY_PORTS + 1];
    struct toy_port was[TOY_PORTS + 1]; /* before it was switched off */
    uint8_t switch_info[20];
    uint8_t lft[TOY_LFT];
};

/* What becomes of an SMP on its way. */
enum toy_fate {
    TOY_LOSE,        /* it does not arrive */
    TOY_LOSE_ANSWER, /* it is carried out, and the answer gets lost */
    TOY_REFUSE,      /* the answer has a status, and nothing is done */
    TOY_DELAY,       /* the answer comes when the manager has stopped waiting for it */
    TOY_REPEAT,      /* the answer comes twice at once, and again as late as that */
};
struct toy_rule { /* applies to the next `times` SMPs that match; 0 and NULL match everything */
    enum toy_fate fate;
    const char *node;
    unsigned attribute, method, times;
};

struct toy_sent { /* an SMP as a manager sent it */
    uint64_t at;
    unsigned manager;
    const struct toy_node *node; /* NULL: it leads nowhere */
    unsigned attribute, method, hops;
    uint32_t modifier;
    uint64_t tid;
};

struct toy_flight;
struct toy {
    uint64_t now;
    struct toy_node *nodes[16];
    unsigned node_count;
    struct {
        struct sm *sm; /* NULL: there is none, or it died */
        struct toy_node *node;
        unsigned port;
    } managers[TOY_MANAGERS];
    struct sm *sm; /* the first one's */
    struct toy_rule rules[TOY_RULES];
    bool traps;     /* switches send trap 128 when a port changes */
    bool hold_jobs; /* a routing job waits for toy_compute() … */
    struct sm_job *job;
    unsigned job_of;  /* the manager whose it is */
    bool refuse_jobs; /* … or is refused */
    unsigned jobs;    /* handed out so far */
    VEC(struct toy_flight) flights;
    VEC(struct toy_sent) sent;
    size_t mark;               /* of `sent`: where toy_count() begins */
    unsigned most_outstanding; /* SMPs that a manager waited for at once */
    struct text events;        /* one a line: manager, kind and text */
    struct sm_message told;    /* the answer that toy_tell() waits for */
};

/* ---- set-up ---- */

/* `*state` owns the subnet; toy_close() is the teardown of every test. */
struct toy *toy_open(void **state, const char *links);
int toy_close(void **state);
#define TOY_TEST(test) cmocka_unit_test_teardown(test, toy_close)

struct sm_config toy_config(void); /* defaults, with the times of above */
struct sm_config toy_config_sweeping(uint64_t interval);
/* A manager at the adapter's port 1, or at the switch's port 0; its number. */
unsigned toy_place(struct toy *toy, const char *node, const struct sm_config *config);
/* The same, and started. */
unsigned toy_seat(struct toy *toy, const char *node, const struct sm_config *config);
void toy_kill(struct toy *toy, unsigned manager);
/* Opens a subnet with one manager at H1 and runs it until it is settled. */
struct toy *toy_up(void **state, const char *links);

/* ---- what happens to it ---- */

struct toy_node *toy_node(struct toy *toy, const char *name);
void toy_meddle(struct toy *toy, struct toy_rule rule);
void toy_link(struct toy *toy, const char *a, const char *b); /* a new cable */
/* The first cable between the two that is there. Ports change as they do when it is pulled or put
 * in, switches note that and send traps. */
void toy_cut(struct toy *toy, const char *a, const char *b);
void toy_pull(struct toy *toy, const char *node, unsigned port); /* out of this port, for good */
/* All cables of a node go down, or come up; it forgets what it was told when it goes. */
void toy_switch_off(struct toy *toy, const char *node);
void toy_switch_on(struct toy *toy, const char *node);
/* A trap that is all by itself: 128 of a switch, 144 of an adapter's port 1. */
void toy_trap(struct toy *toy, const char *node, unsigned number);
/* Somebody at an adapter sends this SMInfo to a manager; returns the status of the answer and puts
 * the SMInfo in it in place of the one that was sent. */
unsigned toy_tell(struct toy *toy, const char *from, unsigned manager, unsigned method,
                  unsigned control, uint8_t info[64]);
/* A manager that is none: it answers Get and Set of SMInfo with this. */
void toy_claim(struct toy *toy, const char *node, unsigned priority, enum sm_state claimed);

/* ---- time ---- */

void toy_run(struct toy *toy, uint64_t duration);
void toy_run_until_sent(struct toy *toy, const char *node, unsigned attribute, unsigned method);
void toy_settle(struct toy *toy); /* until every master is settled */
/* The same, with a look at the subnet after everything that happens to it. */
void toy_settle_watched(struct toy *toy, void (*look)(struct toy *toy));
/* Takes what the managers want sent without delivering anything. */
void toy_take_outputs(struct toy *toy);
void toy_compute(struct toy *toy); /* the job that waits */

/* ---- what can be asked of it ---- */

void toy_mark(struct toy *toy); /* forget the SMPs and events so far */
/* SMPs sent since then; NULL and 0 match everything. */
unsigned toy_count(const struct toy *toy, const char *node, unsigned attribute, unsigned method);
unsigned toy_count_from(const struct toy *toy, unsigned manager);
unsigned toy_outstanding(const struct toy *toy, unsigned manager);
bool toy_heard(const struct toy *toy, const char *words);           /* in an event */
unsigned toy_lid(struct toy *toy, const char *node, unsigned port); /* as its agent knows it */
bool toy_knows(struct toy *toy, const char *node); /* the first manager has it in its subnet */
unsigned toy_present(const struct toy *toy);       /* nodes there */
/* The tables in the switches lead from every end port with a cable to every other. */
bool toy_delivers(struct toy *toy);
bool toy_loops(struct toy *toy);     /* there is a LID for which the tables lead in a cycle */
bool toy_is_active(struct toy *toy); /* every cable, at both ends */
bool toy_has_tables(
    struct toy *toy); /* that sm_paths() of the first manager names, in every switch */
void toy_assert_up(struct toy *toy); /* all three, and it is settled */

#endif
