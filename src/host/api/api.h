/* The JSON API of the live page (docs/api/openapi.yaml): what all of its servers share.
 *
 * `weft live`, `weft fabric --web` and `weft sm --web` serve the same API. Each fills a `struct
 * api_tick` with its present state, ten times a second at most; this folder numbers links, writes
 * topology, ticks and their differences, and keeps a history of ticks. Handlers run in the loop of
 * the server. Those of answers that take long only copy: the text is made in the thread of the HTTP
 * server.
 *
 *   topology_json.c  nodes and links with positions
 *   network.c        the same for several threads
 *   links.c          numbers of links
 *   tick.c           the state and its changes
 *   log.c            the events of the log
 *   sections.c       managers, changes, groups and outputs of paths
 *   versions.c       tables of the past
 *   history.c        ticks of the past
 *   pages.c          the files of the page
 *   publisher.c      the ticks of one server: stream, history and routes that all servers have
 *   requests.c       parameters, answers and what a server is */
#ifndef WEFT_HOST_API_API_H
#define WEFT_HOST_API_API_H

#include "base/map.h"
#include "base/mem.h"
#include "base/record.h"
#include "base/text.h"
#include "console/action.h"
#include "host/http/http.h"
#include "topology/topology.h"

/* ---- links.c ---- */

/* Links have the order of their first ports, which are their ends a. */
struct api_links {
    uint32_t count, port_count;
    uint32_t *ports;   /* by link: the port of end a */
    uint32_t *of_port; /* by port of the topology: its link, or TOPOLOGY_NONE */
};
void api_links_init(struct api_links *links, const struct topology *topology);
void api_links_release(struct api_links *links);
/* The direction in which a port sends over its link: 0 from a to b, 1 from b to a. */
static inline unsigned api_link_direction(const struct api_links *links, uint32_t port)
{
    return links->ports[links->of_port[port]] != port;
}

/* The node with this GUID, or TOPOLOGY_NONE. */
uint32_t api_node_of(const struct topology *topology, uint64_t guid);
/* The link at this port of it; TOPOLOGY_NONE: there is none. */
uint32_t api_link_of(const struct topology *topology, const struct api_links *links, uint64_t guid,
                     unsigned port);

/* ---- topology_json.c ---- */

void api_topology_write(const struct topology *topology, const struct api_links *links,
                        uint64_t generation, struct text *out);

/* ---- network.c ---- */

/* A topology, its links and their JSON, for several threads. */
struct api_network;
/* Takes over the topology. The caller holds it. */
struct api_network *api_network_new(struct topology *topology, uint64_t generation);
/* Of a topology that changes: has only its JSON. */
struct api_network *api_network_written(const struct topology *topology,
                                        const struct api_links *links, uint64_t generation);
struct api_network *api_network_hold(struct api_network *network);
void api_network_release(struct api_network *network); /* accepts NULL */
const struct topology *api_network_topology(const struct api_network *network);
const struct api_links *api_network_links(const struct api_network *network);
uint64_t api_network_generation(const struct api_network *network);
void api_network_write(struct api_network *network, struct text *out);

/* ---- log.c ---- */

enum { API_LOG_MOST = 20000, API_LOG_SHOWN = 200 };
struct api_event {
    uint64_t t_ns;
    const char *kind; /* a constant */
    const char *who, *text;
    uint32_t node; /* or TOPOLOGY_NONE */
};
struct api_log {
    VEC(struct api_event) items;
    uint64_t dropped; /* events before the first item */
};
/* Copies who and text. */
void api_log_add(struct api_log *log, const struct api_event *event);
/* The number of events so far. */
uint64_t api_log_end(const struct api_log *log);
/* The events that a state shows which has seen those up to `end`. */
void api_log_copy_shown(struct api_log *to, const struct api_log *from, uint64_t end);
void api_log_release(struct api_log *log);

/* ---- tick.c ---- */

enum api_node_state {
    API_NODE_UP,
    API_NODE_DOWN,
    API_NODE_MUTE,
    API_NODE_SLOW,
    API_NODE_UNKNOWN, /* not in the subnet of the master */
    API_NODE_DEGRADED,
};
enum api_link_state {
    API_LINK_ACTIVE,
    API_LINK_CUT,
    API_LINK_DOWN,
    API_LINK_NOT_ACTIVE,
    API_LINK_LOSSY,
    API_LINK_ERRORS,
    API_LINK_TRAINING,
    API_LINK_DEGRADED,
};
enum api_wave { API_WAVE_NONE, API_WAVE_WAITS, API_WAVE_WRITTEN, API_WAVE_CONFIRMED };
enum { API_UNKNOWN = 255 }; /* in byte vectors */

