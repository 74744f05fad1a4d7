/* The four states are those of SMInfo. A manager that starts discovers the subnet and queries every
 * other manager. If one is master or has a higher rank, it becomes standby and polls that one; else
 * it becomes master. A master that finds a standby of higher rank hands over: it sends HANDOVER,
 * the other one sends ACKNOWLEDGE. The rank is the priority, then the lower GUID. A manager that
 * yielded has priority 0 from then on, and a master does not hand back to it for its GUID alone.
 *
 * Events without an entry are ignored. A manager that is ending enters SM_NOT_ACTIVE where the
 * table has SM_STANDBY. */
#include "sm/mastership_table.h"

#include <assert.h>

static const char found_master[] = "there is a master";
static const char higher_rank[] = "another manager has a higher rank";

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
                [ON_END] = {ALWAYS, DO_MOVE, SM_NOT_ACTIVE, "asked to end"},
                [ON_MET_LOWER_MASTER] = {ALWAYS, DO_WATCH, SM_STANDBY, found_master},
                [ON_MET_HIGHER_MASTER] = {ALWAYS, DO_WATCH, SM_STANDBY, found_master},
                [ON_MET_YIELDED_STANDBY] = {ALWAYS, DO_WATCH, SM_STANDBY, higher_rank},
                [ON_MET_HIGHER_STANDBY] = {ALWAYS, DO_WATCH, SM_STANDBY, higher_rank},
                [ON_MET_HIGHER_DISCOVERING] = {ALWAYS, DO_WATCH, SM_STANDBY, higher_rank},
                [ON_DISCOVERED] = {ALWAYS, DO_MOVE, SM_MASTER, "no manager has a higher rank"},
            },
        [SM_STANDBY] =
            {
                [ON_END] = {ALWAYS, DO_MOVE, SM_NOT_ACTIVE, "asked to end"},
                [ON_HANDOVER] = {UNLESS_SYNCING, DO_ACKNOWLEDGE_HANDOVER, SM_MASTER,
                                 "the master handed over"},
                [ON_DISABLE] = {ALWAYS, DO_MOVE, SM_NOT_ACTIVE, "disabled by the master"},
                [ON_DISCOVER] = {ALWAYS, DO_MOVE, SM_DISCOVERING, "requested by the master"},
                [ON_POLL_DUE] = {ALWAYS, DO_SEND_POLL, SM_STANDBY, NULL},
                [ON_MASTER_UNKNOWN] = {ALWAYS, DO_MOVE, SM_DISCOVERING, "no master is known"},
                [ON_POLL_ANSWERED] = {ALWAYS, DO_RECORD_MASTER, SM_STANDBY, NULL},
                [ON_POLL_DENIED] = {ALWAYS, DO_COUNT_FAILED_POLL, SM_STANDBY, NULL},
                [ON_POLL_UNANSWERED] = {ALWAYS, DO_COUNT_FAILED_POLL_AND_REPEAT, SM_STANDBY, NULL},
                [ON_MASTER_RESIGNED] = {ALWAYS, DO_MOVE, SM_DISCOVERING,
                                        "the polled manager is not master"},
                [ON_MASTER_LOST] = {ALWAYS, DO_GIVE_UP_MASTER, SM_DISCOVERING,
                                    "the master does not answer"},
            },
        [SM_MASTER] =
            {
                [ON_YIELD] = {ALWAYS, DO_SEEK_SUCCESSOR_AND_YIELD, SM_MASTER, NULL},
                [ON_END] = {ALWAYS, DO_SEEK_SUCCESSOR, SM_MASTER, NULL},
                [ON_NO_SUCCESSOR] = {ALWAYS, DO_MOVE, SM_NOT_ACTIVE, "asked to end"},
                [ON_HANDOVER] = {ALWAYS, DO_MERGE_SUBNETS, SM_MASTER, NULL},
                [ON_ACKNOWLEDGE] = {IF_HANDING_OVER, DO_WATCH, SM_STANDBY,
                                    "the new master acknowledged"},
                [ON_MET_HIGHER_MASTER] = {ALWAYS, DO_SEND_HANDOVER, SM_MASTER, NULL},
                [ON_MET_LOWER_STANDBY] = {IF_LEAVING, DO_SEND_HANDOVER, SM_MASTER, NULL},
                [ON_MET_YIELDED_STANDBY] = {IF_LEAVING, DO_SEND_HANDOVER, SM_MASTER, NULL},
                [ON_MET_HIGHER_STANDBY] = {UNLESS_HANDING_OVER, DO_SEND_HANDOVER, SM_MASTER, NULL},
                [ON_RIVAL_GONE] = {ALWAYS, DO_REDISCOVER, SM_MASTER, NULL},
                [ON_HANDOVER_ACCEPTED] = {ALWAYS, DO_WATCH, SM_STANDBY, "handed over"},
                [ON_HANDOVER_FAILED] = {ALWAYS, DO_FORGET_HANDOVER, SM_MASTER, NULL},
                [ON_SWEEP_BEGINS] = {ALWAYS, DO_FORGET_HANDOVER, SM_MASTER, NULL},
            },
};

static bool guard_holds(enum mastership_guard guard, struct mastership_facts facts)
{
    switch (guard) {
    case ALWAYS: return true;
    case UNLESS_SYNCING: return !facts.syncing;
    case UNLESS_ENDING: return !facts.ending;
    case IF_HANDING_OVER: return facts.handing_over;
    case UNLESS_HANDING_OVER: return !facts.handing_over;
    case IF_LEAVING: return (facts.ending || facts.yielding) && !facts.handing_over;
    }
    return false;
}

struct mastership_transition mastership_step(enum sm_state state, enum mastership_event event,
                                             struct mastership_facts facts)
{
    assert(state <= SM_MASTER && event < MASTERSHIP_EVENTS);
    struct mastership_transition step = mastership_table[state][event];
    if (step.action == DO_NOTHING || !guard_holds(step.guard, facts))
        return (struct mastership_transition){.action = DO_NOTHING, .next = state};
    if (step.next == SM_STANDBY && state != SM_STANDBY && facts.ending)
        step.next = SM_NOT_ACTIVE;
    return step;
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
