/* Reads fabrics: ibnetdiscover's output and ibsim's net files.
 *
 * ibsim reads the dumps of ibnetdiscover and adds a few lines, so one reader serves both. A file is
 * a series of records: settings of the next node ("vendid=", "switchguid="…), a header (Switch, Ca
 * or Hca, Rt), and a line for each connected port (see read_links.c). Lines of ibsim only are
 * "include", "module", "width", "speed", "extspeed", GUID bases ("hcaguids+0x100") and aliases.
 *
 * As in ibsim, vendid and sysimgguid apply to one node, devid to all following ones; GUIDs count on
 * from the last one given; the default description of a node is its name. Unlike in ibsim, unknown
 * lines of a net file are errors, and "do", which runs a command of its console, is refused.
 * 'ibnetdiscover -l' has no links, and is refused with a hint.
 *
 * In a dump, unknown lines are skipped with a warning: tools print warnings about time-outs between
 * its lines. This is safe because a dump lists both ends of every link: a line that is missing or
 * damaged is an error of another line. A file is a dump if all its nodes have ibnetdiscover's keys.
 *
 * The first line that only a list of ports can have (read.h) selects the reader of that list for
 * the rest of the file.
 *
 * One pass. Bytes, line length, nodes, ports and include depth are bounded. */
#include "topology/formats/read.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_BYTES = 512 << 20,
    MAX_LINE_BYTES = 4096,
    MAX_INCLUDE_DEPTH = 8,
    MAX_FILES = 1000,
};

int reader_fail_at(struct reader *reader, struct file_place place, const char *format, ...)
{
    assert(place.file < reader->files.count);
    char message[sizeof reader->lines->err->message];
    text_print_arguments(message, sizeof message, format);
    return err_at(reader->lines->err, EINVAL, reader->files.items[place.file], place.line, "%s",
                  message);
}

void scan_blanks(char **at)
{
    while (**at == ' ' || **at == '\t')
        ++*at;
}

bool scan_word(char **at, const char *word)
{
    char *c = *at;
    for (; *word; c++, word++)
        if (*c != *word)
            return false;
    *at = c;
    return true;
}

/* 16: not a hexadecimal digit. */
static unsigned digit_of(char c)
{
    unsigned decimal = (unsigned)c - '0', letter = ((unsigned)c | 32) - 'a';
    return decimal < 10 ? decimal : letter < 6 ? letter + 10 : 16;
}

bool scan_digits(char **at, int base, uint64_t *value)
{
    char *c = *at;
    uint64_t number = 0;
    unsigned digit;
    if (base == 16 && c[0] == '0' && (c[1] | 32) == 'x' && digit_of(c[2]) < 16)
        c += 2;
    if (digit_of(*c) >= (unsigned)base)
        return false;
    for (; (digit = digit_of(*c)) < (unsigned)base; c++)
        if (__builtin_mul_overflow(number, (unsigned)base, &number) ||
            __builtin_add_overflow(number, digit, &number))
            return false;
    *at = c;
    *value = number;
    return true;
}

bool scan_number(char **at, uint64_t *value)
{
    bool is_hex = (*at)[0] == '0' && ((*at)[1] == 'x' || (*at)[1] == 'X');
    return scan_digits(at, is_hex ? 16 : 10, value);
}

bool scan_guid(char **at, uint64_t *guid)
{
    char *c = *at;
    scan_blanks(&c);
    if (strncmp(c, "0x", 2) != 0 || !scan_digits(&c, 16, guid))
        return false;
    *at = c;
    return true;
}

bool scan_quoted(char **at, char **text)
{
    if (**at != '"')
        return false;
    char *end = strchr(*at + 1, '"');
    if (!end)
        return false;
    *end = '\0';
    *text = *at + 1;
    *at = end + 1;
    return true;
}

bool scan_bracketed(char **at, uint64_t *value)
{
    char *c = *at;
    if (*c++ != '[' || !scan_number(&c, value) || *c != ']')
        return false;
    *at = c + 1;
    return true;
}

