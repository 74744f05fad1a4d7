/* Requests for machines, one state machine each (paper 004, algorithm 1).
 *
 * A move: the new place is told first, with one Set(VirtualFunction), then the old one; after both
 * have answered, the addresses change places in the manager's books, and the entries of switches
 * follow in waves. Until the old place is told the machine counts as being there, from then on as
 * being at the new place; whoever dies when, one of the two remains, since each is known from what
 * the hypervisors show (sm/functions.c). A step that is carried out twice does no harm.
 *
 * Nothing starts while the manager is busy with other things. What it has to do in the middle of a
 * move it does at once, and if that makes it compute routes, these fit the new places, and there is
 * nothing left to write. All requests that have entries to write do it in step, so that blocks are
 * shared. */
#include "vswitch/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PAST = 4096, WAITING_MOST = 65536 };

void operation_free(struct operation *operation)
{
    if (!operation)
        return;
    columns_plan_release(&operation->plan);
    mem_free(operation);
}

static bool is_dynamic(const struct vswitch *vswitch)
{
    return sm_has_dynamic_lids(vswitch->sm);
}

static const struct subnet_port *port_of(const struct vswitch *vswitch, uint32_t port)
{
    return &subnet_of(vswitch)->ports.items[port];
}

static uint32_t node_of(const struct vswitch *vswitch, uint32_t socket)
{
    return socket == SUBNET_NONE ? SUBNET_NONE : port_of(vswitch, socket)->node;
}

static uint16_t lid_at(const struct vswitch *vswitch, uint32_t socket)
{
    uint32_t port = socket == SUBNET_NONE ? SUBNET_NONE : sm_function_port(vswitch->sm, socket);
    return port == SUBNET_NONE ? 0 : port_of(vswitch, port)->lid;
}

static bool is_present(const struct vswitch *vswitch, uint32_t socket)
{
    return subnet_of(vswitch)->nodes.items[node_of(vswitch, socket)].present;
}

/* ---- ends ---- */

void operation_end(struct operation *operation, enum vswitch_state state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(operation->result.text, sizeof operation->result.text, format, arguments);
    va_end(arguments);
    operation->result.state = state;
    operation->step = STEP_OVER;
}

void operation_succeed(struct vswitch *vswitch, struct operation *operation)
{
    struct vswitch_result *result = &operation->result;
    const char *place =
        vswitch_hypervisor_name(vswitch, result->to == SUBNET_NONE ? result->from : result->to);
    switch (result->request.verb) {
    case VSWITCH_CREATE:
        vswitch->counts.created++;
        operation_end(operation, VSWITCH_DONE, "at %s, LID %u", place, result->lid);
        break;
    case VSWITCH_DESTROY:
        vswitch->counts.destroyed++;
        operation_end(operation, VSWITCH_DONE, "gone from %s", place);
        break;
    case VSWITCH_MIGRATE:
        vswitch->counts.migrated++;
        if (result->rerouted) /* whose entries are whose nobody can tell */
            operation_end(operation, VSWITCH_DONE, "at %s, LID %u, routes computed anew", place,
                          result->lid);
        else
            operation_end(operation, VSWITCH_DONE, "at %s, LID %u, %u switch%s, %u table SMP%s",
                          place, result->lid, result->switches, result->switches == 1 ? "" : "es",
                          result->table_smps, result->table_smps == 1 ? "" : "s");
        break;
    }
}

static void keep_result(struct vswitch *vswitch, const struct vswitch_result *result)
{
    if (vswitch->past.count < PAST) {
        vec_push(&vswitch->past, *result);
        return;
    }
    vswitch->past.items[vswitch->forgotten++ % PAST] = *result;
}

static void bury(struct vswitch *vswitch, uint64_t now)
{
    size_t kept = 0;
    for (size_t i = 0; i < vswitch->operations.count; i++) {
        struct operation *operation = vswitch->operations.items[i];
        if (operation->step != STEP_OVER) {
            vswitch->operations.items[kept++] = operation;
            continue;
        }
        struct vswitch_result *result = &operation->result;
        result->ended_ns = now;
        result->request.name = result->request.hypervisor = NULL;
        vswitch->counts.failed += result->state == VSWITCH_FAILED;
        if (sm_find_machine(vswitch->sm, result->request.guid) != SUBNET_NONE)
            names_keep(vswitch, result->request.guid, operation->name);
        else
            names_drop(vswitch, result->request.guid);
        keep_result(vswitch, result);
        operation_free(operation);
    }
    vswitch->operations.count = kept;
}

