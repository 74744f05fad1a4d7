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

static uint32_t node_of(const struct vswitch *vswitch, uint32_t socket)
{
    return subnet_of(vswitch)->ports.items[socket].node;
}

static uint16_t lid_at(const struct vswitch *vswitch, uint32_t socket)
{
    uint32_t port = functions_get(subnet_of(vswitch), socket)->port;
    return port == SUBNET_NONE ? 0 : subnet_of(vswitch)->ports.items[port].lid;
}

static bool is_present(const struct vswitch *vswitch, uint32_t socket)
{
    return subnet_is_present(subnet_of(vswitch), socket);
}

/* ---- ends ---- */

void operation_end(struct operation *operation, enum vswitch_state state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(operation->result.text, sizeof operation->result.text, format, arguments);
    va_end(arguments);
    operation->result.state = state;
    operation->state = OPERATION_OVER;
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
        if (operation->state != OPERATION_OVER) {
            vswitch->operations.items[kept++] = operation;
            continue;
        }
        struct vswitch_result *result = &operation->result;
        result->ended_ns = now;
        result->request.name = result->request.hypervisor = NULL;
        vswitch->counts.failed += result->state == VSWITCH_FAILED;
        if (functions_find_machine(subnet_of(vswitch), result->request.guid) != SUBNET_NONE)
            names_keep(vswitch, result->request.guid, operation->name);
        else
            names_drop(vswitch, result->request.guid);
        keep_result(vswitch, result);
        operation_free(operation);
    }
    vswitch->operations.count = kept;
}

/* ---- following a plan ---- */

/* Everything is as it was before. */
static void leave(struct vswitch *vswitch, struct operation *operation)
{
    if (operation->target != SUBNET_NONE)
        functions_give_up(sm_edit_subnet(vswitch->sm), operation->target);
    if (operation->source != SUBNET_NONE)
        functions_give_up(sm_edit_subnet(vswitch->sm), operation->source);
}

/* What the old place has from now on: the LID that was at the new one, or none. */
static uint16_t lid_left(const struct vswitch *vswitch, const struct operation *operation)
{
    if (subnet_of(vswitch)->functions.dynamic)
        return 0;
    return operation->target == SUBNET_NONE ? operation->lid : operation->other;
}

/* All functions have answered, or will not any more: the addresses are where they should be. */
static void place(struct vswitch *vswitch, struct operation *operation)
{
    struct subnet *subnet = sm_edit_subnet(vswitch->sm);
    const struct address_move all[] = {{operation->target, operation->lid},
                                       {operation->source, lid_left(vswitch, operation)}};
    struct address_move moves[ADDRESS_MOVES_MOST];
    uint32_t ports[ADDRESS_MOVES_MOST];
    size_t count = 0, port_count = 0;
    bool ends = operation->target == SUBNET_NONE;
    if (ends) /* also if nobody said so */
        addresses_forget_machine(subnet, operation->result.request.guid);
    for (size_t i = 0; i < ADDRESS_MOVES_MOST; i++) {
        if (all[i].socket == SUBNET_NONE)
            continue;
        moves[count++] = all[i];
        ports[port_count] = functions_get(subnet, all[i].socket)->port;
        port_count += ports[port_count] != SUBNET_NONE;
    }
    operation->edition = sm_paths(vswitch->sm).job;
    struct network *network = sm_edit_paths(vswitch->sm).network;
    addresses_move(subnet, network, moves, count);
    sm_addresses_moved(vswitch->sm, ports, port_count, network != NULL);
    bool moved = !ends && operation->lid != operation->other;
    if (ends || (!moved && network)) /* else paths do not show it yet, whatever the tables have */
        operation_succeed(vswitch, operation);
    else
        operation->state = network ? OPERATION_PLANNING : OPERATION_REROUTING;
}

static void begin_step(struct vswitch *vswitch, struct operation *operation)
{
    const struct steps *steps = &operation->steps;
    const struct step *step = steps->at < steps->count ? &steps->items[steps->at] : NULL;
    struct subnet *subnet = sm_edit_subnet(vswitch->sm);
    operation->state = OPERATION_TELLING;
    if (!step || (step->kind == STEP_DETACH && !is_present(vswitch, step->socket))) {
        place(vswitch, operation);
    } else if (step->kind == STEP_KEYS) {
        functions_want_keys(subnet, step->socket, step->wanted.guid);
    } else {
        functions_want(subnet, step->socket, &step->wanted);
        operation->result.function_smps++;
        vswitch->counts.function_smps++;
    }
}

static void fail(struct vswitch *vswitch, struct operation *operation, struct step_verdict verdict,
                 uint32_t socket)
{
    const char *why = verdict.why ? verdict.why : operation->why;
    leave(vswitch, operation);
    if (verdict.by_name)
        operation_end(operation, VSWITCH_FAILED, "%s %s",
                      vswitch_hypervisor_name(vswitch, node_of(vswitch, socket)), why);
    else
        operation_end(operation, VSWITCH_FAILED, "%s", why);
}

static bool follow_step(struct vswitch *vswitch, struct operation *operation)
{
    const struct step *step = &operation->steps.items[operation->steps.at];
    enum function_outcome outcome = functions_outcome(subnet_of(vswitch), step->socket);
    if (outcome == FUNCTION_PENDING)
        return false;
    struct step_verdict verdict = steps_judge(step->kind, outcome);
    bool undo = verdict.what == STEPS_UNDO && operation->target != SUBNET_NONE;
    if (verdict.what == STEPS_GO_ON) {
        operation->steps.at++;
        begin_step(vswitch, operation);
    } else if (undo) {
        operation->why = verdict.why;
        steps_plan_undo(&operation->steps, subnet_of(vswitch), operation->target, operation->other);
        begin_step(vswitch, operation);
    } else {
        fail(vswitch, operation, verdict, step->socket);
    }
    return true;
}

