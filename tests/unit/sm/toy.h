/* A toy subnet: a few switches and adapters with minimal agents, and managers at their ports. It
 * does not use the simulator: SMPs follow the links and are answered at once; answers arrive
 * TOY_LATENCY later. Time passes only in toy_run() and similar functions, which fail the test if a
 * manager does not settle.
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
    char description[65]; /* "": its name */
    uint64_t guid;        /* that of a port is this plus its number */
    bool is_switch;
    bool mute;                 /* neither answers nor forwards SMPs */
    unsigned loses_every;      /* SMP with this number; those in between arrive */
    unsigned arrived;          /* SMPs so far */
    uint64_t delay;            /* of each answer */
    bool strict_speeds;        /* shows extended speeds only to a Get or Set with bit 31 */
    bool refuses_bit_31;       /* of PortInfo's modifier */
    bool lenient;              /* a port accepts any state, as in the papers */
    unsigned violations;       /* SMPs without the M_Key of the port, at protection level 2 */
    bool claims_manager;       /* answers SMInfo with `manager`, without a manager */
    uint8_t manager[64];       /* SMInfo, set by a test */
    uint8_t received_info[64]; /* data of the last Get or Set of SMInfo */
    uint64_t received_m_key;   /* M_Key of the same, which a host can read, unlike other SMPs */
    unsigned last_control;     /* modifier of the last Set(SMInfo) received */
    unsigned port_count;
    struct toy_port ports[TOY_PORTS + 1];
    struct toy_port was[TOY_PORTS + 1]; /* before it was switched off */
    uint8_t switch_info[20];
    uint8_t lft[TOY_LFT];
};

/* Faults of an SMP. */
enum toy_fault {
    TOY_LOSE,        /* the SMP does not arrive */
    TOY_LOSE_ANSWER, /* the agent executes the SMP; the answer is lost */
    TOY_REFUSE,      /* the answer has a status; the SMP is not executed */
    TOY_DELAY,       /* the answer arrives after the time-out */
    TOY_REPEAT,      /* the answer arrives twice at once and again after the time-out */
};
struct toy_rule { /* applies to the next `times` SMPs that match; 0 and NULL match everything */
    enum toy_fault fault;
    const char *node;
    unsigned attribute, method, times;
};

struct toy_sent { /* an SMP of a manager */
    uint64_t at;
    unsigned manager;
    const struct toy_node *node; /* NULL: it reaches no node */
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
        struct sm *sm; /* NULL: none, or killed */
        struct toy_node *node;
        unsigned port;
        bool stopped; /* its process does not run; messages to it are lost */
    } managers[TOY_MANAGERS];
    struct sm *sm; /* of the first manager */
    struct toy_rule rules[TOY_RULES];
    bool traps;     /* switches send trap 128 when a port changes */
    bool hold_jobs; /* routing jobs wait for toy_compute() */
    struct sm_job *job;
    unsigned job_of;  /* manager of the job */
    bool refuse_jobs; /* routing jobs are refused */
    unsigned jobs;    /* created so far */
    VEC(struct toy_flight) flights;
    VEC(struct toy_sent) sent;
    size_t mark;                     /* index in `sent` where toy_count() begins */
    unsigned most_outstanding;       /* SMPs of one manager at once */
    struct text events;              /* one a line: manager, kind and text */
    struct sm_message info_response; /* for toy_send_info() */
};

/* ---- set-up ---- */

/* `*state` owns the subnet; toy_close() is the teardown of every test. */
struct toy *toy_open(void **state, const char *links);
int toy_close(void **state);
#define TOY_TEST(test) cmocka_unit_test_teardown(test, toy_close)