/* Members that are sent as a whole whenever their JSON text changes. */
enum api_section {
    API_TRAFFIC,
    API_MANAGERS,
    API_CHANGES,
    API_PROBLEMS,
    API_DEADLOCK,
    API_FLOWS,
    API_VMS,
    API_HYPERVISORS,
    API_SECTIONS,
};

struct api_tick {
    uint64_t seq, t_ns;
    bool running, behind;
    const char *work; /* "start", "event" or "replay": towards what time runs without pace; NULL */
    uint64_t window_ns; /* over which the loads are means */
    double pace;
    char halted[128]; /* "": it runs */
    uint64_t smps;
    char hash[20];             /* "": none */
    uint32_t nodes_n, links_n; /* lengths of the arrays */
    uint8_t *nodes, *waves;    /* by node */
    uint8_t *links;            /* by link */
    uint8_t *load, *wait, *vl; /* by direction of a link */
    uint32_t *errors;          /* by link */
    uint64_t log_end;          /* api_log_end() */
    struct text sections[API_SECTIONS];
    /* for the columns of the history: totals, and means of the interval */
    double throughput, latency; /* latency NaN: no packet */
    uint64_t lost;
};

void api_tick_init(struct api_tick *tick, uint32_t nodes, uint32_t links);
void api_network_init_tick(const struct api_network *network, struct api_tick *tick);
void api_tick_copy(struct api_tick *to, const struct api_tick *from); /* `to` is initialised */
void api_tick_release(struct api_tick *tick);
size_t api_tick_bytes(const struct api_tick *tick);
/* Starts a section anew; the caller writes one JSON value to the text. */
struct text *api_tick_section(struct api_tick *tick, enum api_section section);
/* Writes the tick; with `before` only what differs. `live`: it is the present. */
void api_tick_write(const struct api_tick *tick, const struct api_tick *before,
                    const struct api_log *log, bool live, struct text *out);

/* ---- sections.c ---- */

#define API_NONE UINT64_MAX /* a time or a number that is not known: null */

/* A number, or null if it is TOPOLOGY_NONE or API_NONE. */
void api_put_id(struct json *json, const char *key, uint32_t id);
/* Members of the port by which a packet leaves: node, port, link, and its direction. */
void api_put_output(struct json *json, const struct topology *topology,
                    const struct api_links *links, uint32_t port);
void api_put_number(struct json *json, const char *key, uint64_t number);

struct api_manager {
    uint64_t id;
    uint32_t node;
    const char *name, *state, *phase;
    unsigned priority;
    const char *engine; /* NULL: only the members above are known */
    uint32_t wave, waves;
    bool draining, settled;
    uint64_t nodes;          /* in its subnet */
    uint64_t prefix;         /* of it */
    uint64_t poll_ns, polls; /* of a standby: polls without an answer before it takes over */
    uint64_t change;         /* that is under way, or API_NONE */
};
void api_manager_put(const struct api_manager *manager, struct record *record);

/* Times in ns, or API_NONE. */
struct api_change {
    uint64_t id, manager;
    const char *who; /* the name of the manager, for texts */
    const char *cause;
    uint64_t fault, begin, routing, routed, end;
    bool finished;
    uint64_t gets, sets, blocks, draining_ns;
};
void api_change_put(const struct api_change *change, struct record *record);

/* A multicast group: its members by node, and the links of its tree by link. */
void api_group_write(unsigned mlid, const uint8_t mgid[16], const bool *members, uint32_t nodes,
                     const bool *tree, uint32_t links, struct json *json);

/* ---- versions.c ---- */

/* A forwarding table: the output port of each LID up to `top`; NULL: the switch has none. */
typedef const uint8_t *api_table_of(const void *context, uint64_t guid, unsigned *top);

enum { API_VERSIONS_MOST = 256 }; /* the newest are kept; fewer if they are large */
struct api_version {
    uint32_t id; /* from 1 */
    uint64_t t_ns, manager;
    const char *engine; /* a constant */
    const char *cause;
    uint64_t entries, changed;
    uint32_t rows, stride;
    struct api_tables *tables; /* shared with answers that are made in another thread */
};

/* Versions of the tables in the switches, one for each change that a manager finished and for each
 * request about a virtual machine that changed entries. */
struct api_versions {
    VEC(struct api_version) items;
    VEC(uint64_t) switches; /* their GUIDs, by row */
    struct map row_of;      /* by GUID */
    uint32_t last_id;
};
void api_versions_release(struct api_versions *versions);
/* If it is not known yet. */
void api_versions_add_switch(struct api_versions *versions, uint64_t guid);
/* Copies the present tables of all switches. `about` has time, manager, engine and cause.
 * `if_changed`: only if an entry differs from the version before. */