bool speeds_from_mask(uint64_t base, uint64_t extended, uint16_t *speeds)
{
    static const uint8_t base_bits[] = {SPEED_SDR, SPEED_DDR, SPEED_QDR};
    static const uint8_t extended_bits[] = {SPEED_FDR, SPEED_EDR, SPEED_HDR, SPEED_NDR, SPEED_XDR};
    if (base > 7 || extended > 31)
        return false;
    *speeds = 0;
    for (unsigned i = 0; i < sizeof base_bits; i++)
        if (base >> i & 1)
            *speeds |= 1u << base_bits[i];
    for (unsigned i = 0; i < sizeof extended_bits; i++)
        if (extended >> i & 1)
            *speeds |= 1u << extended_bits[i];
    return true;
}

bool widths_from_mask(uint64_t value, uint8_t *widths)
{
    if (value < 1 || value > 31)
        return false;
    *widths = (uint8_t)value;
    return true;
}

static bool only_comment_follows(char *at)
{
    scan_blanks(&at);
    return *at == '\0' || *at == '#';
}

/* The value of "key = number"; *at points behind the key. */
static int take_setting(struct reader *reader, char **at, const char *key, uint64_t limit,
                        uint64_t *value)
{
    scan_blanks(at);
    if (!scan_word(at, "="))
        return reader_fail(reader, "expected '=' after '%s'", key);
    scan_blanks(at);
    if (!scan_number(at, value) || *value > limit)
        return reader_fail(reader, "expected a number up to 0x%llx after '%s='",
                           (unsigned long long)limit, key);
    return 0;
}

static int take_plain_setting(struct reader *reader, char *at, const char *key, uint64_t limit,
                              uint64_t *value)
{
    int error = take_setting(reader, &at, key, limit, value);
    if (!error && !only_comment_follows(at))
        return reader_fail(reader, "unexpected text after '%s=': '%.40s'", key, at);
    return error;
}

/* "switchguid=0x2(2)", "caguid=0x1", and ibsim's "hcaguids+0x100", relative to the last "=". */
static int take_guid(struct reader *reader, char *at, const char *key)
{
    enum node_kind kind = key[0] == 's' ? NODE_SWITCH : key[0] == 'r' ? NODE_ROUTER : NODE_ADAPTER;
    uint64_t guid = 0, port_guid = 0;
    scan_blanks(&at);
    if (scan_word(&at, "+")) {
        scan_blanks(&at);
        if (!scan_number(&at, &guid))
            return reader_fail(reader, "expected a number after '%s+'", key);
        reader->guid_next[kind] = reader->guid_base[kind] + guid;
    } else {
        int error = take_setting(reader, &at, key, UINT64_MAX, &guid);
        if (error)
            return error;
        reader->guid_base[kind] = reader->guid_next[kind] = guid;
    }
    if (*at == '(') {
        at++;
        if (kind != NODE_SWITCH || !scan_digits(&at, 16, &port_guid) || *at++ != ')')
            return reader_fail(reader, "expected '(PORTGUID)' after '%s='", key);
        reader->switch_port_guid = port_guid;
    }
    if (!only_comment_follows(at))
        return reader_fail(reader, "unexpected text after '%s': '%.40s'", key, at);
    return 0;
}

/* module = "name" */
static int take_module(struct reader *reader, char *at, const char *key)
{
    char *name;
    scan_blanks(&at);
    if (!scan_word(&at, "="))
        return reader_fail(reader, "expected '=' after '%s'", key);
    scan_blanks(&at);
    if (!scan_quoted(&at, &name))
        return reader_fail(reader, "expected a name in quotes after '%s='", key);
    if (strlen(name) > TOPOLOGY_NAME_BYTES / 2)
        return reader_fail(reader, "a module's name has at most %d bytes", TOPOLOGY_NAME_BYTES / 2);
    reader->module = arena_strdup(&reader->names, name);
    return 0;
}

/* Takes the description in the comment of a header. A quoted one ends at the last quote of the
 * line, since descriptions may contain quotes and the text behind them does not. */
