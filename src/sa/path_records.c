/* PathRecord, MultiPathRecord and TraceRecord (15.2.5.16, .20, .21).
 *
 * Paths follow the routes in force: the routing engine chose the DLIDs and SLs. An engine with
 * destination renaming gives each pair of end points its own DLID in both directions, so a pair has
 * one record. With other engines every LID of a port's range has routes, and a pair has as many
 * records as LIDs; those that share the fewest links come first (path_order.c). MTU and rate are
 * the minimum along the path; selectors and QoS levels (subnet/qos.h) can only lower them. A path
 * is reversible if the reverse path exists, meets the same criteria and uses the same VL. A client
 * that requests a reversible path also gets one whose reverse path uses another VL: connection
 * managers always request one, and OpenSM answers the same way (decision 013).
 *
 * A DGID of another subnet is resolved to the routers that lead to its prefix
 * (subnet/prefix_routes.h): one record for each of them, the one that this pair of GIDs uses first.
 * MTU and rate are those of the way to the router.
 *
 * long_query_continue() builds tables over many pairs in pieces. If the routes change meanwhile, it
 * starts again, so that a table describes one state. */
#include "sa/internal.h"

#include <assert.h>

enum { GID_BYTES = 16, PREFER_MOST = 0, PREFER_LEAST = 2 };
enum { LIFE_TIME_LONGEST = 63 }; /* of six bits */
enum { MULTI_PAIRS = 4096 };     /* most pairs of end points in a MultiPathRecord */

enum { ORDERED_PAIRS = 16 }; /* up to so many pairs, all paths are compared with each other */

/* Criteria of a PathRecord or MultiPathRecord query. */
struct path_criteria {
    struct selection mtu, rate, life;
    bool reversible, raw;
    bool has_p_key, has_sl, has_class, has_service;
    uint16_t p_key, slid, dlid; /* LIDs: 0 for any */
    uint16_t class;
    uint64_t service;
    uint8_t sl;
    unsigned most;                          /* records per pair */
    uint64_t source_guid, destination_guid; /* in the GIDs of the query, which may be aliases; 0 */
    uint64_t requester;
    const uint8_t *far_gid; /* a DGID of another subnet; the destination is a router; or NULL */
    unsigned far_life;      /* added to the packet lifetime for the other subnets */
};

/* The component mask bit and the field of a criterion in the two kinds of records. */
struct criterion_place {
    uint8_t bit;
    uint16_t field; /* enum wire_field */
};
struct chosen_place {
    struct criterion_place selector, value;
};
struct criteria_fields {
    struct chosen_place mtu, rate, life;
    struct criterion_place reversible, raw, p_key, sl, class, count;
    uint8_t service_bits[2];
};
static const struct criteria_fields path_places = {
    .mtu = {{16, PATH_RECORD_MTU_SELECTOR}, {17, PATH_RECORD_MTU}},
    .rate = {{18, PATH_RECORD_RATE_SELECTOR}, {19, PATH_RECORD_RATE}},
    .life = {{20, PATH_RECORD_PACKET_LIFE_TIME_SELECTOR}, {21, PATH_RECORD_PACKET_LIFE_TIME}},
    .reversible = {11, PATH_RECORD_REVERSIBLE},
    .raw = {6, PATH_RECORD_RAW_TRAFFIC},
    .p_key = {13, PATH_RECORD_P_KEY},
    .sl = {15, PATH_RECORD_SL},
    .class = {14, PATH_RECORD_QOS_CLASS},
    .count = {12, PATH_RECORD_NUMB_PATH},
    .service_bits = {0, 1},
};
static const struct criteria_fields multi_path_places = {
    .mtu = {{10, MULTI_PATH_RECORD_MTU_SELECTOR}, {11, MULTI_PATH_RECORD_MTU}},
    .rate = {{12, MULTI_PATH_RECORD_RATE_SELECTOR}, {13, MULTI_PATH_RECORD_RATE}},
    .life = {{14, MULTI_PATH_RECORD_PACKET_LIFE_TIME_SELECTOR},
             {15, MULTI_PATH_RECORD_PACKET_LIFE_TIME}},
    .reversible = {5, MULTI_PATH_RECORD_REVERSIBLE},
    .raw = {0, MULTI_PATH_RECORD_RAW_TRAFFIC},
    .p_key = {7, MULTI_PATH_RECORD_P_KEY},
    .sl = {9, MULTI_PATH_RECORD_SL},
    .class = {8, MULTI_PATH_RECORD_QOS_CLASS},
    .count = {6, MULTI_PATH_RECORD_NUMB_PATH},
    .service_bits = {16, 21},
};
enum { PATH_DGID = 2, PATH_SGID = 3, PATH_DLID = 4, PATH_SLID = 5 };
enum { PATH_FLOW_LABEL = 8, PATH_HOP_LIMIT = 9, PATH_TRAFFIC_CLASS = 10 };
enum { MULTI_SGID_COUNT = 19, MULTI_DGID_COUNT = 20 };

