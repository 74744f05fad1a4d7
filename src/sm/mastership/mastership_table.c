/* The four states are those of SMInfo. A manager that starts discovers the whole subnet and queries
 * every other manager. If one is master, it becomes standby and polls that one; else it becomes
 * master. A master that finds a standby of higher rank hands over: it sends HANDOVER, the other one
 * sends ACKNOWLEDGE. The rank is the priority, then the lower GUID. A manager that yielded has
 * priority 0 from then on, and a master does not hand back to it for its GUID alone.
 *
 * A discovering manager that finds no master but a manager of higher rank polls that one until it
 * is master. It does so for a limited time and once: a standby may wait for a master that is gone,
 * and discovery of the other manager may never end. Then it becomes master itself, and hands over
 * later.
 *
 * A standby whose polls are not answered reads PortInfo of the master's port. If IsSM is clear or
 * the port does not answer, it gives the master up at once; else the master may have been stopped
 * for a while, and gets more polls.
 *
 * Events without an entry are ignored. A manager that is ending enters SM_NOT_ACTIVE where the
 * table has SM_STANDBY. tests/unit/sm/mastership_search_test.c explores all states of two and three
 * managers. */
#include "sm/mastership/mastership_table.h"

#include <assert.h>

static const char found_master[] = "there is a master";
static const char higher_rank[] = "another manager has a higher rank";
static const char stalled[] =
    "the master does not answer, although its port has IsSM: it hangs, or "
    "this fabric does not clear IsSM";

const struct mastership_transition mastership_table[MASTERSHIP_STATES][MASTERSHIP_EVENTS] =
    {
        [SM_NOT_ACTIVE] =
            {
                [ON_START] = {ALWAYS, DO_MOVE, SM_DISCOVERING, "started"},
                [ON_START_AS_MASTER] = {ALWAYS, DO_MOVE, SM_MASTER, "started"},
                [ON_STANDBY] = {UNLESS_ENDING, DO_WATCH, SM_STANDBY, "enabled by the master"},
            },
        [SM_DISCOVERING] =
            {
                [ON_END] = {ALWAYS, DO_MOVE, SM_NOT_ACTIVE, "shutdown requested"},
                [ON_MET_LOWER_MASTER] = {ALWAYS, DO_WATCH, SM_STANDBY, found_master},
                [ON_MET_HIGHER_MASTER] = {ALWAYS, DO_WATCH, SM_STANDBY, found_master},
                [ON_MET_YIELDED_STANDBY] = {UNLESS_IMPATIENT, DO_AWAIT, SM_DISCOVERING, NULL},
                [ON_MET_HIGHER_STANDBY] = {UNLESS_IMPATIENT, DO_AWAIT, SM_DISCOVERING, NULL},
                [ON_MET_HIGHER_DISCOVERING] = {UNLESS_IMPATIENT, DO_AWAIT, SM_DISCOVERING, NULL},
                [ON_OUTRANKED] = {ALWAYS, DO_WATCH_AWAITED, SM_STANDBY, higher_rank},
                [ON_DISCOVERED] = {ALWAYS, DO_MOVE, SM_MASTER, "there is no other master"},
            },
        [SM_STANDBY] =
            {
                [ON_END] = {ALWAYS, DO_MOVE, SM_NOT_ACTIVE, "shutdown requested"},
                [ON_HANDOVER] = {UNLESS_SYNCING, DO_ACKNOWLEDGE_HANDOVER, SM_MASTER,
                                 "the master handed over"},
                [ON_ACKNOWLEDGE] = {IF_FROM_MASTER, DO_ACCEPT, SM_STANDBY, NULL},
                [ON_DISABLE] = {IF_FROM_MASTER, DO_MOVE, SM_NOT_ACTIVE, "disabled by the master"},
                [ON_DISCOVER] = {IF_FROM_MASTER, DO_MOVE, SM_DISCOVERING,
                                 "requested by the master"},
                [ON_POLL_DUE] = {ALWAYS, DO_SEND_POLL, SM_STANDBY, NULL},
                [ON_LINK_RESTORED] = {ALWAYS, DO_MOVE, SM_DISCOVERING,
                                      "the link of the manager's own port was down"},
                [ON_NEIGHBOR_ANSWERS] =
                    {ALWAYS, DO_MOVE, SM_DISCOVERING,
                     "the node at the other end of the link answers"},
                [ON_MASTER_UNKNOWN] = {ALWAYS, DO_MOVE, SM_DISCOVERING, "no master is known"},
                [ON_POLL_ANSWERED] = {ALWAYS, DO_RECORD_MASTER, SM_STANDBY, NULL},
                [ON_POLL_DENIED] = {ALWAYS, DO_COUNT_DENIED_POLL, SM_STANDBY, NULL},
                [ON_POLL_UNANSWERED] = {ALWAYS, DO_COUNT_UNANSWERED_POLL, SM_STANDBY, NULL},
                [ON_MASTER_RESIGNED] = {ALWAYS, DO_MOVE, SM_DISCOVERING,
                                        "the polled manager is not master"},
                [ON_AWAITED_IN_VAIN] = {ALWAYS, DO_GIVE_UP_AWAITING, SM_DISCOVERING,
                                        "the manager of higher rank does not become master"},
                [ON_MASTER_STALLED] = {ALWAYS, DO_GIVE_UP_MASTER, SM_DISCOVERING, stalled},
                [ON_MASTER_ENDED] = {ALWAYS, DO_GIVE_UP_MASTER, SM_DISCOVERING,
                                     "the master has ended: IsSM of its port is clear"},
                [ON_MASTER_LOST] =
                    {ALWAYS, DO_GIVE_UP_MASTER, SM_DISCOVERING,
                     "the port of the master does not answer"},
            },
        [SM_MASTER] =
            {
                [ON_YIELD] = {ALWAYS, DO_SEEK_SUCCESSOR_AND_YIELD, SM_MASTER, NULL},
                [ON_END] = {ALWAYS, DO_SEEK_SUCCESSOR, SM_MASTER, NULL},
                [ON_NO_SUCCESSOR] = {ALWAYS, DO_MOVE, SM_NOT_ACTIVE, "shutdown requested"},
                [ON_HANDOVER] = {ALWAYS, DO_MERGE_SUBNETS, SM_MASTER, NULL},
                [ON_ACKNOWLEDGE] = {IF_FROM_SUCCESSOR, DO_WATCH, SM_STANDBY,
                                    "the new master acknowledged"},
                [ON_MET_LOWER_MASTER] = {ALWAYS, DO_PROMPT_RIVAL, SM_MASTER, NULL},
                [ON_MET_HIGHER_MASTER] = {UNLESS_HANDING_OVER, DO_SEND_HANDOVER, SM_MASTER, NULL},
                [ON_MET_LOWER_STANDBY] = {IF_LEAVING, DO_SEND_HANDOVER, SM_MASTER, NULL},
                [ON_MET_YIELDED_STANDBY] = {IF_LEAVING, DO_SEND_HANDOVER, SM_MASTER, NULL},
                [ON_MET_HIGHER_STANDBY] = {UNLESS_HANDING_OVER, DO_SEND_HANDOVER, SM_MASTER, NULL},
                [ON_RIVAL_GONE] = {ALWAYS, DO_REDISCOVER, SM_MASTER, NULL},
                [ON_HANDOVER_ACCEPTED] = {ALWAYS, DO_WATCH, SM_STANDBY, "handed over"},
                [ON_HANDOVER_FAILED] = {ALWAYS, DO_FORGET_HANDOVER, SM_MASTER, NULL},
                [ON_SWEEP_BEGINS] = {ALWAYS, DO_FORGET_HANDOVER, SM_MASTER, NULL},
            },
};