static void take_description(struct reader *reader, char **at)
{
    static const char *const ends[] = {" enhanced port ", " base port ", " lid ", " lmc "};
    char *start = *at, *end = NULL;
    scan_blanks(&start);
    if (*start == '"' && (end = strrchr(start + 1, '"'))) {
        start++;
        *at = end + 1;
    } else {
        for (size_t i = 0; !end && i < sizeof ends / sizeof ends[0]; i++)
            end = strstr(start, ends[i]);
        if (!end)
            end = start + strlen(start);
        *at = end;
    }
    if (end > start)
        topology_set_description(&reader->topology, reader->node, start, (size_t)(end - start));
}

int reader_take_lid(struct reader *reader, char *at, struct topology_port *port)
{
    uint64_t lid, lmc;
    if (!scan_word(&at, "lid ") || !scan_number(&at, &lid))
        return 0;
    if (lid > 0xbfff && lid != 0xffff)
        return reader_fail(reader, "LID %llu is not one of a port (1 to 49151)",
                           (unsigned long long)lid);
    port->lid = lid == 0xffff ? 0 : (uint16_t)lid;
    scan_blanks(&at);
    if (!scan_word(&at, "lmc ") || !scan_number(&at, &lmc))
        return 0;
    if (lmc > 7)
        return reader_fail(reader, "LMC %llu is above 7", (unsigned long long)lmc);
    port->lmc = (uint8_t)lmc;
    return 0;
}

static int add_node(struct reader *reader, enum node_kind kind, const char *name, uint64_t ports)
{
    struct err why;
    if (reader->module[0])
        name = arena_printf(&reader->names, "%s#%s", reader->module, name);
    uint64_t guid = reader->guid_next[kind];
    if (!guid)
        return reader_fail(reader, "a node's GUID cannot be 0");
    if (topology_add_bare_node(&reader->topology, kind, name, (unsigned)ports, guid, &reader->node,
                               &why))
        return reader_fail(reader, "%s", why.message);
    struct topology_node *node = &reader->topology.nodes.items[reader->node];
    reader->guid_next[kind] = guid + (kind == NODE_SWITCH ? 1 : ports + 1);
    node->vendor_id = reader->vendor_id;
    node->device_id = reader->device_id;
    node->system_guid = reader->system_guid ? reader->system_guid : guid;
    if (kind == NODE_SWITCH && reader->switch_port_guid &&
        topology_claim_guid(&reader->topology, node->first_port, reader->switch_port_guid, &why))
        return reader_fail(reader, "%s", why.message);
    while (reader->end_of_port.count < reader->topology.ports.count)
        vec_push(&reader->end_of_port, TOPOLOGY_NONE);
    reader->vendor_id = 0;
    reader->system_guid = reader->switch_port_guid = 0;
    return 0;
}

/* Switch 36 "S-0002c902…" # "description" enhanced port 0 lid 4 lmc 0 */
static int take_header(struct reader *reader, char *at, enum node_kind kind)
{
    uint64_t ports;
    char *name;
    scan_blanks(&at);
    if (*at == ':')
        return reader_fail(reader, "this is a list of nodes ('ibnetdiscover -l'), without links; "
                                   "expected the output of plain 'ibnetdiscover'");
    if (!scan_number(&at, &ports) || ports < 1 || ports > TOPOLOGY_PORTS_PER_NODE)
        return reader_fail(reader, "expected a number of ports from 1 to %d",
                           TOPOLOGY_PORTS_PER_NODE);
    scan_blanks(&at);
    if (!scan_quoted(&at, &name))
        return reader_fail(reader, "expected the node's name in quotes");
    int error = add_node(reader, kind, name, ports);
    if (error)
        return error;
    scan_blanks(&at);
    if (*at == '\0')
        return 0;
    if (*at++ != '#')
        return reader_fail(reader, "unexpected text after the node's name: '%.40s'", at - 1);
    take_description(reader, &at);
    if (kind != NODE_SWITCH)
        return 0;
    struct topology_node *node = &reader->topology.nodes.items[reader->node];
    node->enhanced_port0 = strstr(at, "enhanced port 0") != NULL;
    char *lid = strstr(at, "lid ");
    return lid ? reader_take_lid(reader, lid, &reader->topology.ports.items[node->first_port]) : 0;
}

