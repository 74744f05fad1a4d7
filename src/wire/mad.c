/* Management datagrams for people: what a MAD is, in one line and in full.
 *
 * Where the attribute lies depends on the class (13.4.3 and the classes' own chapters); which
 * attribute it is depends on class and AttributeID, since the subnet administrator gives its
 * records numbers that subnet management uses for other things. Nothing here reads past the given
 * length. */
#include "wire/mad.h"

bool mad_class_has_rmpp(unsigned class)
{
    return class == CLASS_SUBN_ADM || class == CLASS_DEVICE || class == CLASS_DEVICE_ADM ||
           class == CLASS_BIS ||
           (class >= CLASS_VENDOR_RMPP_FIRST && class <= CLASS_VENDOR_RMPP_LAST);
}

unsigned mad_data_offset(unsigned class)
{
    switch (class) {
    case CLASS_SUBN_LID:
    case CLASS_SUBN_DIRECTED: return SMP_DATA_OFFSET;
    case CLASS_SUBN_ADM: return SA_DATA_OFFSET;
    case CLASS_PERFORMANCE:
    case CLASS_BOARD:
    case CLASS_DEVICE:
    case CLASS_DEVICE_ADM:
    case CLASS_BIS: return GMP_DATA_OFFSET;
    default:
        if (class >= CLASS_VENDOR_RMPP_FIRST && class <= CLASS_VENDOR_RMPP_LAST)
            return WIRE_BYTES_VENDOR;
        return MAD_HEADER_BYTES;
    }
}

enum wire_attribute mad_attribute_find(unsigned class, unsigned id)
{
    switch (class) {
    case CLASS_SUBN_LID:
    case CLASS_SUBN_DIRECTED: return wire_attribute_find(WIRE_CLASS_SMP, id);
    case CLASS_SUBN_ADM: return wire_attribute_find(WIRE_CLASS_SA, id);
    case CLASS_PERFORMANCE: return wire_attribute_find(WIRE_CLASS_PERFORMANCE, id);
    default: return wire_attribute_find(WIRE_CLASS_COMMON, id);
    }
}

static const struct {
    uint8_t method;
    const char *name;
} method_names[] = {
    {METHOD_GET, "Get"},
    {METHOD_SET, "Set"},
    {METHOD_SEND, "Send"},
    {METHOD_TRAP, "Trap"},
    {METHOD_REPORT, "Report"},
    {METHOD_TRAP_REPRESS, "TrapRepress"},
    {METHOD_GET_RESP, "GetResp"},
    {METHOD_REPORT_RESP, "ReportResp"},
    {METHOD_GET_TABLE, "GetTable"},
    {METHOD_GET_TRACE_TABLE, "GetTraceTable"},
    {METHOD_GET_MULTI, "GetMulti"},
    {METHOD_DELETE, "Delete"},
    {METHOD_GET_TABLE_RESP, "GetTableResp"},
    {METHOD_GET_MULTI_RESP, "GetMultiResp"},
    {METHOD_DELETE_RESP, "DeleteResp"},
};

static void print_method(struct text *out, unsigned method)
{
    for (size_t i = 0; i < sizeof method_names / sizeof *method_names; i++)
        if (method_names[i].method == method) {
            text_puts(out, method_names[i].name);
            return;
        }
    text_printf(out, "Method0x%02x", method);
}

static void print_route(struct text *out, const uint8_t *mad)
{
    unsigned class = (unsigned)wire_get(mad, MAD_CLASS);
    switch (class) {
    case CLASS_SUBN_DIRECTED:
        text_printf(out, "directed%s hop %u/%u", wire_get(mad, SMP_DIRECTION) ? " back" : "",
                    (unsigned)wire_get(mad, SMP_HOP_POINTER),
                    (unsigned)wire_get(mad, SMP_HOP_COUNT));
        break;
    case CLASS_SUBN_LID: text_puts(out, "lid-routed"); break;
    case CLASS_SUBN_ADM: text_puts(out, "subnet administration"); break;
    case CLASS_PERFORMANCE: text_puts(out, "performance"); break;
    default: text_printf(out, "class 0x%02x", class);
    }
}

/* A MAD whose RMPP header counts: the class has one and its Active flag is set. */
static bool is_rmpp_active(const uint8_t *mad)
{
    return mad_class_has_rmpp((unsigned)wire_get(mad, MAD_CLASS)) &&
           (wire_get(mad, RMPP_FLAGS) & RMPP_FLAG_ACTIVE);
}

static uint64_t status_of(const uint8_t *mad)
{
    return wire_get(mad, mad_is_directed(mad) ? SMP_STATUS : MAD_STATUS);
}

void mad_summary(struct text *out, const uint8_t *mad)
{
    unsigned id = (unsigned)wire_get(mad, MAD_ATTRIBUTE_ID);
    enum wire_attribute attribute = mad_attribute_find((unsigned)wire_get(mad, MAD_CLASS), id);
    print_method(out, (unsigned)wire_get(mad, MAD_METHOD));
    if (attribute != WIRE_ATTRIBUTE_COUNT)
        text_printf(out, "(%s) ", wire_attributes[attribute].name);
    else
        text_printf(out, "(0x%04x) ", id);
    print_route(out, mad);
    if (wire_get(mad, MAD_ATTRIBUTE_MODIFIER))
        text_printf(out, " modifier 0x%llx",
                    (unsigned long long)wire_get(mad, MAD_ATTRIBUTE_MODIFIER));
    if (status_of(mad))
        text_printf(out, " status 0x%04llx", (unsigned long long)status_of(mad));
    if (is_rmpp_active(mad)) {
        text_puts(out, " rmpp ");
        wire_print_value(out, RMPP_TYPE, mad, 0);
        text_printf(out, " %llu", (unsigned long long)wire_get(mad, RMPP_DATA1));
    }
    text_printf(out, " tid 0x%llx", (unsigned long long)wire_get(mad, MAD_TID));
}