/* The value of a component; 0 if the query does not select it. */
static uint64_t value_at(const struct query *query, const struct criterion_place *place)
{
    return query_has(query, place->bit) ? wire_get(query_data(query), place->field) : 0;
}

static struct selection selection_at(const struct query *query, const struct chosen_place *place)
{
    return (struct selection){
        .given = query_has(query, place->selector.bit) && query_has(query, place->value.bit),
        .selector = (enum selector)value_at(query, &place->selector),
        .value = (uint8_t)value_at(query, &place->value),
    };
}

static void read_criteria(const struct sa *sa, const struct query *query,
                          struct path_criteria *criteria)
{
    const uint8_t *data = query_data(query);
    bool multi = wire_get(query->mad, MAD_ATTRIBUTE_ID) == ATTRIBUTE_MULTI_PATH_RECORD;
    const struct criteria_fields *at = multi ? &multi_path_places : &path_places;
    *criteria = (struct path_criteria){
        .mtu = selection_at(query, &at->mtu),
        .rate = selection_at(query, &at->rate),
        .life = selection_at(query, &at->life),
        .reversible = value_at(query, &at->reversible),
        .raw = value_at(query, &at->raw),
        .has_p_key = query_has(query, at->p_key.bit),
        .p_key = (uint16_t)value_at(query, &at->p_key),
        .has_sl = query_has(query, at->sl.bit),
        .sl = (uint8_t)value_at(query, &at->sl),
        .has_class = query_has(query, at->class.bit),
        .class = (uint16_t)value_at(query, &at->class),
        .has_service =
            query_has(query, at->service_bits[0]) || query_has(query, at->service_bits[1]),
        .service = multi ? wire_get(data, MULTI_PATH_RECORD_SERVICE_ID_MSB) << 56 |
                               wire_get(data, MULTI_PATH_RECORD_SERVICE_ID_LSB)
                         : wire_get(data, PATH_RECORD_SERVICE_ID),
        .most = UINT32_MAX,
        .requester = access_requester(sa, query),
    };
    if (!multi && query_has(query, PATH_SLID))
        criteria->slid = (uint16_t)wire_get(data, PATH_RECORD_SLID);
    if (!multi && query_has(query, PATH_DLID))
        criteria->dlid = (uint16_t)wire_get(data, PATH_RECORD_DLID);
    if (!multi && query_has(query, PATH_SGID))
        criteria->source_guid = gid_guid(wire_bytes_const(data, PATH_RECORD_SGID));
    if (!multi && query_has(query, PATH_DGID))
        criteria->destination_guid = gid_guid(wire_bytes_const(data, PATH_RECORD_DGID));
    if (query_method(query) == METHOD_GET)
        criteria->most = 1;
    else if (query_has(query, at->count.bit))
        criteria->most = (unsigned)value_at(query, &at->count);
}

/* ---- one path ---- */

struct end {
    uint32_t point;
    uint64_t guid;
    uint32_t at; /* its switch */
    uint16_t lid;
    uint8_t lmc;
};

static struct end end_of(const struct sa *sa, uint32_t point)
{
    const struct network *network = sa->view.network;
    if (point & NETWORK_SWITCH) {
        uint32_t at = point & ~NETWORK_SWITCH;
        const struct network_switch *one = &network->switches.items[at];
        return (struct end){point, sa->index.switch_guids[at], at, one->lid, one->lmc};
    }
    assert(point < network->terminals.count);
    const struct network_terminal *terminal = &network->terminals.items[point];
    return (struct end){point, terminal->guid, terminal->at, terminal->lid, terminal->lmc};
}

