/* The live page of the daemon (`web` in weft-sm.conf(5)): the API of docs/api/openapi.yaml.
 *
 * Handlers run in the loop, but they only copy: the thread of the HTTP server writes answers that
 * are long (host/api/api.h). The state is read only while somebody watches, at most twice a second
 * and in at most a twentieth of the time, so that the page costs a manager at work little. New
 * nodes and links are shown when the manager is idle, or after some seconds: to describe a large
 * subnet takes longer than a tick. The thread of the HTTP server sends. */
#include "host/daemon/page/page.h"

#include "base/time.h"

enum { PAUSE_FACTOR = 20 };
#define TICK_NS     (500 * NS_PER_MS)
#define DESCRIBE_NS (5 * NS_PER_S)

uint64_t daemon_web_now(const struct daemon_web *web)
{
    return time_monotonic_ns() - web->start_ns;
}

/* Without a manager until there is a topology. */
static struct manager_page page_of(const struct daemon_web *web)
{
    return (struct manager_page){web->generation ? web->daemon->sm : NULL, daemon_web_topology(web),
                                 api_network_links(web->network)};
}

/* ---- ticks ---- */

static uint64_t sign(const struct subnet *subnet)
{
    uint64_t signature = hash_mix(subnet->nodes.count + 1);
    for (uint32_t i = 0; i < subnet->ports.count; i++) {
        uint32_t peer = subnet_last_neighbor(subnet, i);
        if (peer != SUBNET_NONE && peer > i)
            signature = hash_mix(signature ^ ((uint64_t)i << 32 | peer));
    }
    return signature;
}

static void show_network(struct daemon_web *web, struct topology *topology)
{
    mem_free(web->touched);
    web->touched = mem_zalloc(topology->nodes.count + 1, sizeof *web->touched);
    web->network = api_network_new(topology, web->generation);
    api_publisher_begin(&web->publisher, web->network);
}

/* Describes the subnet anew if nodes or links have appeared or moved. */
static void update_topology(struct daemon_web *web, const struct subnet *subnet)
{
    uint64_t signature = sign(subnet);
    if (web->generation && signature == web->signature)
        return;
    struct topology topology;
    topology_init(&topology);
    subnet_describe(subnet, true, &topology);
    web->signature = signature;
    web->generation++;
    web->described_at = time_monotonic_ns();
    api_history_forget(&web->publisher.history, 0);
    show_network(web, &topology);
}

static void read_state(struct daemon_web *web)
{
    struct daemon *daemon = web->daemon;
    struct api_tick *tick = &web->publisher.tick;
    struct sm_counts counts;
    bool idle = sm_progress(daemon->sm).phase == SM_PHASE_IDLE;
    if (idle || !web->generation || time_monotonic_ns() >= web->described_at + DESCRIBE_NS)
        update_topology(web, sm_subnet(daemon->sm));
    sm_counts(daemon->sm, &counts);
    tick->t_ns = daemon_web_now(web);
    tick->running = true;
    tick->pace = 1;
    tick->smps = counts.sent;
    const struct manager_page page = page_of(web);
    manager_page_read(&page, daemon->perf, tick);
    manager_page_read_waves(&page, web->touched, tick->waves);
    manager_page_put_managers(&page, &daemon->config->sm, api_tick_section(tick, API_MANAGERS));
    manager_page_put_changes(&page, web->start_ns, api_tick_section(tick, API_CHANGES));
    manager_page_put_problems(&page, &daemon->problems, web->start_ns,
                              api_tick_section(tick, API_PROBLEMS));
    manager_page_put_machines(&page, daemon->machines, api_tick_section(tick, API_VMS),
                              api_tick_section(tick, API_HYPERVISORS));
    api_publish(&web->publisher);
}

/* If it is time. */
static void publish(void *context)
{
    struct daemon_web *web = context;
    uint64_t begin = time_monotonic_ns();
    if (!web->daemon->sm || begin < web->next_tick)
        return;
    read_state(web);
    uint64_t end = time_monotonic_ns(), pause = PAUSE_FACTOR * (end - begin);
    web->next_tick = end + (pause > TICK_NS ? pause : TICK_NS);
}

/* ---- what happens ---- */

void daemon_web_event(struct daemon *daemon, const struct event_record *record)
{
    struct daemon_web *web = daemon->web;
    if (!web)
        return;
    bool alarm = strcmp(record->event, "warning") == 0 || strcmp(record->event, "error") == 0;
    struct api_event event = {.t_ns = daemon_web_now(web),
                              .kind = alarm ? "alarm" : "event",
                              .who = record->event,
                              .text = record->text,
                              .node = web->generation && record->guid
                                          ? api_node_of(daemon_web_topology(web), record->guid)
                                          : TOPOLOGY_NONE};
    api_log_add(&web->publisher.log, &event);
}

uint64_t daemon_web_step(struct daemon *daemon, uint64_t now)
{
    struct daemon_web *web = daemon->web;
    if (!web)
        return TIME_NEVER;
    const struct manager_page page = {.sm = daemon->sm};
    manager_page_keep_moved(&page, &web->versions, daemon->machines, 0, web->start_ns,
                            &web->machines_seen);
    if (!http_stream_subscribers(web->publisher.stream))
        return TIME_NEVER;
    if (now >= web->next_tick)
        publish(web);
    return web->next_tick;
}

