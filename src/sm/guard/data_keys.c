/* Packets that ports refused because of their P_Key or Q_Key (14.2.5.1, traps 257 to 259).
 *
 * The notice names the sender by its LID. For ten minutes after the last report, the port that sent
 * such packets is listed as a problem, with the port that refused the last one. Reports of packets
 * from a LID that no port has are counted at the port that refused them. Any host can report
 * whatever it likes: the manager only tells people, and the text names the reporter. */
#include "sm/guard/data_keys.h"
#include "base/rate_limit.h"
#include "sm/internal.h"
#include "subnet/names.h"

struct sender {
    uint64_t reports;
    struct rate_window recent;
    uint32_t reporter, key; /* of the last report */
    bool q_key, known;      /* known: this port has sent the packet, else it has refused it */
};

struct data_keys {
    VEC(struct sender) senders; /* by port */
};

enum { RECENT_S = 600 };

void data_keys_refused(struct sm *sm, uint32_t reporter, unsigned trap, const uint8_t *details)
{
    bool at_switch = trap == ATTRIBUTE_TRAP_SWITCH_BAD_P_KEY;
    uint64_t lid = wire_get(details, at_switch ? TRAP_SWITCH_BAD_P_KEY_LID1 : TRAP_BAD_P_KEY_LID1);
    uint32_t port = lid < LFT_ENTRIES ? sm->subnet.by_lid[lid] : SUBNET_NONE;
    bool known = port != SUBNET_NONE && port != reporter;
    struct sender *sender = vec_at(&sm->data_keys->senders, known ? port : reporter);
    sender->reports++;
    sender->reporter = reporter;
    sender->key =
        (uint32_t)wire_get(details, at_switch ? TRAP_SWITCH_BAD_P_KEY_P_KEY : TRAP_BAD_P_KEY_KEY);
    sender->q_key = trap == ATTRIBUTE_TRAP_BAD_Q_KEY;
    sender->known = known;
    sender->recent = (struct rate_window){0};
    rate_window_add(&sender->recent, sm->now, RECENT_S * NS_PER_S);
}

bool data_keys_forget(struct sm *sm, uint32_t port)
{
    struct sender *sender = vec_at(&sm->data_keys->senders, port);
    bool listed = sender->recent.count;
    *sender = (struct sender){0};
    return listed;
}

static void data_keys_list_problems(struct sm *sm, struct problems *problems)
{
    for (uint32_t port = 0; port < sm->data_keys->senders.count; port++) {
        const struct sender *sender = &sm->data_keys->senders.items[port];
        if (rate_window_is_over(&sender->recent, sm->now, RECENT_S * NS_PER_S))
            continue;
        const char *key = sender->q_key ? "Q_Key" : "P_Key";
        if (sender->known)
            problems_add(problems, PROBLEM_REFUSED_PACKETS, subnet_at_link(&sm->subnet, port),
                         "%s refused packets from here because of their %s, the last one 0x%x: "
                         "%llu reports",
                         subnet_node_name(&sm->subnet, port_at(sm, sender->reporter)->node).text,
                         key, sender->key, (unsigned long long)sender->reports);
        else
            problems_add(problems, PROBLEM_REFUSED_PACKETS, subnet_at_link(&sm->subnet, port),
                         "this port refused packets from an unknown LID because of their %s, the "
                         "last one 0x%x: %llu reports",
                         key, sender->key, (unsigned long long)sender->reports);
    }
}

SM_PART(data_keys, .vectors = {VECTOR(data_keys, senders)}, .problems = data_keys_list_problems);