/* The ends of a path, and its LIDs. */
struct pair {
    struct end from, to;
    unsigned slid, dlid;
};

struct route {
    struct path_quality quality;
    uint8_t life, vl, sl;
    uint16_t p_key;
    const struct qos_level *level; /* NULL: none */
};

static uint8_t vl_of_route(const struct routes *routes, const struct end *from, unsigned dlid)
{
    bool known = routes->service_levels && dlid < routes->stride;
    return known ? routes->service_levels[(size_t)from->at * routes->stride + dlid] : 0;
}

static uint64_t policy_groups_at(const struct sa *sa, uint32_t point)
{
    return sa->index.groups ? sa->index.groups[path_index_place(sa, point)] : 0;
}

/* Applies the QoS level before the criteria. */
static bool meets_criteria(const struct path_criteria *criteria, struct route *route)
{
    const struct qos_level *level = route->level;
    if (level && level->mtu && level->mtu < route->quality.mtu)
        route->quality.mtu = level->mtu;
    if (level && level->rate && rate_order(level->rate) < rate_order(route->quality.rate))
        route->quality.rate = level->rate;
    if (level && level->life != 0xFF)
        route->life = level->life;
    return selection_apply(&criteria->mtu, &route->quality.mtu) &&
           selection_apply_rate(&criteria->rate, &route->quality.rate) &&
           selection_apply(&criteria->life, &route->life);
}

/* Chooses the P_Key, the QoS level and the SL of the path. False if no P_Key meets the criteria, or
 * if the query requires an SL that maps to another VL: using it could close a dependency cycle. */
static bool choose_level(const struct sa *sa, const struct path_criteria *criteria,
                         const struct pair *pair, struct route *route)
{
    const struct sa_view *view = &sa->view;
    uint64_t from = pair->from.guid, to = pair->to.guid;
    if (!criteria->raw && criteria->has_p_key && !access_shares_key(sa, from, to, criteria->p_key))
        return false;
    route->p_key = criteria->raw         ? 0
                   : criteria->has_p_key ? criteria->p_key
                                         : (uint16_t)access_common_key(sa, from, to);
    struct qos_request request = {
        .source_groups = policy_groups_at(sa, pair->from.point),
        .destination_groups = policy_groups_at(sa, pair->to.point),
        .target_guid = to,
        .has_p_key = !criteria->raw,
        .p_key = route->p_key,
        .has_service = criteria->has_service,
        .service = criteria->service,
        .has_class = criteria->has_class,
        .class = criteria->class,
    };
    struct qos_layout layout = view->layout;
    layout.used = view->routes->service_levels ? view->routes->vls : 1;
    uint8_t level = qos_resolve(view->qos, &layout, &request, route->vl, &route->sl);
    route->level = level == QOS_NO_LEVEL ? NULL : &view->qos->levels.items[level];
    if (!criteria->has_sl)
        return true;
    route->sl = criteria->sl;
    return qos_allows(&layout, criteria->sl, route->vl);
}

