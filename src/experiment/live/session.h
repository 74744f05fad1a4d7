/* A session: a scenario that a person runs, watches and changes.
 *
 * Time advances as far as the owner of the session asks. Actions apply at the present time; the
 * session records them, so that it can be exported as a scenario (`weft sim` repeats it with the
 * same trace hash) and replayed. Going back in time is a replay from the start: the recorded
 * actions apply again at their times, until a new action replaces those that are still to come. */
#ifndef WEFT_EXPERIMENT_LIVE_SESSION_H
#define WEFT_EXPERIMENT_LIVE_SESSION_H

#include "experiment/run/run.h"

struct pcap;

struct live_session_action {
    uint64_t time;        /* whole nanoseconds */
    struct action action; /* owns its texts */
};

/* One run from the beginning; a replay is another one. */
struct live_session_run {
    struct scenario scenario;
    struct run_record record;
    struct scenario_run *run;
    struct err failure;
};

struct live_session {
    char *name, *text; /* of the scenario */
    uint64_t seed;
    bool has_seed;
    struct live_session_run *current;
    const struct data_observer *observer;
    const struct workers *workers;          /* threads for data packets; NULL: one */
    const volatile sig_atomic_t *interrupt; /* a signal ends long computations; NULL: none */
    VEC(struct live_session_action) actions;
    size_t next_action;  /* the first that has not been applied */
    uint64_t generation; /* counts starts from the beginning */
    bool failed;         /* the run has ended: see its `failure` */
};

/* `seed` NULL: that of the scenario. On error nothing needs to be released. */
int live_session_begin(struct live_session *session, const char *name, const char *text,
                       const uint64_t *seed, const struct data_observer *observer,
                       const struct workers *workers, const volatile sig_atomic_t *interrupt,
                       struct err *err);
void live_session_end(struct live_session *session);

const struct setup *live_session_setup(const struct live_session *session);
uint64_t live_session_now(const struct live_session *session); /* ps */
/* Whether time cannot advance any more; the reason. NULL: it can. */
const char *live_session_halted(const struct live_session *session);

/* `until` is rounded up to whole nanoseconds. */
void live_session_advance(struct live_session *session, uint64_t until);
/* Every manager has settled, and a `run until settled` of the scenario has ended. */
bool live_session_is_settled(const struct live_session *session);
/* Why no master has had routes for a while: the subnet does not settle. NULL: one has. */
const char *live_session_refusal(const struct live_session *session);
/* Advances until either is so, at most to `limit`. False: the limit came first. */
bool live_session_settle(struct live_session *session, uint64_t limit);
/* Applies a bound action now. */
int live_session_act(struct live_session *session, const struct action *action, struct err *err);
/* Goes to a time, by a replay from the start if it is in the past. */
int live_session_seek(struct live_session *session, uint64_t time, struct err *err);
/* Starts anew without the actions. */
int live_session_restart(struct live_session *session, const uint64_t *seed, struct err *err);
/* `paths`: with absolute paths of files. */
void live_session_export(const struct live_session *session, bool paths, struct text *out);
/* Replays the session up to now in a second run that writes all MADs to the capture. */
int live_session_capture(const struct live_session *session, struct pcap *pcap, struct err *err);

#endif