void api_versions_add(struct api_versions *versions, const struct api_version *about,
                      bool if_changed, api_table_of *table_of, const void *context);
void api_versions_put(const struct api_versions *versions, const char *key, struct record *record);
void api_versions_write(const struct api_versions *versions, struct text *out); /* as JSON */
/* What moved. -ENOENT: there is no such version, or it is not kept any more. */
int api_versions_compare(const struct api_versions *versions, const struct topology *topology,
                         const struct api_links *links, uint64_t a, uint64_t b, struct text *out,
                         struct err *err);
/* Answers a request for that: its parameters a and b are the versions. `network` is held until the
 * answer is made in the server's thread. */
void api_versions_answer(const struct api_versions *versions, struct api_network *network,
                         const struct http_request *request, struct http_response *response);
/* The same, made at once: of a topology that changes. */
void api_versions_answer_now(const struct api_versions *versions, const struct topology *topology,
                             const struct api_links *links, const struct http_request *request,
                             struct http_response *response);

/* ---- history.c ---- */

enum { API_HISTORY_MOST = 4096 };
struct api_history {
    VEC(struct api_tick) items; /* by time */
    size_t bytes, limit_bytes;
};
/* Drops every second item when there are too many, or too many bytes. */
void api_history_add(struct api_history *history, const struct api_tick *tick);
void api_history_forget(struct api_history *history, uint64_t from_ns); /* from this time on */
void api_history_release(struct api_history *history);
/* The figures of all ticks as columns, which `response` gets in two steps. */
void api_history_answer(const struct api_history *history, struct http_response *response);
const struct api_tick *api_history_at(const struct api_history *history, uint64_t t_ns);

/* ---- publisher.c ---- */

/* The owner fills `tick` and calls api_publish(). */
struct api_publisher {
    struct http_stream *stream;
    struct api_log log;
    struct api_tick tick, sent; /* sent: the last one that was published */
    struct api_history history;
    struct api_network *network;
    /* Called before the state is read, to publish what has changed; may be NULL. */
    void (*refresh)(void *context);
    void *context;
};
/* Begins, or begins anew with another network, which it takes over, or another run. Subscribers
 * receive an event "reset". */
void api_publisher_begin(struct api_publisher *publisher, struct api_network *network);
void api_publisher_release(struct api_publisher *publisher); /* after the HTTP server has stopped */
void api_publish(struct api_publisher *publisher);
/* GET topology, state, events, history, history/at and export/state, and the files of the page.
 * Returns their number. The handlers run in the loop of the owner. */
size_t api_add_routes(struct api_publisher *publisher, struct http_route *routes, size_t room);

/* ---- requests.c ---- */

#define API_PLAIN "text/plain; charset=utf-8" /* type of an answer that is not JSON */

/* A response {"error": …}. */
void api_refuse(struct http_response *response, unsigned status, const char *message);
/* Answers an action that was carried out: its statement and its time. */
void api_accept(struct http_response *response, const char *statement, uint64_t t_ns);
/* Routes of a table whose functions run in the loop of the owner, with one context; a POST needs
 * the token. Returns their number. */
size_t api_add_table(const struct http_route *table, size_t count, void *context,
                     struct http_route *routes);
/* Two parameters that are whole numbers below `end`; false after a refusal. */
bool api_two_numbers(const struct http_request *request, struct http_response *response,
                     const char *const names[2], uint64_t end, uint64_t values[2]);
/* A parameter that is a whole number below `end` (parse_parameter()). */
int api_number(const struct http_request *request, const char *name, uint64_t end, uint64_t *value,
               struct err *err);
/* The request as one for an action. */
struct action_request api_action(const struct http_request *request,
                                 const struct topology *topology, const struct api_links *links);

enum { API_CAPABILITIES = 24 };
struct api_info {
    const char *what, *name, *version;
    uint64_t generation;
    const uint64_t *seed; /* NULL: none */
    uint64_t begin_ms; /* Unix time of the beginning, if times are those of the wall clock; or 0 */
    const char *capabilities[API_CAPABILITIES];   /* and NULL for those that it lacks */
    bool (*offers)(const struct action_row *row); /* the actions that it has; NULL: all */
    const char *(*engine)(size_t index);          /* those that can be chosen, then NULL; or NULL */
};
void api_info_write(const struct api_info *info, struct text *out);

/* ---- pages.c ---- */

/* Adds a route for each file of the page; returns their number, at most `room`. */
size_t api_add_pages(struct http_route *routes, size_t room);

#endif