static bool add_path(const struct sa *sa, const struct path_criteria *criteria,
                     const struct pair *pair, unsigned preference, struct answer *answer)
{
    const struct routes *routes = sa->view.routes;
    const struct end *from = &pair->from, *to = &pair->to;
    unsigned lasts = sa->config.subnet_timeout + criteria->far_life;
    bool stays = from->point == to->point && !criteria->far_gid;
    uint8_t life = stays ? 0 : (uint8_t)(lasts < LIFE_TIME_LONGEST ? lasts : LIFE_TIME_LONGEST);
    struct route forward = {.life = life}, back = {.life = life};
    bool returns;
    if (!path_index_follow_both(sa, from->point, pair->slid, to->point, pair->dlid,
                                &forward.quality, &returns, &back.quality))
        return false;
    forward.vl = vl_of_route(routes, from, pair->dlid);
    back.vl = vl_of_route(routes, to, pair->slid);
    if (!choose_level(sa, criteria, pair, &forward) || !meets_criteria(criteria, &forward))
        return false;
    back.level = forward.level;
    returns = returns && meets_criteria(criteria, &back);
    if (criteria->reversible && !returns)
        return false;
    uint8_t *record = answer_add(answer);
    gid_set(wire_bytes(record, PATH_RECORD_DGID), sa->config.prefix,
            criteria->destination_guid ? criteria->destination_guid : pair->to.guid);
    gid_set(wire_bytes(record, PATH_RECORD_SGID), sa->config.prefix,
            criteria->source_guid ? criteria->source_guid : pair->from.guid);
    if (criteria->far_gid) {
        memcpy(wire_bytes(record, PATH_RECORD_DGID), criteria->far_gid, GID_BYTES);
        wire_set(record, PATH_RECORD_HOP_LIMIT, ROUTER_HOP_LIMIT);
    }
    wire_set(record, PATH_RECORD_DLID, pair->dlid);
    wire_set(record, PATH_RECORD_SLID, pair->slid);
    wire_set(record, PATH_RECORD_RAW_TRAFFIC, criteria->raw);
    wire_set(record, PATH_RECORD_REVERSIBLE,
             returns && (criteria->reversible || back.vl == forward.vl));
    wire_set(record, PATH_RECORD_P_KEY, forward.p_key);
    wire_set(record, PATH_RECORD_QOS_CLASS,
             criteria->has_class && sa->view.qos && sa->view.qos->on ? criteria->class : 0);
    wire_set(record, PATH_RECORD_SL, forward.sl);
    wire_set(record, PATH_RECORD_MTU_SELECTOR, SELECT_EXACTLY);
    wire_set(record, PATH_RECORD_MTU, forward.quality.mtu);
    wire_set(record, PATH_RECORD_RATE_SELECTOR, SELECT_EXACTLY);
    wire_set(record, PATH_RECORD_RATE, forward.quality.rate);
    wire_set(record, PATH_RECORD_PACKET_LIFE_TIME_SELECTOR, SELECT_EXACTLY);
    wire_set(record, PATH_RECORD_PACKET_LIFE_TIME, forward.life);
    wire_set(record, PATH_RECORD_PREFERENCE, preference);
    return true;
}

/* ---- a pair of end points ---- */

/* Adds the path with the LIDs of the engine in both directions, unless the query has other LIDs. */
static unsigned add_renamed(const struct sa *sa, const struct path_criteria *criteria,
                            struct pair *pair, struct answer *answer)
{
    const struct routes *routes = sa->view.routes;
    uint32_t from = pair->from.point, to = pair->to.point;
    struct path back = path_lookup(routes, sa->view.network, to, from);
    pair->slid = back.dlid ? back.dlid : pair->from.lid;
    pair->dlid = path_lookup(routes, sa->view.network, from, to).dlid;
    if (!pair->dlid || (criteria->dlid && criteria->dlid != pair->dlid) ||
        (criteria->slid && criteria->slid != pair->slid))
        return 0;
    return add_path(sa, criteria, pair, PREFER_MOST, answer);
}

static unsigned add_pair(const struct sa *sa, const struct path_criteria *criteria, uint32_t source,
                         uint32_t destination, struct answer *answer)
{
    struct pair pair = {.from = end_of(sa, source), .to = end_of(sa, destination)};
    const struct end *from = &pair.from, *to = &pair.to;
    unsigned found = 0;
    if (!from->lid || !to->lid || !access_may_see(sa, criteria->requester, from->guid) ||
        !access_may_see(sa, criteria->requester, to->guid) ||
        !access_common_key(sa, from->guid, to->guid) || !criteria->most)
        return 0;
    if (sa->view.routes->offsets)
        return add_renamed(sa, criteria, &pair, answer);
    unsigned slids = criteria->slid ? 1 : 1u << from->lmc;
    unsigned dlids = criteria->dlid ? 1 : 1u << to->lmc;
    unsigned slid = criteria->slid ? criteria->slid : from->lid;
    unsigned dlid = criteria->dlid ? criteria->dlid : to->lid;
    for (unsigned i = 0; i < slids && i < dlids && found < criteria->most; i++) {
        pair.slid = slid + i;
        pair.dlid = dlid + i;
        found += add_path(sa, criteria, &pair, PREFER_MOST, answer);
    }
    for (unsigned i = 0; i < slids; i++)
        for (unsigned j = 0; j < dlids && found < criteria->most; j++) {
            pair.slid = slid + i;
            pair.dlid = dlid + j;
            if (i != j)
                found += add_path(sa, criteria, &pair, PREFER_LEAST, answer);
        }
    return found;
}