static int read_lines(struct reader *reader, struct line_reader *lines);

/* include "file": in the folder of the including file, or in the working directory, as in ibsim */
static int take_include(struct reader *reader, char *at, const char *key)
{
    char *name, path[MAX_LINE_BYTES * 2];
    scan_blanks(&at);
    if (!scan_quoted(&at, &name))
        return reader_fail(reader, "expected a file name in quotes after '%s'", key);
    if (!reader->may_include)
        return reader_fail(reader, "'%s' works in files only", key);
    if (reader->depth >= MAX_INCLUDE_DEPTH)
        return reader_fail(reader, "includes are nested more than %d deep", MAX_INCLUDE_DEPTH);
    const char *here = reader->files.items[reader->file];
    const char *slash = strrchr(here, '/');
    snprintf(path, sizeof path, "%.*s%s", slash && name[0] != '/' ? (int)(slash - here + 1) : 0,
             here, name);
    if (access(path, F_OK) != 0)
        snprintf(path, sizeof path, "%s", name);
    struct stat status;
    if (stat(path, &status) != 0)
        return reader_fail(reader, "cannot include \"%s\": %s", name, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return reader_fail(reader, "cannot include \"%s\": not a regular file", name);
    struct line_reader *lines = reader->lines;
    uint32_t file = reader->file;
    reader->depth++;
    lines->status = read_lines(reader, from_file(path, lines->err));
    reader->depth--;
    reader->lines = lines;
    reader->file = file;
    return lines->status;
}

static int take_link_default(struct reader *reader, char *at, const char *key)
{
    uint64_t value = 0;
    int error = take_plain_setting(reader, at, key, 31, &value);
    if (error)
        return error;
    static const uint16_t base_speeds = 1 << SPEED_SDR | 1 << SPEED_DDR | 1 << SPEED_QDR;
    bool is_base = key[0] == 's', valid;
    uint16_t speeds = 0;
    if (key[0] == 'w')
        valid = widths_from_mask(value, &reader->widths);
    else
        valid = speeds_from_mask(is_base ? value : 0, is_base ? 0 : value, &speeds);
    if (key[0] != 'w')
        reader->speeds = (reader->speeds & (is_base ? ~base_speeds : base_speeds)) | speeds;
    return valid ? 0
                 : reader_fail(reader, "'%s=%llu' is out of range", key, (unsigned long long)value);
}

static int take_id(struct reader *reader, char *at, const char *key)
{
    uint64_t value = 0, most = key[0] == 'v' ? 0xffffff : key[0] == 'd' ? 0xffff : UINT64_MAX;
    int error = take_plain_setting(reader, at, key, most, &value);
    if (key[0] == 'v')
        reader->vendor_id = (uint32_t)value;
    else if (key[0] == 'd')
        reader->device_id = (uint16_t)value;
    else
        reader->system_guid = value;
    return error;
}

static const struct {
    const char *key;
    int (*take)(struct reader *reader, char *at, const char *key); /* behind the key */
} directives[] = {
    {"vendid", take_id},          {"devid", take_id},
    {"sysimgguid", take_id},      {"switchguid", take_guid},
    {"caguid", take_guid},        {"hcaguids", take_guid},
    {"rtguid", take_guid},        {"width", take_link_default},
    {"speed", take_link_default}, {"extspeed", take_link_default},
    {"module", take_module},      {"include", take_include},
};

static const struct {
    const char *word;
    enum node_kind kind;
} headers[] = {
    {"Switch", NODE_SWITCH}, {"Ca ", NODE_ADAPTER}, {"Ca\t", NODE_ADAPTER},
    {"Hca", NODE_ADAPTER},   {"Rt ", NODE_ROUTER},  {"Rt\t", NODE_ROUTER},
};

static int skip_noise(struct reader *reader, const char *line)
{
    struct noise noise = {.place = {reader->file, reader->lines->number},
                          .text = arena_printf(&reader->names, "%.40s", line)};
    vec_push(&reader->noise, noise);
    return 0;
}

/* Takes a line of a list of ports; LINE_IS_FOREIGN if the file is none. */
static int take_list_line(struct reader *reader, char *line)
{
    static int (*const takers[])(struct reader * reader, char *line) = {
        ports_take_line, linkinfo_take_line, subnet_list_take_line};
    if (reader->take_list_line) {
        int error = reader->take_list_line(reader, line);
        return error == LINE_IS_FOREIGN ? skip_noise(reader, line) : error;
    }
    int error = LINE_IS_FOREIGN;
    for (size_t i = 0; error == LINE_IS_FOREIGN && i < sizeof takers / sizeof takers[0]; i++) {
        error = reader->topology.nodes.count ? LINE_IS_FOREIGN : takers[i](reader, line);
        if (error != LINE_IS_FOREIGN)
            reader->take_list_line = takers[i];
    }
    return error;
}

static int take_line(struct reader *reader, char *at)
{
    static const char *const headings[] = {"Chassis ", "Non-Chassis Nodes", "Hostname:", "pdebug"};
    scan_blanks(&at);
    if (*at == '\0' || *at == '#')
        return 0;
    int error = take_list_line(reader, at);
    if (error != LINE_IS_FOREIGN)
        return error;
    if ((at[0] == '[' && isdigit((unsigned char)at[1])) || (at[0] == '@' && at[1] == '['))
        return reader_take_port(reader, at);
    for (size_t i = 0; i < sizeof headers / sizeof headers[0]; i++)
        if (scan_word(&at, headers[i].word))
            return take_header(reader, at, headers[i].kind);
    for (size_t i = 0; i < sizeof directives / sizeof *directives; i++)
        if (scan_word(&at, directives[i].key)) {
            reader->node = TOPOLOGY_NONE;
            return directives[i].take(reader, at, directives[i].key);
        }
    for (size_t i = 0; i < sizeof headings / sizeof headings[0]; i++)
        if (strncmp(at, headings[i], strlen(headings[i])) == 0)
            return 0;
    if (scan_word(&at, "do "))
        return reader_fail(reader, "'do' runs a command of ibsim's console, which is not "
                                   "supported; leave the line out");
    return skip_noise(reader, at);
}

static int read_lines(struct reader *reader, struct line_reader *lines)
{
    lines->limit = MAX_BYTES;
    reader->lines = lines;
    reader->file = (uint32_t)reader->files.count;
    vec_push(&reader->files, arena_strdup(&reader->names, lines->file));
    if (reader->file >= MAX_FILES)
        reader_fail(reader, "more than %d files are included", MAX_FILES);
    while (line_reader_next_line(lines)) {
        reader->files.items[reader->file] = lines->file;
        if (lines->line_length > MAX_LINE_BYTES)
            reader_fail(reader, "the line is longer than %d bytes", MAX_LINE_BYTES);
        else if (memchr(lines->line, '\0', lines->line_length))
            reader_fail(reader, "a zero byte: this is not a text file");
        else
            lines->status = take_line(reader, lines->copy);
    }
    return lines->status;
}

/* "3 lines that are not part of the dump were skipped: 2 'ibwarn: [71] …', 3, 9" */
static void warn_of_noise(struct reader *reader)
{
    enum { NAMED = 10 };
    struct text text = {0};
    size_t count = reader->noise.count;
    const struct noise *noise = reader->noise.items;
    text_printf(&text, "%s: %zu line%s not part of the dump and %s skipped: ",
                reader->files.items[noise[0].place.file], count, count == 1 ? " is" : "s are",
                count == 1 ? "is" : "are");
    for (size_t i = 0; i < count && i < NAMED; i++)
        text_printf(&text, "%s%u", i ? ", " : count == 1 ? "line " : "lines ", noise[i].place.line);
    if (count > NAMED)
        text_printf(&text, " and %zu more", count - NAMED);
    text_printf(&text, "; the first is '%s'", noise[0].text);
    reader->topology.warning = arena_strdup(&reader->topology.strings, text.data);
    text_release(&text);
}

/* A dump of which only the records of switches were kept: their lines name the adapters, with
 * GUIDs, LIDs and descriptions. All get as many ports as the lines of any of them need. */
static int add_named_adapters(struct reader *reader)
{
    struct topology *topology = &reader->topology;
    uint64_t guid = 0, ports = 1;
    for (uint32_t i = 0; i < topology->nodes.count; i++)
        if (topology->nodes.items[i].kind != NODE_SWITCH)
            return 0;
    for (size_t i = 0; i < reader->ends.count; i++)
        if (reader->ends.items[i].peer_port > ports &&
            strncmp(reader->ends.items[i].peer_name, "H-", 2) == 0)
            ports = reader->ends.items[i].peer_port;
    for (size_t i = 0; i < reader->ends.count; i++) {
        const struct link_end *end = &reader->ends.items[i];
        const char *text = end->peer_text, *last = text ? strrchr(text, '"') : NULL;
        if (!text || sscanf(end->peer_name, "H-%16" SCNx64, &guid) != 1)
            continue;
        if (name_map_get(&topology->by_name, end->peer_name) == MAP_NONE) {
            reader->names_adapters = true;
            reader->guid_next[NODE_ADAPTER] = guid;
            int error = add_node(reader, NODE_ADAPTER, end->peer_name, ports);
            if (error)
                return error;
            topology_set_description(topology, reader->node, text + 1, (size_t)(last - text - 1));
        }
        uint32_t node = name_map_get(&topology->by_name, end->peer_name);
        char *lid = arena_strdup(&reader->names, last + 1 + strspn(last + 1, " \t"));
        int error = reader_take_lid(
            reader, lid,
            &topology->ports.items[topology->nodes.items[node].first_port + end->peer_port]);
        if (error)
            return error;
    }
    return 0;
}

/* Makes links of what was read, and decides about unknown lines: only a dump, which lists both ends
 * of links, may have them. */
static int finish_topology(struct reader *reader)
{
    int error = reader->take_list_line ? list_resolve(reader) : 0;
    bool is_dump = reader->noise.count && reader->topology.nodes.count;
    for (uint32_t i = 0; is_dump && i < reader->topology.nodes.count; i++)
        is_dump = reader_is_dumped(reader, i);
    if (!error && reader->noise.count && !is_dump)
        error = reader_fail_at(reader, reader->noise.items[0].place,
                               "expected Switch, Ca, Hca, Rt, a port line or a setting such as "
                               "'switchguid=', not '%s'",
                               reader->noise.items[0].text);
    else if (!error && !reader->topology.nodes.count)
        error = err_at(reader->lines->err, EINVAL, reader->files.items[0], 0,
                       "no fabric in it: expected output of ibnetdiscover or iblinkinfo, "
                       "opensm-subnet.lst or an ibsim net file");
    if (!error && !reader->module[0])
        error = add_named_adapters(reader);
    if (!error)
        error = reader_resolve_links(reader);
    if (!error && reader->noise.count)
        warn_of_noise(reader);
    return error;
}

int topology_read(struct topology *topology, struct line_reader *lines)
{
    struct reader reader = {.may_include = lines->is_file, .module = "", .node = TOPOLOGY_NONE};
    topology_init(&reader.topology);
    memcpy(reader.guid_base, reader.topology.next_guid, sizeof reader.guid_base);
    memcpy(reader.guid_next, reader.topology.next_guid, sizeof reader.guid_next);
    int error = read_lines(&reader, lines);
    if (!error)
        error = finish_topology(&reader);
    if (!error) {
        topology_fill_port_guids(&reader.topology);
        topology_release(topology);
        *topology = reader.topology;
    } else {
        topology_release(&reader.topology);
    }
    arena_release(&reader.names);
    vec_release(&reader.files);
    vec_release(&reader.ends);
    vec_release(&reader.end_of_port);
    vec_release(&reader.noise);
    vec_release(&reader.list_lines);
    name_map_release(&reader.aliases);
    return error;
}