static bool is_handing_over(const struct mastership_core *core)
{
    return core->successor != MASTERSHIP_NOBODY;
}

static bool guard_holds(enum mastership_guard guard, const struct mastership_core *core,
                        uint32_t who)
{
    switch (guard) {
    case ALWAYS: return true;
    case UNLESS_SYNCING: return !core->syncing;
    case UNLESS_ENDING: return !core->ending;
    case IF_FROM_SUCCESSOR: return is_handing_over(core) && core->successor == who;
    case IF_FROM_MASTER: return who != MASTERSHIP_NOBODY && core->master == who;
    case UNLESS_HANDING_OVER: return !is_handing_over(core);
    case IF_LEAVING: return (core->ending || core->yielding) && !is_handing_over(core);
    case UNLESS_IMPATIENT: return !core->impatient;
    }
    return false;
}

struct mastership_transition mastership_step(const struct mastership_core *core,
                                             enum mastership_event event, uint32_t who)
{
    assert(core->state <= SM_MASTER && event < MASTERSHIP_EVENTS);
    struct mastership_transition step = mastership_table[core->state][event];
    if (step.action == DO_NOTHING || !guard_holds(step.guard, core, who))
        return (struct mastership_transition){.action = DO_NOTHING, .next = core->state};
    if (step.next == SM_STANDBY && core->state != SM_STANDBY && core->ending)
        step.next = SM_NOT_ACTIVE;
    return step;
}

void mastership_core_init(struct mastership_core *core)
{
    *core = (struct mastership_core){
        .master = MASTERSHIP_NOBODY, .awaited = MASTERSHIP_NOBODY, .successor = MASTERSHIP_NOBODY};
}

static void apply_action(struct mastership_core *core, enum mastership_action action, uint32_t who)
{
    switch (action) {
    case DO_SEEK_SUCCESSOR_AND_YIELD: core->yielding = true; break;
    case DO_SEND_HANDOVER: core->successor = who; break;
    case DO_FORGET_HANDOVER: core->successor = MASTERSHIP_NOBODY; break;
    case DO_AWAIT: core->awaited = who; break;
    case DO_WATCH: core->master = who; break;
    case DO_WATCH_AWAITED:
        core->master = core->awaited;
        core->unconfirmed = true;
        break;
    case DO_RECORD_MASTER:
        core->unanswered = core->denied = 0;
        core->unconfirmed = core->impatient = false;
        break;
    case DO_COUNT_DENIED_POLL:
        core->unanswered = 0;
        core->denied += core->denied < UINT8_MAX;
        break;
    case DO_COUNT_UNANSWERED_POLL: core->unanswered += core->unanswered < UINT8_MAX; break;
    case DO_GIVE_UP_AWAITING: core->impatient = true; break;
    default: break; /* only messages */
    }
}