/* ---- other subnets ---- */

static bool is_far(const struct sa *sa, const uint8_t *gid)
{
    return *gid != 0xFF && gid_prefix(gid) && !sa_is_local_prefix(sa, gid_prefix(gid));
}

static bool has_router(const struct sa *sa, const uint8_t *gid)
{
    return prefix_routes_choose(sa->view.subnet, gid_prefix(gid), 0) != SUBNET_NONE;
}

/* Adds a path by each of the routers for the prefix of the GID. */
static unsigned add_far_pair(const struct sa *sa, const struct path_criteria *wanted,
                             uint32_t source, const uint8_t *gid, struct answer *answer)
{
    uint32_t ports[PREFIX_CHOICES];
    struct path_criteria criteria = *wanted;
    uint8_t weight;
    unsigned found = 0, count = prefix_routes_find(sa->view.subnet, gid_prefix(gid), SUBNET_NONE,
                                                   ports, &weight);
    uint64_t flow = router_flow(path_index_guid(sa, source), gid_guid(gid));
    criteria.far_gid = gid;
    for (unsigned subnets = 1; subnets < weight + 1u; subnets *= 2)
        criteria.far_life++;
    for (unsigned i = 0; i < count && found < wanted->most; i++) {
        uint32_t port = ports[(flow + i) % count];
        uint32_t router = sa_end_point_at(sa, sa->view.subnet->ports.items[port].lid);
        criteria.most = wanted->most == UINT32_MAX ? UINT32_MAX : wanted->most - found;
        if (router != NETWORK_NONE)
            found += add_pair(sa, &criteria, source, router, answer);
        answer->considered++;
    }
    return found;
}

/* ---- end points of a query ---- */

/* End points; NETWORK_NONE: any. */
struct ends {
    uint32_t source, destination;
};

static uint32_t by_gid(const struct sa *sa, const uint8_t *gid)
{
    return sa_is_local_prefix(sa, gid_prefix(gid)) ? sa_find_end_point(sa, gid_guid(gid))
                                                   : NETWORK_NONE;
}

static uint16_t find_end(const struct sa *sa, const struct query *query, bool source,
                         uint32_t *point)
{
    const uint8_t *data = query_data(query);
    const uint8_t *gid = wire_bytes_const(data, source ? PATH_RECORD_SGID : PATH_RECORD_DGID);
    *point = NETWORK_NONE;
    if (query_has(query, source ? PATH_SLID : PATH_DLID)) {
        *point = sa_end_point_at(
            sa, (unsigned)wire_get(data, source ? PATH_RECORD_SLID : PATH_RECORD_DLID));
        if (*point == NETWORK_NONE)
            return STATUS_SA_NO_RECORDS;
    }
    if (!query_has(query, source ? PATH_SGID : PATH_DGID))
        return STATUS_OK;
    uint32_t same = by_gid(sa, gid);
    if (same == NETWORK_NONE)
        return STATUS_SA_BAD_GID;
    if (*point != NETWORK_NONE && *point != same)
        return STATUS_SA_NO_RECORDS; /* the LID belongs to another port */
    *point = same;
    return STATUS_OK;
}

static uint16_t find_ends(const struct sa *sa, const struct query *query, struct ends *ends)
{
    uint16_t status = find_end(sa, query, true, &ends->source);
    return status ? status : find_end(sa, query, false, &ends->destination);
}

static bool is_multicast(const struct query *query)
{
    return query_has(query, PATH_DGID) &&
           *wire_bytes_const(query_data(query), PATH_RECORD_DGID) == 0xFF;
}

/* ---- paths to a group ---- */