/* ---- telling hypervisors ---- */

static void tell(struct vswitch *vswitch, struct operation *operation, uint32_t socket,
                 uint16_t lid, bool attached)
{
    struct sm_function wanted = {
        .lid = lid,
        .lmc = lid ? sm_lmc(vswitch->sm) : 0,
        .attached = attached,
        .guid = attached ? operation->result.request.guid : 0,
    };
    operation->result.function_smps++;
    vswitch->counts.function_smps++;
    sm_set_function(vswitch->sm, socket, &wanted);
}

static void tell_target(struct vswitch *vswitch, struct operation *operation)
{
    operation->step = STEP_TARGET;
    if (operation->source != SUBNET_NONE)
        sm_hold_function(vswitch->sm, operation->source);
    tell(vswitch, operation, operation->target, operation->lid, true);
}

/* Everything is as it was before. */
static void leave(struct vswitch *vswitch, struct operation *operation)
{
    if (operation->target != SUBNET_NONE)
        sm_release_function(vswitch->sm, operation->target);
    if (operation->source != SUBNET_NONE)
        sm_release_function(vswitch->sm, operation->source);
}

static void give_keys(struct vswitch *vswitch, struct operation *operation)
{
    operation->step = STEP_KEYS;
    sm_prepare_keys(vswitch->sm, operation->target, operation->result.request.guid);
}

/* Where there are partitions: the new place has the machine's keys before it has the machine, and
 * nobody else's. One without a LID cannot be told any: it gets one for the while, of its own if the
 * machine's is still in use. */
static void prepare_target(struct vswitch *vswitch, struct operation *operation)
{
    if (operation->source != SUBNET_NONE)
        sm_hold_function(vswitch->sm, operation->source);
    if (!is_dynamic(vswitch)) {
        sm_hold_function(vswitch->sm, operation->target);
        give_keys(vswitch, operation);
        return;
    }
    bool moves = operation->source != SUBNET_NONE;
    uint16_t lid = moves ? sm_next_free_lid(vswitch->sm) : operation->lid;
    operation->step = STEP_OPENING;
    if (lid) {
        tell(vswitch, operation, operation->target, lid, false);
        return;
    }
    leave(vswitch, operation);
    operation_end(operation, VSWITCH_FAILED, "there is no free LID");
}

/* What the old place has from now on: the LID that was at the new one, or none. */
static uint16_t lid_left(const struct vswitch *vswitch, const struct operation *operation)
{
    if (is_dynamic(vswitch))
        return 0;
    return operation->result.request.verb == VSWITCH_DESTROY ? operation->lid : operation->other;
}

static void tell_source(struct vswitch *vswitch, struct operation *operation)
{
    operation->step = STEP_SOURCE;
    tell(vswitch, operation, operation->source, lid_left(vswitch, operation), false);
}

/* ---- beginning ---- */

static bool is_first_of_its_machine(const struct vswitch *vswitch,
                                    const struct operation *operation)
{
    for (size_t i = 0; vswitch->operations.items[i] != operation; i++)
        if (vswitch->operations.items[i]->step != STEP_OVER &&
            vswitch->operations.items[i]->result.request.guid == operation->result.request.guid)
            return false;
    return true;
}

/* A function for the machine; false, and it is over, if there is none. */
static bool find_target(struct vswitch *vswitch, struct operation *operation)
{
    const char *name = operation->hypervisor;
    if (!*name) {
        operation->target = placement_auto(vswitch, operation->source);
        if (operation->target == SUBNET_NONE)
            operation_end(operation, VSWITCH_FAILED, "no hypervisor has a free function");
        return operation->target != SUBNET_NONE;
    }
    uint32_t node = placement_find(vswitch, name);
    if (node == SUBNET_NONE) {
        operation_end(operation, VSWITCH_FAILED, "there is no hypervisor '%s'", name);
        return false;
    }
    operation->target = placement_function(vswitch, node);
    if (operation->target == SUBNET_NONE)
        operation_end(operation, VSWITCH_FAILED, "'%s' has no free function", name);
    return operation->target != SUBNET_NONE;
}

