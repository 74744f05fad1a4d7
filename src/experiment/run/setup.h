/* The setup of a run: the fabric, its managers, flows and machines.
 *
 * Statements that describe the fabric (topology, preset, seed, set, sm) apply to the whole run,
 * wherever they are in the file. All names are bound before the run starts. */
#ifndef WEFT_EXPERIMENT_RUN_SETUP_H
#define WEFT_EXPERIMENT_RUN_SETUP_H

#include "console/names.h"
#include "experiment/measure/changes.h"
#include "experiment/measure/run_record.h"
#include "experiment/run/connections.h"
#include "experiment/run/flows.h"
#include "experiment/run/machines.h"
#include "experiment/scenario/scenario.h"
#include "host/manager/config.h"
#include "host/sim/sim.h"
#include "host/sim/sim_paths.h"

struct metrics;
struct unaffected;

struct setup_instance {
    const char *name;
    struct config config;
    bool stopped; /* an action starts it */
    /* the change that the manager works on */
    bool open;
    size_t change; /* index in the record */
    struct change_record smps;
};

struct setup {
    struct scenario *scenario;
    struct run_record *record;
    struct cursor cursor; /* receives errors about words of the scenario */
    struct topology topology;
    struct fabric_options options;
    struct fabric *fabric;
    struct sim *sim;
    VEC(struct setup_instance *) instances;
    VEC(struct manager_instance) places; /* by instance */
    VEC(uint32_t) owner;                 /* by manager of the simulator: its instance */
    bool *silent;                        /* by node: the agent does not answer */
    struct sent sent;                    /* requests during the last `run` statement */
    size_t events_before_run;            /* number of events before the last `run` statement */
    uint64_t disturbed, settled; /* times of the last action, and of the end of the last change */
    uint64_t settled_run;        /* end of the last `run until settled` */
    uint64_t trained;            /* when the last restored link is up */
    uint64_t fault;              /* fault without a change yet; TIME_NEVER: none */
    uint32_t cut_off_before;     /* most switches that were cut off when a node was restored */
    VEC(struct flow) flows;
    const struct traffic **traffics; /* of the flows, for the metrics */
    struct machines machines;
    struct run_connections connections;
    struct groups *groups; /* multicast groups; NULL: there was no join yet */
    bool stop_on_deadlock;
    struct sim_paths *paths;
    struct metrics *metrics;
    struct unaffected *unaffected;        /* NULL: not checked */
    const struct data_observer *observer; /* a second one; or NULL */
};

/* ---- setup.c ---- */

/* On error nothing needs to be released. Scenario and record must outlive the setup. */
int setup_build(struct setup *setup, struct scenario *scenario, struct run_record *record,
                struct err *err);
void setup_release(struct setup *setup);

/* Looks up what an action names; setup->cursor receives the error. */
int setup_bind_action(struct setup *setup, struct action *action);
/* The instance at a node, or -1. */
int setup_find_instance(const struct setup *setup, uint32_t node);
void setup_start_manager(struct setup *setup, size_t instance);
void setup_kill_manager(struct setup *setup, size_t instance);
struct sm *setup_manager(const struct setup *setup, size_t instance); /* NULL: not running */
struct check_view setup_view(const struct setup *setup);
/* scenario_settled_run(); NULL and an error if there is none. */
const struct statement *setup_settled_run(struct setup *setup, const struct statement *statement);
/* For errors about a setting, which may be one of the command line. */
struct cursor setup_setting_cursor(const struct setup *setup, const struct statement *setting);

/* ---- apply.c ---- */

/* Applies an action now; the event of the run has the line, an error of it the word's place. */
int apply_action(struct setup *setup, const struct action *action, const char *line,
                 const struct word *word);
int apply_statement(struct setup *setup, const struct statement *statement);

/* ---- multicast.c ---- */

/* Multicast groups without a subnet administration: a join tells the managers at once. */
int multicast_join(struct setup *setup, const struct action *action, struct err *err);
int multicast_leave(struct setup *setup, const struct action *action, struct err *err);
void multicast_bind_flows(struct setup *setup); /* traffic to groups, when there are paths */
void multicast_tell_manager(const struct setup *setup, struct sm *sm); /* a new one */
void multicast_release(struct setup *setup);

/* ---- change_log.c: what managers do, as the record of the run keeps it ---- */

void change_log_listen(struct setup *setup);
/* A `run` statement begins: its counts start at 0. */
void change_log_begin_run(struct setup *setup);
/* Ends the change that a manager is working on, if there is one: the manager or the run ends. */
void change_log_close(struct setup *setup, size_t instance);
/* Requests sent during the last run; 0 means any. */
uint64_t change_log_sent(const struct setup *setup, unsigned method, unsigned attribute);
/* Whether the text of an event of the last run contains `text`. */
bool change_log_has_event(const struct setup *setup, const char *text);

/* ---- measuring.c ---- */

/* An error if two statements collect something under the same name. */
int measuring_check_names(struct setup *setup);
void measuring_begin(struct setup *setup);
/* A `run until settled` has ended: sets the window if its times count from that. */
int measuring_settled(struct setup *setup, const struct statement *run);
/* Brings the results up to date. */
void measuring_publish(struct setup *setup, uint64_t now);

/* ---- settled.c ---- */

/* Managers have no work left and their databases match the fabric: an undetected fault is not
 * settled. */
bool settled_now(const struct setup *setup, struct check_failure *failure);
/* Whether no manager works on a change, and the last one of each had routes. */
bool settled_changes_closed(const struct setup *setup, struct check_failure *failure);

/* ---- check_eval.c ---- */

/* Whether a `check` statement holds now; the failure has what is wrong, or the measured value. */
bool check_evaluate(struct setup *setup, const struct check_statement *check,
                    struct check_failure *failure);

#endif
