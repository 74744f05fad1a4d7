/* The text of a scrape: whatever the names of nodes and the scraper's parameters are, every line is
 * a comment or a sample in the format of Prometheus, in UTF-8, and belongs to the family before it.
 */
#include "host/metrics/metrics_page.h"

#include "host/metrics/format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { DEVICES = 4, PARAMETER = 64 };

static void require(bool holds)
{
    if (!holds)
        abort();
}

/* {label="value",...}: returns the character after it. */
static const char *check_labels(const char *at)
{
    do {
        for (at++; isalpha((unsigned char)*at) || *at == '_'; at++)
            ;
        require(at[0] == '=' && at[1] == '"');
        for (at += 2; *at != '"'; at += text_utf8_length(at)) {
            require(*at && *at != '\n' && text_utf8_length(at) > 0);
            if (*at == '\\') {
                at++;
                require(*at == '\\' || *at == '"' || *at == 'n');
            }
        }
        at++;
    } while (*at == ',');
    require(*at == '}');
    return at + 1;
}

static void check_page(const char *at)
{
    char family[128] = "";
    while (*at) {
        size_t length = strcspn(at, "\n");
        require(at[length] == '\n');
        if (*at == '#') {
            require(sscanf(at, "# HELP %127s", family) == 1 || strncmp(at, "# TYPE ", 7) == 0);
        } else {
            const char *end = at + strspn(at, "abcdefghijklmnopqrstuvwxyz_0123456789");
            require(*family && strncmp(at, family, strlen(family)) == 0);
            end = *end == '{' ? check_labels(end) : end;
            require(*end++ == ' ' && end[strspn(end, "0123456789.e+-")] == '\n');
        }
        at += length + 1;
    }
}

static void print_summary(const void *summary, const struct port_metrics *ports, struct text *out)
{
    (void)summary;
    metric_family(out, "weft_fuzz", "gauge", "Names.");
    for (size_t i = 0; i < ports->devices.count; i++) {
        metric_begin(out, "weft_fuzz");
        metric_label(out, "name", ports->devices.items[i].name);
        metric_end(out, 1);
    }
}

/* The first bytes are a parameter, the others names. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const parameters[] = {"collect", "ports", "names", "collect[]", "other"};
    struct port_metrics *ports = port_metrics_new();
    struct metrics_choice choice = {0};
    struct text page = {0};
    char value[PARAMETER + 1] = "", buffer[777];
    size_t used = size < 1 ? 0 : data[0] % PARAMETER;
    used = used < size ? used : size;
    if (used > 1) {
        memcpy(value, data + 1, used - 1);
        struct err err = {0};
        int status = metrics_choice_add(&choice, parameters[data[0] % 5], value, &err);
        require(status == 0 || (err.message[0] && status < 0));
    }
    for (unsigned i = 0; i < DEVICES; i++) {
        struct metric_device device = {.guid = i + 1, .is_switch = i % 2};
        size_t part = (size - used) / DEVICES, most = sizeof device.name - 1;
        memcpy(device.name, data + used + i * part, part < most ? part : most);
        vec_push(&ports->devices, device);
        struct metric_port port = {.device = i, .peer = DEVICES - 1 - i, .number = 1, .rate = 1};
        port.known = 1;
        port_metrics_add_values(ports, &port)[0] = i;
        vec_push(&ports->ports, port);
    }
    struct metrics_page *source = metrics_page_new(&choice, ports, NULL, print_summary, mem_free);
    for (size_t bytes; (bytes = metrics_page_generate(source, buffer, sizeof buffer)) > 0;)
        text_append(&page, buffer, bytes);
    check_page(page.data ? page.data : "");
    metrics_page_free(source);
    text_release(&page);
    return 0;
}
