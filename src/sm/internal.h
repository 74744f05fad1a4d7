/* The manager and its parts: what every file of it sees. Each part has a header of its own. */
#ifndef WEFT_SM_INTERNAL_H
#define WEFT_SM_INTERNAL_H

#include "base/time.h"
#include "sm/policy.h"
#include "sm/sm.h"

#include <assert.h>

struct sm {
    struct sm_config config;
    struct subnet subnet;
    const struct alias_guids *alias_guids; /* the owner's; NULL: none */
    struct alias_plan alias_plan;
    uint64_t guid; /* of the manager's port */
    uint64_t now;  /* of the owner's call; set by core.c alone */
/* The state of each part. */
#define PART(name) struct name *name;
#include "sm/parts.def"
#undef PART
};

/* A part of struct sm; any of the functions may be NULL. core.c allocates and frees parts, and
 * calls them in the order of parts.def. */
struct sm_part {
    size_t offset, bytes; /* of the pointer in struct sm; of the part */
    void (*init)(struct sm *sm);
    void (*release)(struct sm *sm);
    size_t vectors[5];                         /* of the part, by VECTOR(): core.c releases them */
    void (*requests_dropped)(struct sm *sm);   /* all requests were forgotten */
    void (*expire)(struct sm *sm);             /* does what is due; after every wait of the owner */
    uint64_t (*deadline)(const struct sm *sm); /* when something is due next */
    void (*problems)(struct sm *sm, struct problems *problems); /* lists those of this part */
    bool while_down; /* it expires even if the link of the manager's own port is down */
    bool as_master;  /* the last three are for a master only */
};
#define SM_PART(name, ...)                                                                         \
    const struct sm_part name##_part = {                                                           \
        .offset = offsetof(struct sm, name), .bytes = sizeof(struct name), __VA_ARGS__}
#define VECTOR(part, member) (1 + offsetof(struct part, member)) /* 0: none */
/* A part whose state is in the subnet. */
#define SM_PART_OF_SUBNET(name, ...) const struct sm_part name##_part = {__VA_ARGS__}
#define PART(name)                   extern const struct sm_part name##_part;
#include "sm/parts.def"
#undef PART

static inline struct subnet_port *port_at(const struct sm *sm, uint32_t port)
{
    assert(port < sm->subnet.ports.count);
    return &sm->subnet.ports.items[port];
}

static inline struct subnet_node *node_at(const struct sm *sm, uint32_t node)
{
    assert(node < sm->subnet.nodes.count);
    return &sm->subnet.nodes.items[node];
}

/* core.c: output for the owner. An event, also about a port of the subnet, or about a node: its
 * port 0; about a problem that sm_problems() lists; and of the begin or the end of a change. */
void sm_log_event(struct sm *sm, struct sm_event event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
#define sm_log(sm, what, ...) sm_log_at(sm, what, SUBNET_NONE, __VA_ARGS__)
#define sm_log_at(sm, what, port, ...)                                                             \
    sm_log_event(sm, (struct sm_event){.kind = (what), .at = (port)}, __VA_ARGS__)
#define sm_log_listed(sm, what, port, ...)                                                         \
    sm_log_event(sm, (struct sm_event){.kind = (what), .at = (port), .listed = true}, __VA_ARGS__)
/* Explains a request, an answer or a decision. Text that nobody reads is not made. */
#define sm_debug(sm, part, ...)                                                                    \
    do {                                                                                           \
        if (sm_is_debugged(sm, part))                                                              \
            sm_explain(sm, part, __VA_ARGS__);                                                     \
    } while (0)
static inline bool sm_is_debugged(const struct sm *sm, enum log_part part)
{
    return sm->config.debug >> part & 1;
}
void sm_reply(struct sm *sm, const struct sm_message *message);
void sm_persist(struct sm *sm, struct sm_lid_fact fact);
void sm_drop_requests(struct sm *sm); /* forgets all requests, outstanding ones included */

#endif