void mastership_take(struct mastership_core *core, struct mastership_transition step, uint32_t who)
{
    apply_action(core, step.action, who);
    if (step.next == core->state)
        return;
    core->unanswered = core->denied = 0;
    core->successor = core->awaited = MASTERSHIP_NOBODY;
    core->yielding = false;
    if (step.next != SM_STANDBY) {
        core->master = MASTERSHIP_NOBODY;
        core->unconfirmed = false;
    }
    if (step.next == SM_MASTER)
        core->impatient = false;
    core->state = step.next;
}

enum mastership_event mastership_discovered(const struct mastership_core *core)
{
    return core->awaited == MASTERSHIP_NOBODY ? ON_DISCOVERED : ON_OUTRANKED;
}

enum mastership_event mastership_poll(const struct mastership_core *core)
{
    return core->master == MASTERSHIP_NOBODY ? ON_MASTER_UNKNOWN : ON_POLL_DUE;
}

enum mastership_event mastership_polled(const struct mastership_core *core,
                                        const struct mastership_limits *limits)
{
    if (core->unanswered > limits->unanswered)
        return ON_MASTER_STALLED;
    if (core->unconfirmed && core->denied > limits->awaited)
        return ON_AWAITED_IN_VAIN;
    return !core->unconfirmed && core->denied > limits->denied ? ON_MASTER_RESIGNED : ON_NO_EVENT;
}

bool mastership_outranks(const struct mastership_peer *them, const struct mastership_peer *us)
{
    return them->priority != us->priority ? them->priority > us->priority : them->guid < us->guid;
}

enum mastership_event mastership_classify(const struct mastership_peer *us,
                                          const struct mastership_peer *them)
{
    bool higher = mastership_outranks(them, us);
    switch (them->state) {
    case SM_MASTER: return higher ? ON_MET_HIGHER_MASTER : ON_MET_LOWER_MASTER;
    case SM_STANDBY:
        if (!higher)
            return ON_MET_LOWER_STANDBY;
        return them->yielded && them->priority == us->priority ? ON_MET_YIELDED_STANDBY
                                                               : ON_MET_HIGHER_STANDBY;
    case SM_NOT_ACTIVE: return ON_NO_EVENT;
    default: return higher ? ON_MET_HIGHER_DISCOVERING : ON_NO_EVENT;
    }
}

const char *const mastership_event_names[MASTERSHIP_EVENTS] = {
    [ON_NO_EVENT] = "no event",
    [ON_START] = "start",
    [ON_START_AS_MASTER] = "start as master",
    [ON_YIELD] = "yield",
    [ON_END] = "end",
    [ON_NO_SUCCESSOR] = "no successor",
    [ON_HANDOVER] = "handover",
    [ON_ACKNOWLEDGE] = "acknowledge",
    [ON_DISABLE] = "disable",
    [ON_STANDBY] = "standby",
    [ON_DISCOVER] = "discover",
    [ON_MET_LOWER_MASTER] = "met lower master",
    [ON_MET_HIGHER_MASTER] = "met higher master",
    [ON_MET_LOWER_STANDBY] = "met lower standby",
    [ON_MET_YIELDED_STANDBY] = "met yielded standby",
    [ON_MET_HIGHER_STANDBY] = "met higher standby",
    [ON_MET_HIGHER_DISCOVERING] = "met higher discovering",
    [ON_RIVAL_GONE] = "rival gone",
    [ON_DISCOVERED] = "discovered",
    [ON_OUTRANKED] = "outranked",
    [ON_POLL_DUE] = "poll due",
    [ON_MASTER_UNKNOWN] = "master unknown",
    [ON_POLL_ANSWERED] = "poll answered",
    [ON_POLL_DENIED] = "poll denied",
    [ON_POLL_UNANSWERED] = "poll unanswered",
    [ON_MASTER_RESIGNED] = "master resigned",
    [ON_AWAITED_IN_VAIN] = "gave up waiting for a higher rank",
    [ON_MASTER_STALLED] = "master stalled",
    [ON_MASTER_ENDED] = "master ended",
    [ON_MASTER_LOST] = "master lost",
    [ON_HANDOVER_ACCEPTED] = "handover accepted",
    [ON_HANDOVER_FAILED] = "handover failed",
    [ON_SWEEP_BEGINS] = "sweep begins",
    [ON_LINK_RESTORED] = "link restored",
    [ON_NEIGHBOR_ANSWERS] = "neighbor answers",
};

const char *const sm_state_names[] = {
    [SM_NOT_ACTIVE] = "not active",
    [SM_DISCOVERING] = "discovering",
    [SM_STANDBY] = "standby",
    [SM_MASTER] = "master",
};