void daemon_web_note(struct daemon *daemon, const struct sm_event *event)
{
    const struct manager_page page = {.sm = daemon->sm};
    if (!daemon->web || !event->change || event->change->outcome != SM_FINISHED)
        return;
    const struct api_version about = {.t_ns = daemon_web_now(daemon->web),
                                      .cause = event->change->text};
    manager_page_keep_tables(&page, &daemon->web->versions, about, false);
}

/* ---- requests ---- */

static void write_info(void *context, struct text *out)
{
    struct daemon_web *web = context;
    publish(web); /* the topology may be another one */
    const struct daemon *daemon = web->daemon;
    bool machines = strncmp(web->publisher.tick.sections[API_HYPERVISORS].data, "[]", 2) != 0;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const struct api_info info = {
        .what = "sm",
        .begin_ms = (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / NS_PER_MS -
                    daemon_web_now(web) / NS_PER_MS,
        .name = "weft sm",
        .version = WEFT_VERSION,
        .generation = web->generation,
        .capabilities = {"links", "path", "history", "tables", "groups", "reroute", "sweep",
                         "handover", daemon->config->has_plan ? "cabling" : NULL,
                         daemon->sm && sm_uses_partitions(daemon->sm) ? "partitions" : NULL,
                         machines ? "vms" : NULL},
        .offers = daemon_web_offers,
    };
    api_info_write(&info, out);
}

static void get_path(void *context, const struct http_request *request,
                     struct http_response *response)
{
    static const char *const names[] = {"from", "to"};
    const struct daemon_web *web = context;
    const struct manager_page page = page_of(web);
    uint64_t ends[2];
    if (api_two_numbers(request, response, names, page.topology->nodes.count, ends))
        manager_page_put_path(&page, (uint32_t)ends[0], (uint32_t)ends[1], &response->body);
}

static void write_versions(void *context, struct text *out)
{
    const struct daemon_web *web = context;
    api_versions_write(&web->versions, out);
}

static void get_comparison(void *context, const struct http_request *request,
                           struct http_response *response)
{
    const struct daemon_web *web = context;
    api_versions_answer(&web->versions, web->network, request, response);
}

/* A copy of what an answer shows, and the network that it refers to. */
struct copy {
    struct api_network *network;
    struct page_groups groups;
    struct page_partitions partitions;
};

static struct copy *begin_copy(const struct daemon_web *web, struct http_response *response)
{
    struct copy *copy = mem_zalloc(1, sizeof *copy);
    copy->network = api_network_hold(web->network);
    response->source = copy;
    return copy;
}

static void make_groups(void *source, struct http_response *response)
{
    const struct copy *copy = source;
    page_groups_write(&copy->groups, api_network_topology(copy->network),
                      api_network_links(copy->network), &response->body);
}

static void release_groups(void *source)
{
    struct copy *copy = source;
    page_groups_release(&copy->groups);
    api_network_release(copy->network);
    mem_free(copy);
}

static void get_groups(void *context, const struct http_request *request,
                       struct http_response *response)
{
    const struct daemon_web *web = context;
    const struct manager_page page = page_of(web);
    (void)request;
    page_groups_copy(&begin_copy(web, response)->groups, &page,
                     web->daemon->sa ? sa_groups(web->daemon->sa) : NULL);
    response->make = make_groups;
    response->release = release_groups;
}

static void make_partitions(void *source, struct http_response *response)
{
    struct copy *copy = source;
    page_partitions_write(&copy->partitions, &response->body);
}

static void release_partitions(void *source)
{
    struct copy *copy = source;
    page_partitions_release(&copy->partitions);
    api_network_release(copy->network);
    mem_free(copy);
}

static void get_partitions(void *context, const struct http_request *request,
                           struct http_response *response)
{
    const struct daemon_web *web = context;
    const struct manager_page page = page_of(web);
    (void)request;
    page_partitions_copy(&begin_copy(web, response)->partitions, &page,
                         web->daemon->config->sm.partitions);
    response->make = make_partitions;
    response->release = release_partitions;
}

static void write_cabling(void *context, struct text *out)
{
    const struct daemon_web *web = context;
    const struct manager_page page = page_of(web);
    manager_page_put_cabling(&page, &web->daemon->config->plan, "the plan", out);
}

/* ---- begin and end ---- */

size_t daemon_open_web(struct daemon *daemon, struct http_route *routes, size_t room)
{
    struct daemon_web *web = daemon->web = mem_zalloc(1, sizeof *web);
    web->daemon = daemon;
    web->start_ns = time_monotonic_ns();
    web->publisher.refresh = publish;
    web->publisher.context = web;
    struct topology none;
    topology_init(&none);
    show_network(web, &none); /* until there is a port */
    static const struct http_route table[] = {
        {.path = "/api/v1/info", .write = write_info},
        {.path = "/api/v1/path", .handler = get_path},
        {.path = "/api/v1/tables/versions", .write = write_versions},
        {.path = "/api/v1/tables/compare", .handler = get_comparison},
        {.path = "/api/v1/groups", .handler = get_groups},
        {.path = "/api/v1/partitions", .handler = get_partitions},
        {.path = "/api/v1/cabling", .write = write_cabling},
        {.method = "POST", .path = "/api/v1/actions", .handler = daemon_web_act},
    };
    size_t count = api_add_table(table, sizeof table / sizeof *table, web, routes);
    return count + api_add_routes(&web->publisher, routes + count, room - count);
}

void daemon_close_web(struct daemon *daemon)
{
    struct daemon_web *web = daemon->web;
    if (!web)
        return;
    api_publisher_release(&web->publisher);
    mem_free(web->touched);
    api_versions_release(&web->versions);
    mem_free(web);
    daemon->web = NULL;
}