struct sm_config toy_config(void); /* defaults with the times above */
struct sm_config toy_config_sweeping(uint64_t interval);
/* Adds a manager at port 1 of an adapter or port 0 of a switch; returns its number. */
unsigned toy_add_manager(struct toy *toy, const char *node, const struct sm_config *config);
/* The same, and starts it. */
unsigned toy_start_manager(struct toy *toy, const char *node, const struct sm_config *config);
/* All links run at 4X NDR; before a manager starts. */
void toy_make_ndr(struct toy *toy);
void toy_kill(struct toy *toy, unsigned manager);
/* A new process at the port of a killed one. */
void toy_restart(struct toy *toy, unsigned manager, const struct sm_config *config);
/* Opens a subnet with one manager at H1 and runs it until it is settled. */
struct toy *toy_up(void **state, const char *links);
struct toy *toy_up_with(void **state, const char *links, struct sm_config config);

/* ---- events ---- */

struct toy_node *toy_node(struct toy *toy, const char *name);
void toy_add_rule(struct toy *toy, struct toy_rule rule);
void toy_link(struct toy *toy, const char *a, const char *b); /* a new cable */
/* Removes the first cable between two nodes: ports change their states, switches set
 * PortStateChange and send traps. */
void toy_cut(struct toy *toy, const char *a, const char *b);
void toy_pull(struct toy *toy, const char *node, unsigned port); /* removes the cable */
/* All cables of a node go down or come up; a node that is switched off loses its settings. */
void toy_switch_off(struct toy *toy, const char *node);
void toy_switch_on(struct toy *toy, const char *node);
/* Sends a trap without a change: 128 of a switch, 144 of port 1 of an adapter. Returns the notice,
 * to be changed before the next call; NULL: it was not sent. */
uint8_t *toy_trap(struct toy *toy, const char *node, unsigned number);
/* Sends this SMInfo from an adapter to a manager. Returns the status of the answer and stores the
 * SMInfo of the answer in `info`. */
unsigned toy_send_info(struct toy *toy, const char *from, unsigned manager, unsigned method,
                       unsigned control, uint8_t info[64]);
/* A node that answers Get and Set of SMInfo without a manager. */
void toy_claim_manager(struct toy *toy, const char *node, unsigned priority, enum sm_state claimed);

/* ---- time ---- */

void toy_run(struct toy *toy, uint64_t duration);
void toy_run_until_sent(struct toy *toy, const char *node, unsigned attribute, unsigned method);
void toy_settle(struct toy *toy); /* until every master is settled */
/* The same; calls `look` after every event. */
void toy_settle_watched(struct toy *toy, void (*look)(struct toy *toy));
/* Takes the output of the managers without delivering it. */
void toy_take_outputs(struct toy *toy);
void toy_compute(struct toy *toy); /* runs the waiting job */

/* ---- queries ---- */

void toy_mark(struct toy *toy); /* forget the SMPs and events so far */
/* SMPs sent since then; NULL and 0 match everything. */
unsigned toy_count(const struct toy *toy, const char *node, unsigned attribute, unsigned method);
unsigned toy_count_from(const struct toy *toy, unsigned manager);
unsigned toy_outstanding(const struct toy *toy, unsigned manager);
bool toy_logged(const struct toy *toy, const char *words);          /* in the text of an event */
unsigned toy_lid(struct toy *toy, const char *node, unsigned port); /* in the agent's PortInfo */
bool toy_has_node(struct toy *toy, const char *node); /* it is in the subnet of the first manager */
unsigned toy_present(const struct toy *toy);          /* nodes that are present */
/* The tables in the switches lead from every end port with a cable to every other. */
bool toy_delivers(struct toy *toy);
bool toy_loops(struct toy *toy);     /* there is a LID for which the tables lead in a cycle */
bool toy_is_active(struct toy *toy); /* every cable, at both ends */
bool toy_has_tables(
    struct toy *toy);                /* those of sm_paths() of the first manager, in every switch */
void toy_assert_up(struct toy *toy); /* all three, and it is settled */

/* ---- problems ---- */

/* The problem of this kind, as "place: text"; "" if there is none. */
const char *toy_problem(struct toy *toy, enum problem_kind kind);
size_t toy_count_problems(struct toy *toy);

#endif