static bool matches_group(const struct sa *sa, const struct query *query, const struct group *group)
{
    const uint8_t *data = query_data(query);
    uint32_t source;
    const struct {
        unsigned bit;
        enum wire_field field;
        uint64_t value;
    } same[] = {
        {PATH_DLID, PATH_RECORD_DLID, group->mlid},
        {path_places.p_key.bit, PATH_RECORD_P_KEY, group->p_key},
        {path_places.sl.bit, PATH_RECORD_SL, group->sl},
        {PATH_FLOW_LABEL, PATH_RECORD_FLOW_LABEL, group->flow_label},
        {PATH_HOP_LIMIT, PATH_RECORD_HOP_LIMIT, group->hop_limit},
        {PATH_TRAFFIC_CLASS, PATH_RECORD_TRAFFIC_CLASS, group->traffic_class},
    };
    for (size_t i = 0; i < sizeof same / sizeof *same; i++)
        if (query_has(query, same[i].bit) && wire_get(data, same[i].field) != same[i].value)
            return false;
    if (find_end(sa, query, true, &source))
        return false;
    const uint8_t *gid = wire_bytes_const(data, PATH_RECORD_SGID);
    return source == NETWORK_NONE ||
           group_find_member(group, query_has(query, PATH_SGID) ? gid_guid(gid)
                                                                : path_index_guid(sa, source));
}

static uint16_t add_group_path(const struct sa *sa, const struct query *query,
                               struct answer *answer)
{
    const uint8_t *data = query_data(query);
    const struct group *group = groups_find_requested(sa, wire_bytes_const(data, PATH_RECORD_DGID));
    if (!group || !access_may_see_group(sa, query, group) || !matches_group(sa, query, group))
        return STATUS_OK; /* without a record */
    uint8_t *record = answer_add(answer);
    memcpy(record, data, WIRE_BYTES_PATH_RECORD);
    wire_set(record, PATH_RECORD_DLID, group->mlid);
    wire_set(record, PATH_RECORD_TRAFFIC_CLASS, group->traffic_class);
    wire_set(record, PATH_RECORD_FLOW_LABEL, group->flow_label);
    wire_set(record, PATH_RECORD_HOP_LIMIT, group->scope == 2 ? group->hop_limit : 0xFF);
    wire_set(record, PATH_RECORD_REVERSIBLE, 0);
    wire_set(record, PATH_RECORD_NUMB_PATH, 1);
    wire_set(record, PATH_RECORD_P_KEY, group->p_key);
    wire_set(record, PATH_RECORD_QOS_CLASS, 0);
    wire_set(record, PATH_RECORD_SL, group->sl);
    wire_set(record, PATH_RECORD_MTU_SELECTOR, SELECT_EXACTLY);
    wire_set(record, PATH_RECORD_MTU, group->mtu);
    wire_set(record, PATH_RECORD_RATE_SELECTOR, SELECT_EXACTLY);
    wire_set(record, PATH_RECORD_RATE, group->rate);
    wire_set(record, PATH_RECORD_PACKET_LIFE_TIME_SELECTOR, SELECT_EXACTLY);
    wire_set(record, PATH_RECORD_PACKET_LIFE_TIME, group->life_time);
    return STATUS_OK;
}

/* ---- queries ---- */

/* `wanted` is one end point, or NETWORK_NONE for all of them: terminals first, then switches. */
static uint32_t end_point_count(const struct network *network, uint32_t wanted)
{
    return wanted == NETWORK_NONE ? (uint32_t)(network->terminals.count + network->switches.count)
                                  : 1;
}

static uint32_t end_point_at(const struct network *network, uint32_t wanted, uint32_t number)
{
    uint32_t terminals = (uint32_t)network->terminals.count;
    assert(number < end_point_count(network, wanted));
    if (wanted != NETWORK_NONE)
        return wanted;
    return number < terminals ? number : (number - terminals) | NETWORK_SWITCH;
}

bool path_query_is_long(const struct sa *sa, const struct query *query)
{
    struct ends ends;
    if (query_method(query) == METHOD_GET || is_multicast(query) || find_ends(sa, query, &ends))
        return false;
    return ends.source == NETWORK_NONE || ends.destination == NETWORK_NONE;
}

bool long_query_continue(struct sa *sa, struct long_query *query)
{
    const struct network *network = sa->view.network;
    struct path_criteria criteria;
    struct ends ends;
    assert(query->open);
    if (query->generation != sa->view.generation) {
        query->generation = sa->view.generation;
        query->source = query->destination = 0;
        query->answer.used = SA_DATA_OFFSET;
        query->answer.count = 0;
    }
    if (find_ends(sa, &query->query, &ends))
        return true; /* its port is no longer in the network */
    read_criteria(sa, &query->query, &criteria);
    uint32_t sources = end_point_count(network, ends.source);
    uint32_t destinations = end_point_count(network, ends.destination);
    for (; query->destination < destinations; query->destination++, query->source = 0)
        for (; query->source < sources; query->source++) {
            if (sa->budget-- <= 0 && !query->answer.over)
                return false;
            if (query->answer.over)
                return true;
            add_pair(sa, &criteria, end_point_at(network, ends.source, query->source),
                     end_point_at(network, ends.destination, query->destination), &query->answer);
        }
    return true;
}