static void begin_at_target(struct vswitch *vswitch, struct operation *operation)
{
    if (!find_target(vswitch, operation))
        return;
    if (sm_function_is_busy(vswitch->sm, operation->target)) { /* it goes on waiting */
        operation->target = SUBNET_NONE;
        operation->result.began_ns = 0;
        return;
    }
    operation->other = lid_at(vswitch, operation->target);
    operation->lid = operation->source != SUBNET_NONE ? lid_at(vswitch, operation->source)
                     : is_dynamic(vswitch)            ? sm_next_free_lid(vswitch->sm)
                                                      : operation->other;
    operation->result.lid = operation->lid;
    operation->result.to = node_of(vswitch, operation->target);
    if (!operation->lid) {
        operation->target = SUBNET_NONE;
        operation_end(operation, VSWITCH_FAILED, "there is no free LID");
        return;
    }
    if (sm_uses_partitions(vswitch->sm))
        prepare_target(vswitch, operation);
    else
        tell_target(vswitch, operation);
}

static bool is_asked_for_here(const struct vswitch *vswitch, const struct operation *operation,
                              uint32_t socket)
{
    return placement_find(vswitch, operation->hypervisor) == node_of(vswitch, socket);
}

static void begin_create(struct vswitch *vswitch, struct operation *operation, uint32_t socket)
{
    const char *owner =
        socket == SUBNET_NONE ? names_owner(vswitch, operation->result.request.guid) : NULL;
    if (owner) {
        operation_end(operation, VSWITCH_FAILED,
                      "0x%016llx is the GUID of '%s', which is no machine",
                      (unsigned long long)operation->result.request.guid, owner);
        return;
    }
    if (socket == SUBNET_NONE || !is_present(vswitch, socket)) {
        operation->source = socket; /* if any: it takes its LID along */
        begin_at_target(vswitch, operation);
        return;
    }
    operation->result.lid = lid_at(vswitch, socket);
    operation->result.to = node_of(vswitch, socket);
    if (*operation->hypervisor && !is_asked_for_here(vswitch, operation, socket))
        operation_end(operation, VSWITCH_FAILED, "it is at %s already: migrate it",
                      vswitch_hypervisor_name(vswitch, node_of(vswitch, socket)));
    else
        operation_end(operation, VSWITCH_DONE, "at %s already, LID %u",
                      vswitch_hypervisor_name(vswitch, node_of(vswitch, socket)),
                      operation->result.lid);
}

static void begin_destroy(struct vswitch *vswitch, struct operation *operation, uint32_t socket)
{
    if (socket == SUBNET_NONE) {
        operation_end(operation, VSWITCH_DONE, "there is none");
        return;
    }
    operation->result.from = node_of(vswitch, socket);
    operation->lid = operation->result.lid = lid_at(vswitch, socket);
    if (!is_present(vswitch, socket)) {
        sm_forget_machine(vswitch->sm, operation->result.request.guid);
        operation_succeed(vswitch, operation);
        return;
    }
    operation->source = socket;
    tell_source(vswitch, operation);
}

static void begin_migrate(struct vswitch *vswitch, struct operation *operation, uint32_t socket)
{
    if (socket == SUBNET_NONE) {
        operation_end(operation, VSWITCH_FAILED, "there is no such machine");
        return;
    }
    operation->result.from = node_of(vswitch, socket);
    operation->result.lid = lid_at(vswitch, socket);
    if (is_present(vswitch, socket) && *operation->hypervisor &&
        is_asked_for_here(vswitch, operation, socket)) {
        operation->result.to = node_of(vswitch, socket);
        operation_end(operation, VSWITCH_DONE, "at %s already, LID %u",
                      vswitch_hypervisor_name(vswitch, node_of(vswitch, socket)),
                      operation->result.lid);
        return;
    }
    operation->source = socket;
    begin_at_target(vswitch, operation);
}

static bool begin(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    uint32_t socket = sm_find_machine(vswitch->sm, operation->result.request.guid);
    if (!sm_is_quiet(vswitch->sm) || !is_first_of_its_machine(vswitch, operation))
        return false;
    if (socket != SUBNET_NONE &&
        (placement_is_taken(vswitch, socket) || sm_function_is_busy(vswitch->sm, socket)))
        return false;
    operation->result.began_ns = now;
    switch (operation->result.request.verb) {
    case VSWITCH_CREATE: begin_create(vswitch, operation, socket); break;
    case VSWITCH_DESTROY: begin_destroy(vswitch, operation, socket); break;
    case VSWITCH_MIGRATE: begin_migrate(vswitch, operation, socket); break;
    }
    return operation->step != STEP_WAITING;
}

