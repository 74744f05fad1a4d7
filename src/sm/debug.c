/* Debug lines about requests: method, attribute, target, path, transaction ID and what happened. */
#include "sm/debug.h"

#include "base/text.h"
#include "subnet/names.h"

const char *smp_attribute_name(unsigned id)
{
    for (unsigned i = 0; i < WIRE_ATTRIBUTE_COUNT; i++)
        if ((wire_attributes[i].class == WIRE_CLASS_SMP ||
             wire_attributes[i].class == WIRE_CLASS_COMMON) &&
            wire_attributes[i].id == id)
            return wire_attributes[i].name;
    return "unknown attribute";
}

/* "by LID 7 and 0,3", "by 0,1,4" */
static void put_path(const struct sm_message *message, struct text *out)
{
    const uint8_t *path = wire_bytes_const(message->mad, SMP_INITIAL_PATH);
    unsigned hops = (unsigned)wire_get(message->mad, SMP_HOP_COUNT);
    text_puts(out, " by ");
    if (message->lid != LID_PERMISSIVE)
        text_printf(out, "LID %u and ", message->lid);
    for (unsigned i = 0; i <= hops && i <= SMP_MAX_HOPS; i++)
        text_printf(out, "%s%u", i ? "," : "", path[i]);
}

void debug_print_request(struct sm *sm, const struct request *request,
                         const struct sm_message *message, const char *format, ...)
{
    struct text text = {0};
    text_printf(&text, "%s(%s) modifier 0x%x to ", request->kind->writes ? "Set" : "Get",
                smp_attribute_name(request->kind->attribute), request->modifier);
    text_puts(&text, request->target == SUBNET_NONE
                         ? "the own port"
                         : subnet_port_name(&sm->subnet, request->target).text);
    if (request->through != SUBNET_NONE)
        text_printf(&text, " and behind %s", subnet_port_name(&sm->subnet, request->through).text);
    if (message)
        put_path(message, &text);
    text_printf(&text, ", TID 0x%x: ", request->id);
    text_put_arguments(&text, format);
    sm_explain(sm, PART_TRANSACTIONS, "%s", text.data);
    text_release(&text);
}