uint16_t path_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    const struct network *network = sa->view.network;
    struct path_criteria criteria;
    struct ends ends;
    if (is_multicast(query))
        return add_group_path(sa, query, answer);
    const uint8_t *gid = wire_bytes_const(query_data(query), PATH_RECORD_DGID);
    bool far = query_has(query, PATH_DGID) && is_far(sa, gid);
    uint16_t status = far ? find_end(sa, query, true, &ends.source) : find_ends(sa, query, &ends);
    /* An empty table is not an error. */
    if (status)
        return status == STATUS_SA_NO_RECORDS ? STATUS_OK : status;
    read_criteria(sa, query, &criteria);
    if (far && !has_router(sa, gid))
        return STATUS_SA_BAD_GID;
    if (far && ends.source == NETWORK_NONE)
        return STATUS_SA_TOO_FEW_COMPONENTS;
    if (far) {
        add_far_pair(sa, &criteria, ends.source, gid, answer);
        return STATUS_OK;
    }
    if (ends.source != NETWORK_NONE && ends.destination != NETWORK_NONE) {
        unsigned most = criteria.most;
        criteria.most = most > 1 ? UINT32_MAX : most;
        add_pair(sa, &criteria, ends.source, ends.destination, answer);
        path_order(sa, answer, most);
        return STATUS_OK;
    }
    /* A Get that names one end or none returns the first path found. */
    uint32_t sources = end_point_count(network, ends.source);
    uint32_t destinations = end_point_count(network, ends.destination);
    for (uint32_t tried = 0; tried < sources + destinations; tried++) {
        answer->considered++;
        if (add_pair(sa, &criteria, end_point_at(network, ends.source, tried % sources),
                     end_point_at(network, ends.destination, tried % destinations), answer))
            break;
    }
    return STATUS_OK;
}

uint16_t multi_path_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    const uint8_t *data = query_data(query);
    unsigned sources = (unsigned)wire_get(data, MULTI_PATH_RECORD_SGID_COUNT);
    unsigned destinations = (unsigned)wire_get(data, MULTI_PATH_RECORD_DGID_COUNT);
    struct path_criteria criteria;
    if (!query_has(query, MULTI_SGID_COUNT) || !query_has(query, MULTI_DGID_COUNT))
        return STATUS_SA_TOO_FEW_COMPONENTS;
    size_t room = (query->bytes < MAD_BYTES ? MAD_BYTES : query->bytes) - SA_DATA_OFFSET -
                  WIRE_BYTES_MULTI_PATH_RECORD;
    if (!sources || !destinations || (sources + destinations) * GID_BYTES > room)
        return STATUS_SA_BAD_REQUEST;
    if (sources * destinations > MULTI_PAIRS)
        return STATUS_SA_NO_RESOURCES;
    const uint8_t *gids = data + WIRE_BYTES_MULTI_PATH_RECORD;
    for (unsigned i = 0; i < sources + destinations; i++)
        if (by_gid(sa, gids + i * GID_BYTES) == NETWORK_NONE &&
            (i < sources || !is_far(sa, gids + i * GID_BYTES) ||
             !has_router(sa, gids + i * GID_BYTES)))
            return STATUS_SA_BAD_GID;
    read_criteria(sa, query, &criteria);
    unsigned most = criteria.most;
    bool ordered = most > 1 && sources * destinations <= ORDERED_PAIRS;
    if (ordered)
        criteria.most = UINT32_MAX;
    for (unsigned i = 0; i < sources; i++)
        for (unsigned j = 0; j < destinations && criteria.most && !answer->over; j++) {
            const uint8_t *from = gids + i * GID_BYTES, *to = gids + (sources + j) * GID_BYTES;
            criteria.source_guid = gid_guid(from);
            criteria.destination_guid = gid_guid(to);
            unsigned found =
                is_far(sa, to) ? add_far_pair(sa, &criteria, by_gid(sa, from), to, answer)
                               : add_pair(sa, &criteria, by_gid(sa, from), by_gid(sa, to), answer);
            answer->considered++;
            criteria.most -= criteria.most == UINT32_MAX ? 0 : found;
        }
    if (ordered)
        path_order(sa, answer, most);
    return STATUS_OK;
}