/* ---- beginning ---- */

static void follow_plan(struct vswitch *vswitch, struct operation *operation, uint16_t open)
{
    const struct steps_request request = {
        .guid = operation->result.request.guid,
        .source = operation->source,
        .target = operation->target,
        .lid = operation->lid,
        .left = lid_left(vswitch, operation),
        .keys = sm_uses_partitions(vswitch->sm),
        .open = open,
    };
    steps_plan(&operation->steps, subnet_of(vswitch), &request);
    begin_step(vswitch, operation);
}

/* Settings are on their way to the function: they would overtake an address, or be overtaken. */
static bool is_busy(const struct vswitch *vswitch, uint32_t socket)
{
    uint32_t port = functions_get(subnet_of(vswitch), socket)->port;
    return functions_is_busy(subnet_of(vswitch), socket) ||
           (port != SUBNET_NONE && sm_is_writing_port(vswitch->sm, port));
}

static bool is_first_of_its_machine(const struct vswitch *vswitch,
                                    const struct operation *operation)
{
    for (size_t i = 0; vswitch->operations.items[i] != operation; i++)
        if (vswitch->operations.items[i]->state != OPERATION_OVER &&
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

static uint16_t next_free_lid(struct vswitch *vswitch)
{
    return addresses_next_free(subnet_of(vswitch), &vswitch->next_lid);
}

/* False if there are no LIDs for it. */
static bool choose_lids(struct vswitch *vswitch, struct operation *operation, uint16_t *open)
{
    bool moves = operation->source != SUBNET_NONE, dynamic = subnet_of(vswitch)->functions.dynamic;
    operation->other = lid_at(vswitch, operation->target);
    operation->lid = moves     ? lid_at(vswitch, operation->source)
                     : dynamic ? next_free_lid(vswitch)
                               : operation->other;
    /* A function without LID cannot be told any keys: it gets one for the while, of its own if the
     * machine's is still in use. */
    bool opens = dynamic && sm_uses_partitions(vswitch->sm);
    *open = !opens ? 0 : moves ? next_free_lid(vswitch) : operation->lid;
    return operation->lid && (*open || !opens);
}

static void begin_at_target(struct vswitch *vswitch, struct operation *operation)
{
    struct subnet *subnet = sm_edit_subnet(vswitch->sm);
    uint16_t open;
    if (!find_target(vswitch, operation))
        return;
    if (is_busy(vswitch, operation->target)) { /* it goes on waiting */
        operation->target = SUBNET_NONE;
        operation->result.began_ns = 0;
        return;
    }
    bool enough = choose_lids(vswitch, operation, &open);
    operation->result.lid = operation->lid;
    operation->result.to = node_of(vswitch, operation->target);
    if (!enough) {
        operation->target = SUBNET_NONE;
        operation_end(operation, VSWITCH_FAILED, "there is no free LID");
        return;
    }
    functions_hold(subnet, operation->target);
    if (operation->source != SUBNET_NONE)
        functions_hold(subnet, operation->source);
    follow_plan(vswitch, operation, open);
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
        addresses_forget_machine(sm_edit_subnet(vswitch->sm), operation->result.request.guid);
        operation_succeed(vswitch, operation);
        return;
    }
    operation->source = socket;
    follow_plan(vswitch, operation, 0);
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
    uint32_t socket = functions_find_machine(subnet_of(vswitch), operation->result.request.guid);
    if (!sm_is_quiet(vswitch->sm) || !is_first_of_its_machine(vswitch, operation))
        return false;
    if (socket != SUBNET_NONE && (placement_is_taken(vswitch, socket) || is_busy(vswitch, socket)))
        return false;
    operation->result.began_ns = now;
    switch (operation->result.request.verb) {
    case VSWITCH_CREATE: begin_create(vswitch, operation, socket); break;
    case VSWITCH_DESTROY: begin_destroy(vswitch, operation, socket); break;
    case VSWITCH_MIGRATE: begin_migrate(vswitch, operation, socket); break;
    }
    return operation->state != OPERATION_WAITING;
}

/* ---- turns ---- */

static bool take_turn(struct vswitch *vswitch, struct operation *operation, uint64_t now)
{
    switch (operation->state) {
    case OPERATION_WAITING: return begin(vswitch, operation, now);
    case OPERATION_TELLING: return follow_step(vswitch, operation);
    case OPERATION_REROUTING: /* or it came to nothing, and entries have to be changed after all */
    case OPERATION_PLANNING: return waves_plan(vswitch, operation, now);
    default: return false;
    }
}

static void resign(struct vswitch *vswitch)
{
    for (size_t i = 0; i < vswitch->operations.count; i++) {
        struct operation *operation = vswitch->operations.items[i];
        if (operation->state == OPERATION_TELLING)
            leave(vswitch, operation);
        operation_end(
            operation, VSWITCH_FAILED,
            "this manager is not master any more: ask its successor where the machine is");
    }
    sm_program_functions(vswitch->sm);
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
        for (size_t i = 0; i < vswitch->operations.count; i++) {
            progress |= take_turn(vswitch, vswitch->operations.items[i], now);
            sm_program_functions(vswitch->sm);
        }
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