/* ---- addresses ---- */

/* Both places have answered, or will not any more. */
static void place(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    struct sm_placement placements[2];
    size_t count = 0;
    bool quiet = sm_is_quiet(vswitch->sm);
    if (operation->target != SUBNET_NONE)
        placements[count++] = (struct sm_placement){operation->target, operation->lid};
    if (operation->source != SUBNET_NONE)
        placements[count++] =
            (struct sm_placement){operation->source, lid_left(vswitch, operation)};
    operation->edition = sm_paths(vswitch->sm).job;
    sm_place_functions(vswitch->sm, now, placements, count);
    bool ends = operation->target == SUBNET_NONE;
    bool moved = !ends && operation->lid != operation->other;
    if (ends || (!moved && quiet)) /* else paths do not show it yet, whatever the tables have */
        operation_succeed(vswitch, operation);
    else
        operation->step = quiet ? STEP_PLANNING : STEP_REROUTING;
}

static void take_back(struct vswitch *vswitch, struct operation *operation, const char *why)
{
    operation->step = STEP_BACK;
    operation->why = why;
    tell(vswitch, operation, operation->target, operation->other, false);
}

static void lose_target(struct vswitch *vswitch, struct operation *operation)
{
    leave(vswitch, operation);
    operation_end(operation, VSWITCH_FAILED, "the hypervisor does not answer: nothing has changed");
}

static bool hear_keys(struct vswitch *vswitch, struct operation *operation)
{
    switch (sm_keys_outcome(vswitch->sm, operation->target)) {
    case SM_FUNCTION_PENDING: return false;
    case SM_FUNCTION_DONE: tell_target(vswitch, operation); break;
    case SM_FUNCTION_REFUSED:
        take_back(vswitch, operation, "the function does not take its partitions");
        break;
    case SM_FUNCTION_LOST: lose_target(vswitch, operation); break;
    }
    return true;
}

/* The new place was opened for its keys, or has the machine. */
static bool hear_target(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    const char *name = vswitch_hypervisor_name(vswitch, node_of(vswitch, operation->target));
    switch (sm_function_outcome(vswitch->sm, operation->target)) {
    case SM_FUNCTION_PENDING: return false;
    case SM_FUNCTION_DONE:
        if (operation->step == STEP_OPENING)
            give_keys(vswitch, operation);
        else if (operation->source != SUBNET_NONE && is_present(vswitch, operation->source))
            tell_source(vswitch, operation);
        else
            place(vswitch, operation, now);
        break;
    case SM_FUNCTION_REFUSED:
        leave(vswitch, operation);
        operation_end(operation, VSWITCH_FAILED, "%s refuses it", name);
        break;
    case SM_FUNCTION_LOST: lose_target(vswitch, operation); break;
    }
    return true;
}

static bool hear_source(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    switch (sm_function_outcome(vswitch->sm, operation->source)) {
    case SM_FUNCTION_PENDING: return false;
    case SM_FUNCTION_LOST: /* it is gone, and the machine is at the new place, or nowhere */
        if (operation->result.request.verb == VSWITCH_DESTROY)
            sm_forget_machine(vswitch->sm, operation->result.request.guid);
        place(vswitch, operation, now);
        break;
    case SM_FUNCTION_DONE: place(vswitch, operation, now); break;
    case SM_FUNCTION_REFUSED:
        if (operation->target == SUBNET_NONE) {
            leave(vswitch, operation);
            operation_end(operation, VSWITCH_FAILED, "the hypervisor refuses to let it go");
            break;
        }
        take_back(vswitch, operation, "the hypervisor refuses to let it go");
        break;
    }
    return true;
}

static bool hear_back(struct vswitch *vswitch, struct operation *operation)
{
    if (sm_function_outcome(vswitch->sm, operation->target) == SM_FUNCTION_PENDING)
        return false;
    leave(vswitch, operation);
    operation_end(operation, VSWITCH_FAILED, "%s", operation->why);
    return true;
}

/* ---- turns ---- */

static bool take_step(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    switch (operation->step) {
    case STEP_WAITING: return begin(vswitch, operation, now);
    case STEP_KEYS: return hear_keys(vswitch, operation);
    case STEP_OPENING:
    case STEP_TARGET: return hear_target(vswitch, operation, now);
    case STEP_SOURCE: return hear_source(vswitch, operation, now);
    case STEP_BACK: return hear_back(vswitch, operation);
    case STEP_REROUTING: /* or it came to nothing, and entries have to be changed after all */
    case STEP_PLANNING: return waves_plan(vswitch, operation, now);
    default: return false;
    }
}