static void dump_title(struct text *out, const char *title)
{
    text_printf(out, "# %s\n", title);
}

static void dump_path(struct text *out, enum wire_field field, const uint8_t *mad, size_t length)
{
    size_t start = wire_fields[field].offset / 8, hops = wire_get(mad, SMP_HOP_COUNT);
    text_printf(out, "%s:", wire_field_names[field]);
    for (size_t i = 1; i <= hops && i <= SMP_MAX_HOPS && start + i < length; i++)
        text_printf(out, "%s%u", i > 1 ? "," : " ", mad[start + i]);
    text_putc(out, '\n');
}

static void dump_smp_header(struct text *out, const uint8_t *mad, size_t length)
{
    dump_title(out, wire_attributes[WIRE_SMP].name);
    for (unsigned i = SMP_DIRECTION; i < SMP_DATA; i++) {
        bool everywhere = i == SMP_M_KEY;
        if (everywhere || mad_is_directed(mad))
            wire_dump_field(out, i, mad, length);
    }
    if (mad_is_directed(mad)) {
        dump_path(out, SMP_INITIAL_PATH, mad, length);
        dump_path(out, SMP_RETURN_PATH, mad, length);
    }
}

static void dump_own_fields(struct text *out, enum wire_attribute header, const uint8_t *mad,
                            size_t length)
{
    dump_title(out, wire_attributes[header].name);
    for (unsigned i = wire_attributes[header].first_field; i < wire_field_end(header); i++)
        wire_dump_field(out, i, mad, length);
}

static void dump_class_header(struct text *out, const uint8_t *mad, size_t length)
{
    unsigned class = (unsigned)wire_get(mad, MAD_CLASS);
    if (mad_is_smp(mad)) {
        dump_smp_header(out, mad, length);
        return;
    }
    if (mad_class_has_rmpp(class))
        dump_own_fields(out, WIRE_RMPP, mad, length);
    if (class == CLASS_SUBN_ADM)
        dump_own_fields(out, WIRE_SA, mad, length);
    else if (class >= CLASS_VENDOR_RMPP_FIRST && class <= CLASS_VENDOR_RMPP_LAST)
        dump_own_fields(out, WIRE_VENDOR, mad, length);
}

static void dump_raw(struct text *out, const uint8_t *data, size_t bytes)
{
    enum { ROW = 32 };
    for (size_t i = 0; i < bytes; i++) {
        if (i % ROW == 0)
            text_printf(out, "%s%04zx:", i ? "\n" : "", i);
        text_printf(out, "%s%02x", i % 4 ? "" : " ", data[i]);
    }
    text_putc(out, '\n');
}

/* A table's records follow each other every AttributeOffset * 8 bytes. */
static void dump_records(struct text *out, enum wire_attribute attribute, const uint8_t *mad,
                         size_t length)
{
    size_t stride = wire_get(mad, SA_ATTRIBUTE_OFFSET) * 8;
    if (!stride)
        return;
    for (size_t at = SA_DATA_OFFSET, i = 0; at < length; at += stride, i++) {
        size_t rest = length - at < stride ? length - at : stride;
        text_printf(out, "# %s %zu%s\n", wire_attributes[attribute].name, i,
                    rest < stride ? " (cut short)" : "");
        wire_dump_within(out, attribute, mad + at, rest);
    }
}

/* Where the MAD's data ends: for the last of several packets, where its RMPP header says. */
static size_t data_end(const uint8_t *mad, size_t length)
{
    if (mad_is_smp(mad) && length > SMP_DATA_OFFSET + SMP_DATA_BYTES)
        return SMP_DATA_OFFSET + SMP_DATA_BYTES;
    if (length > MAD_BYTES || length < WIRE_BYTES_RMPP || !is_rmpp_active(mad) ||
        !(wire_get(mad, RMPP_FLAGS) & RMPP_FLAG_LAST))
        return length;
    size_t end = WIRE_BYTES_RMPP + wire_get(mad, RMPP_DATA2);
    return end < length ? end : length;
}

/* Later segments start in the middle of a record; ACK, STOP and ABORT carry no data at all. */
static bool starts_with_attribute(const uint8_t *mad)
{
    return !is_rmpp_active(mad) || wire_get(mad, RMPP_FLAGS) & RMPP_FLAG_FIRST;
}

static void dump_data(struct text *out, const uint8_t *mad, size_t length)
{
    unsigned class = (unsigned)wire_get(mad, MAD_CLASS), start = mad_data_offset(class);
    enum wire_attribute attribute =
        mad_attribute_find(class, (unsigned)wire_get(mad, MAD_ATTRIBUTE_ID));
    size_t end = data_end(mad, length);
    if (end <= start)
        return;
    if (attribute == WIRE_ATTRIBUTE_COUNT || !starts_with_attribute(mad)) {
        dump_title(out, "Data");
        dump_raw(out, mad + start, end - start);
    } else if (class == CLASS_SUBN_ADM && wire_get(mad, MAD_METHOD) == METHOD_GET_TABLE_RESP) {
        dump_records(out, attribute, mad, end);
    } else {
        dump_title(out, wire_attributes[attribute].name);
        wire_dump_within(out, attribute, mad + start, end - start);
    }
}

void mad_dump(struct text *out, const uint8_t *mad, size_t length)
{
    dump_own_fields(out, WIRE_MAD, mad, length);
    if (length < MAD_HEADER_BYTES)
        return;
    dump_class_header(out, mad, length);
    if (length >= mad_data_offset((unsigned)wire_get(mad, MAD_CLASS)))
        dump_data(out, mad, length);
}