/* ---- the nodes along a path ---- */

static void add_step(const struct sa *sa, struct answer *answer, unsigned kind, uint64_t guid,
                     unsigned entry, unsigned exit, uint64_t entry_guid, uint64_t exit_guid)
{
    uint8_t *record = answer_add(answer);
    wire_set(record, TRACE_RECORD_GID_PREFIX, sa->config.prefix);
    wire_set(record, TRACE_RECORD_NODE_TYPE, kind);
    wire_set(record, TRACE_RECORD_NODE_ID, guid);
    wire_set(record, TRACE_RECORD_ENTRY_PORT_ID, entry_guid);
    wire_set(record, TRACE_RECORD_EXIT_PORT_ID, exit_guid);
    wire_set(record, TRACE_RECORD_ENTRY_PORT, entry);
    wire_set(record, TRACE_RECORD_EXIT_PORT, exit);
}

static void add_terminal_step(const struct sa *sa, struct answer *answer, uint32_t terminal,
                              bool leaving)
{
    const struct subnet *subnet = sa->view.subnet;
    uint64_t guid = sa->view.network->terminals.items[terminal].guid;
    uint32_t port = sa_port_at(sa, sa->view.network->terminals.items[terminal].lid);
    if (port == SUBNET_NONE)
        return;
    unsigned number = subnet->ports.items[port].number;
    add_step(sa, answer, SUBNET_ADAPTER, subnet->nodes.items[subnet->ports.items[port].node].guid,
             leaving ? 0 : number, leaving ? number : 0, leaving ? 0 : guid, leaving ? guid : 0);
}

uint16_t trace_records(struct sa *sa, const struct query *query, struct answer *answer)
{
    const struct network *network = sa->view.network;
    struct path_quality quality;
    struct ends ends;
    uint16_t status = find_ends(sa, query, &ends);
    if (status)
        return status;
    if (ends.source == NETWORK_NONE || ends.destination == NETWORK_NONE)
        return STATUS_SA_TOO_FEW_COMPONENTS;
    if (!access_may_see(sa, access_requester(sa, query), path_index_guid(sa, ends.source)) ||
        !access_may_see(sa, access_requester(sa, query), path_index_guid(sa, ends.destination)))
        return STATUS_SA_NO_RECORDS;
    unsigned dlid = query_has(query, PATH_DLID)
                        ? (unsigned)wire_get(query_data(query), PATH_RECORD_DLID)
                        : path_lookup(sa->view.routes, network, ends.source, ends.destination).dlid;
    if (!path_index_follow(sa, ends.source, ends.destination, dlid, &quality))
        return STATUS_SA_NO_RECORDS;
    uint32_t at = ends.source;
    unsigned entry = 0;
    if (!(at & NETWORK_SWITCH)) {
        add_terminal_step(sa, answer, at, true);
        entry = network->terminals.items[at].port;
        at = network->terminals.items[at].at == NETWORK_NONE
                 ? ends.destination
                 : network->terminals.items[at].at | NETWORK_SWITCH;
    }
    while (at & NETWORK_SWITCH && ends.source != ends.destination) {
        const struct network_switch *here = &network->switches.items[at & ~NETWORK_SWITCH];
        unsigned port =
            at == ends.destination ? 0 : routes_port(sa->view.routes, at & ~NETWORK_SWITCH, dlid);
        add_step(sa, answer, SUBNET_SWITCH, here->guid, entry, port, here->guid, here->guid);
        if (at == ends.destination)
            return STATUS_OK;
        entry = network->ports.items[here->first_port + port].peer_port;
        at = network_leads_to(network, at & ~NETWORK_SWITCH, port, ends.destination)
                 ? ends.destination
                 : network->ports.items[here->first_port + port].peer;
    }
    if (ends.source != ends.destination)
        add_terminal_step(sa, answer, at, false);
    return STATUS_OK;
}
