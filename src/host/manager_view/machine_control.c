#include "host/manager_view/machine_control.h"

#include "host/socket/protocol.h"

#include "base/record.h"

#include "base/time.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const verbs[] = {
    [VSWITCH_CREATE] = "create", [VSWITCH_DESTROY] = "destroy", [VSWITCH_MIGRATE] = "migrate"};
static const char *const states[] = {
    [VSWITCH_PENDING] = "pending", [VSWITCH_DONE] = "done", [VSWITCH_FAILED] = "failed"};

/* The error code in JSON answers. */
static const char *error_code_name(int code)
{
    switch (code) {
    case EINVAL: return "EINVAL";
    case ENOENT: return "ENOENT";
    case EPERM: return "EPERM";
    default: return "EIO";
    }
}

/* The output of a command. */
struct reply {
    struct text *out;
    bool json;
};

static int refuse_machine_command(const struct reply *reply, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static int refuse_machine_command(const struct reply *reply, int code, const char *format, ...)
{
    struct record record = record_to(reply->out, reply->json, false);
    struct text reason = {0};
    va_list arguments;
    va_start(arguments, format);
    text_vprintf(&reason, format, arguments);
    va_end(arguments);
    record_begin(&record, NULL);
    record_string(&record, "error", "%s", reason.data);
    record_string(&record, "code", NULL, error_code_name(code));
    record_end(&record);
    text_release(&reason);
    return -code;
}

/* ---- machines ---- */

static void put_machine(struct record *record, const struct vswitch *machines, const struct sm *sm,
                        const struct vswitch_vm *machine)
{
    const struct subnet *subnet = sm_subnet(sm);
    uint32_t uplink = subnet->nodes.items[machine->vswitch].first_port + VSWITCH_UPLINK;
    uint32_t peer = subnet->ports.items[uplink].peer;
    const char *leaf =
        peer == SUBNET_NONE ? "" : subnet->nodes.items[subnet->ports.items[peer].node].description;
    const char *state = machine->moving ? "moving" : machine->reachable ? "running" : "unreachable";
    record_begin(record, NULL);
    record_string(record, "name", NULL, machine->name);
    record_guid(record, "guid", "0x%016llx", machine->guid);
    record_number(record, "lid", "  LID %5llu", machine->lid);
    record_string(record, "state", "  %-11s", state);
    record_string(record, "hypervisor", " %s", vswitch_hypervisor_name(machines, machine->vswitch));
    record_number(record, "function", " function %llu", machine->function);
    record_string(record, "leaf", " at %s", *leaf || record->as_json ? leaf : "-");
    record_text(record, "  %s\n", machine->name);
    record_end(record);
}

/* ---- requests ---- */

static void print_json(const struct vswitch *machines, const struct vswitch_result *result,
                       struct text *out)
{
    struct json json = {.out = out};
    json_begin_object(&json, NULL);
    json_unsigned(&json, "ticket", result->ticket);
    json_string(&json, "request", verbs[result->request.verb]);
    json_stringf(&json, "guid", "0x%016llx", (unsigned long long)result->request.guid);
    json_string(&json, "state", states[result->state]);
    json_string(&json, "text", result->text);
    if (result->state == VSWITCH_FAILED) {
        json_string(&json, "error", result->text);
        json_string(&json, "code", error_code_name(EIO));
    }
    json_unsigned(&json, "lid", result->lid);
    if (result->from != SUBNET_NONE)
        json_string(&json, "from", vswitch_hypervisor_name(machines, result->from));
    if (result->to != SUBNET_NONE)
        json_string(&json, "to", vswitch_hypervisor_name(machines, result->to));
    json_unsigned(&json, "hypervisor_smps", result->function_smps);
    if (result->rerouted) { /* its entries are mixed with those of new routes */
        json_null(&json, "table_smps");
        json_null(&json, "switches");
    } else {
        json_unsigned(&json, "table_smps", result->table_smps);
        json_unsigned(&json, "switches", result->switches);
    }
    json_unsigned(&json, "waves", result->waves);
    json_unsigned(&json, "drains", result->drains);
    json_bool(&json, "rerouted", result->rerouted);
    if (result->state != VSWITCH_PENDING)
        json_unsigned(&json, "microseconds", (result->ended_ns - result->submitted_ns) / NS_PER_US);
    json_end_object(&json);
}

void machine_control_put_cause(const struct vswitch *machines, const struct vswitch_result *result,
                               struct text *out)
{
    struct vswitch_vm machine;
    bool named = vswitch_find_vm(machines, result->request.guid, &machine) && *machine.name;
    text_printf(out, "vm %s ", verbs[result->request.verb]);
    if (named)
        text_puts(out, machine.name);
    else
        text_printf(out, "0x%016llx", (unsigned long long)result->request.guid);
    text_printf(out, ": %s", result->text);
}

static int print_result(const struct vswitch *machines, const struct vswitch_result *result,
                        const struct reply *reply)
{
    if (reply->json)
        print_json(machines, result, reply->out);
    else if (result->state == VSWITCH_PENDING)
        text_printf(reply->out, "ticket %llu\n", (unsigned long long)result->ticket);
    else if (result->state == VSWITCH_DONE)
        text_printf(reply->out, "%s\n", result->text);
    else
        text_puts(reply->out, result->text);
    return result->state == VSWITCH_FAILED    ? -EIO
           : result->state == VSWITCH_PENDING ? CTL_PENDING
                                              : 0;
}

/* Reads pairs of words: "on H", "to H", "mode M". Returns false after any other word. */
static bool read_options(struct vswitch_request *submit_request, const char *const *words,
                         unsigned count, const struct reply *reply)
{
    const char *place = submit_request->verb == VSWITCH_CREATE ? "on" : "to";
    for (unsigned i = 0; i + 1 < count; i += 2) {
        if (strcmp(words[i], place) == 0 && submit_request->verb != VSWITCH_DESTROY) {
            submit_request->hypervisor = strcmp(words[i + 1], "auto") ? words[i + 1] : NULL;
        } else if (strcmp(words[i], "mode") == 0 && strcmp(words[i + 1], "minimal") == 0) {
            submit_request->mode = VSWITCH_MINIMAL;
        } else if (strcmp(words[i], "mode") != 0 || strcmp(words[i + 1], "balanced") != 0) {
            refuse_machine_command(reply, EINVAL,
                                   "'%s %s': expected %s HYPERVISOR, or mode balanced or minimal",
                                   words[i], words[i + 1], place);
            return false;
        }
    }
    if (count % 2)
        refuse_machine_command(reply, EINVAL, "'%s' needs a value", words[count - 1]);
    return count % 2 == 0;
}

static int submit_request(struct vswitch *machines, uint64_t now, enum vswitch_verb verb,
                          const char *const *words, unsigned count, const struct reply *reply)
{
    struct err err = {0};
    struct vswitch_request wanted = {
        .verb = verb, .guid = vswitch_guid(words[0]), .name = words[0]};
    if (!read_options(&wanted, words + 1, count - 1, reply))
        return -EINVAL;
    if (vswitch_check(&wanted, &err) < 0)
        return refuse_machine_command(reply, EINVAL, "%s", err.message);
    uint64_t ticket = vswitch_submit(machines, now, &wanted, &err);
    if (!ticket)
        return refuse_machine_command(reply, EPERM, "%s", err.message);
    return print_result(machines, vswitch_result(machines, ticket), reply);
}

int machine_control_answer(struct vswitch *machines, const struct sm *sm, uint64_t now,
                           const char *const *words, unsigned count, bool json, struct text *out)
{
    const char *verb = count ? words[0] : "";
    const struct reply reply = {out, json};
    struct record record = record_to(out, json, false);
    struct vswitch_vm machine;
    uint32_t cursor = 0;
    if (strcmp(verb, "list") == 0 && count == 1) {
        record_begin_list(&record, NULL);
        while (vswitch_next_vm(machines, &cursor, &machine))
            put_machine(&record, machines, sm, &machine);
        record_end_list(&record);
        return 0;
    }
    if (strcmp(verb, "show") == 0 && count == 2) {
        if (!vswitch_find_vm(machines, vswitch_guid(words[1]), &machine))
            return refuse_machine_command(&reply, ENOENT, "there is no machine '%s'", words[1]);
        put_machine(&record, machines, sm, &machine);
        return 0;
    }
    if (strcmp(verb, "ticket") == 0 && count == 2) {
        const struct vswitch_result *result =
            vswitch_result(machines, strtoull(words[1], NULL, 10));
        return result ? print_result(machines, result, &reply)
                      : refuse_machine_command(
                            &reply, ENOENT,
                            "there is no ticket %s (results are kept for a while only)", words[1]);
    }
    for (unsigned i = 0; i < sizeof verbs / sizeof *verbs && count >= 2; i++)
        if (strcmp(verb, verbs[i]) == 0)
            return submit_request(machines, now, (enum vswitch_verb)i, words + 1, count - 1,
                                  &reply);
    return refuse_machine_command(
        &reply, EINVAL, "vm create, destroy, migrate or show need a name; vm list does not");
}
