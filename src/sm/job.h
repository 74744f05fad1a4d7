/* A routing job: a snapshot of the subnet and of its tables, and what was computed for it. */
#ifndef WEFT_SM_JOB_H
#define WEFT_SM_JOB_H

#include "routing/check/verify_change.h"
#include "routing/repair/repair.h"
#include "routing/update/make_plan.h"
#include "sm/sm.h"

enum job_kind {
    JOB_COMPUTE,    /* all tables */
    JOB_REBALANCE,  /* the same; the tables in force are correct, balance is the only reason */
    JOB_REPAIR,     /* repair `before` if possible, else compute */
    JOB_TAKE_OVER,  /* keep the tables of the previous master if they are correct, else compute */
    JOB_CHECK_COPY, /* of a standby: never compute */
};

/* What is known of the tables in the switches. */
enum job_before {
    BEFORE_UNKNOWN, /* no entries */
    BEFORE_TABLES,
    BEFORE_LEVELS, /* and the service levels that sources use with them */
};

/* What sources do while the tables change. */
enum job_traffic {
    TRAFFIC_RUNS,
    TRAFFIC_URGENT,   /* routes are broken and the plan has drains: quiesce sources if possible */
    TRAFFIC_QUIESCED, /* sources are stopped already (quiesce.c): `before` may be inconsistent */
};

/* What the tables of a job are. */
enum job_tables {
    TABLES_FINAL,
    TABLES_PROVISIONAL,     /* a hybrid's first tables */
    TABLES_REPAIRED,        /* a repair of `before` */
    TABLES_REPAIRED_PARTLY, /* entries stay broken until the next job */
};

/* What sm_job_run() has done, besides `routes` and `plan`. */
struct job_result {
    int status;
    enum job_tables tables;                /* wanted, or what they are */
    uint32_t longest;                      /* longest route of old and new tables together */
    uint32_t longest_before;               /* longest route of the old tables, if it is needed */
    unsigned imbalance;                    /* of repaired tables: see repair.h */
    bool kept;                             /* the tables of the previous master */
    uint32_t proofs_passed, proofs_failed; /* checks of tables that this job has computed */
};

struct sm_job {
    uint64_t number;     /* counts jobs */
    uint64_t generation; /* of the subnet */
    enum job_kind kind;
    enum sm_mode mode;
    const struct engine *first;  /* tried first, then `others` */
    const struct engine *engine; /* of the tables, when they are computed */
    struct engine_list others;
    struct engine_options options;
    unsigned spare_vls; /* reserved for multicast groups: 0 or 1 */
    enum job_traffic traffic;
    bool may_quiesce; /* sources can be stopped */
    struct network network;
    VEC(uint32_t) nodes; /* the subnet's node, by switch of the network */
    enum job_before known;
    struct routes before; /* the tables in the switches */
    struct routes routes;
    struct update_plan plan;
    struct job_result result;
    uint64_t peak_at_request; /* pairs on the most used link when a rebalance was requested */
    struct repair repair;
    struct repair_state repair_state; /* for the next repair of `routes` */
    struct dependency_graph checked;  /* for the check of the next repair of `routes` */
    struct verify_change change;      /* input of the check of this repair */
    uint64_t *edited;       /* LIDs whose entries virtual machines have changed; NULL: none */
    uint64_t edits;         /* number of changes of entries by virtual machines */
    uint64_t edits_checked; /* the same when `routes` was last checked */
};

/* Runs the independent check. On success stores its results in the job for the next repair. */
int job_check(struct sm_job *job, const struct routes *routes, struct err *err);
/* Whether a plan with waves would not be carried out: it is not searched. */
bool job_needs_no_order(const struct sm_job *job);
static inline bool job_is_repair(const struct sm_job *job)
{
    return job->result.tables >= TABLES_REPAIRED;
}
bool job_keeps_tables(const struct sm_job *job); /* of the previous master, if they are correct */

#endif