static void resign(struct vswitch *vswitch)
{
    for (size_t i = 0; i < vswitch->operations.count; i++) {
        struct operation *operation = vswitch->operations.items[i];
        if (operation->step >= STEP_OPENING && operation->step <= STEP_BACK)
            leave(vswitch, operation);
        operation_end(
            operation, VSWITCH_FAILED,
            "this manager is not master any more: ask its successor where the machine is");
    }
}

static void end_drains(struct vswitch *vswitch, uint64_t now)
{
    for (size_t i = 0; i < vswitch->operations.count; i++)
        if (vswitch->operations.items[i]->resume_at <= now)
            vswitch->operations.items[i]->resume_at = 0;
}

void vswitch_advance(struct vswitch *vswitch, uint64_t now)
{
    bool progress = vswitch->operations.count > 0;
    end_drains(vswitch, now);
    if (sm_state(vswitch->sm) != SM_MASTER)
        resign(vswitch);
    while (progress) {
        progress = false;
        for (size_t i = 0; i < vswitch->operations.count; i++)
            progress |= take_step(vswitch, vswitch->operations.items[i], now);
        progress |= waves_write(vswitch, now);
        bury(vswitch, now);
    }
    bury(vswitch, now);
}

uint64_t vswitch_deadline(const struct vswitch *vswitch)
{
    uint64_t deadline = TIME_NEVER;
    for (size_t i = 0; i < vswitch->operations.count; i++) {
        uint64_t resume_at = vswitch->operations.items[i]->resume_at;
        if (resume_at && resume_at < deadline)
            deadline = resume_at;
    }
    return deadline;
}

/* ---- asking ---- */

static bool is_printable(const char *text)
{
    for (; *text; text++)
        if ((uint8_t)*text < ' ' || *text == 0x7f)
            return false;
    return true;
}

int vswitch_check(const struct vswitch_request *request, struct err *err)
{
    const char *name = request->name ? request->name : "";
    if (!request->guid)
        return err_set(err, EINVAL, "a machine needs a name, or a GUID of 64 bits that is not 0");
    if (request->verb != VSWITCH_CREATE)
        return 0; /* what there is may be called anything */
    if (strlen(name) > VSWITCH_NAME_MOST)
        return err_set(err, EINVAL, "a machine's name has at most %d bytes", VSWITCH_NAME_MOST);
    return is_printable(name) ? 0
                              : err_set(err, EINVAL, "a machine's name has no control characters");
}

uint64_t vswitch_ask(struct vswitch *vswitch, uint64_t now, const struct vswitch_request *request,
                     struct err *err)
{
    if (sm_state(vswitch->sm) != SM_MASTER) {
        err_set(err, EPERM, "only a master can do that, and this manager is none");
        return 0;
    }
    if (vswitch_check(request, err) < 0)
        return 0;
    if (vswitch->operations.count >= WAITING_MOST) {
        err_set(err, EBUSY, "%d requests are waiting already", WAITING_MOST);
        return 0;
    }
    struct operation *operation = mem_zalloc(1, sizeof *operation);
    operation->result = (struct vswitch_result){.ticket = ++vswitch->tickets,
                                                .request = *request,
                                                .asked_ns = now,
                                                .from = SUBNET_NONE,
                                                .to = SUBNET_NONE};
    operation->source = operation->target = SUBNET_NONE;
    snprintf(operation->name, sizeof operation->name, "%s", request->name ? request->name : "");
    snprintf(operation->hypervisor, sizeof operation->hypervisor, "%s",
             request->hypervisor ? request->hypervisor : "");
    vec_push(&vswitch->operations, operation);
    vswitch_advance(vswitch, now);
    return vswitch->tickets;
}

const struct vswitch_result *vswitch_result(const struct vswitch *vswitch, uint64_t ticket)
{
    for (size_t i = 0; i < vswitch->operations.count; i++)
        if (vswitch->operations.items[i]->result.ticket == ticket)
            return &vswitch->operations.items[i]->result;
    for (size_t i = 0; i < vswitch->past.count; i++)
        if (vswitch->past.items[i].ticket == ticket)
            return &vswitch->past.items[i];
    return NULL;
}

unsigned vswitch_pending(const struct vswitch *vswitch)
{
    return (unsigned)vswitch->operations.count;
}
