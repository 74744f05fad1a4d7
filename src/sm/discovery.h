/* What the files of discovery share and nobody else sees.
 *
 *   discovery.c         how far it has come, and where it goes on
 *   discovery_read.c    the questions
 *   discovery_learn.c   what the answers mean
 *   discovery_faults.c  silence, flapping ports, doubtful answers */
#ifndef WEFT_SM_DISCOVERY_H
#define WEFT_SM_DISCOVERY_H

#include "sm/internal.h"

struct explored_port {
    bool reading, probing; /* a request is under way */
    bool avoided;   /* it refused something or did not answer: left alone until the next sweep */
    bool throttled; /* runs below what both ends can do, and that was said */
    uint64_t suspected; /* until then it is not looked at again because of somebody behind it */
    uint8_t silences;   /* of the manager's own adapter: times that it was met in vain */
    uint8_t flaps;      /* times it came back since `flaps_since` */
    uint64_t flaps_since, damped_until;
    uint64_t fenced;    /* the GUID behind it that is somewhere else, too, as was said; 0: none */
    uint32_t contender; /* whoever is behind it was seen behind that port, too; 0: it was not */
};

struct explored_node {
    uint32_t reading; /* requests under way */
    bool reading_switch, described;
    bool keeps_change;     /* does not let a port change be acknowledged, and that was said */
    uint8_t silences;      /* how often it was met and left an answer out since all was well … */
    uint64_t silent_until; /* … and is not met again */
};

struct discovery {
    uint32_t outstanding;   /* requests under way that it waits for */
    VEC(uint32_t) frontier; /* ports to be asked through, in breadth- and depth-first order */
    bool paths_lost;        /* a link or node went since paths were last found */
    uint64_t explore_at;    /* when everything is explored at the latest; TIME_NEVER: it is not */
    VEC(struct explored_port) ports; /* beside the subnet's */
    VEC(struct explored_node) nodes;
};

/* discovery.c */
struct explored_port *explored_port(struct sm *sm, uint32_t port);
struct explored_node *explored_node(struct sm *sm, uint32_t node);
void discovery_probe(struct sm *sm, uint32_t port);

/* discovery_read.c */
void discovery_ask_through(struct sm *sm, uint32_t port); /* who is behind it */
void discovery_press_port(struct sm *sm, uint32_t port);
void discovery_read_ports(struct sm *sm, uint32_t node);
void discovery_read_tables(struct sm *sm, uint32_t node);
void discovery_read_description(struct sm *sm, uint32_t node, uint32_t end);

/* discovery_learn.c */
void discovery_learn_node(struct sm *sm, uint64_t now, uint32_t through, const uint8_t *data);
void discovery_learn_port(struct sm *sm, uint64_t now, uint32_t port, const uint8_t *data);
void discovery_learn_switch_info(struct sm *sm, uint32_t node, const uint8_t *data);

/* discovery_faults.c */
void discovery_suspect_switch(struct sm *sm, uint64_t now, uint32_t node);
void faults_note_silence(struct sm *sm, uint64_t now, uint32_t node);
void faults_leave_alone(struct sm *sm, uint64_t now, uint32_t end);
void faults_report_refused_probe(struct sm *sm, uint32_t through, uint16_t status);
void faults_report_refused_read(struct sm *sm, const struct request *request, uint16_t status);
void faults_note_flap(struct sm *sm, uint64_t now, uint32_t port);
void faults_fence_off(struct sm *sm, uint32_t through, uint64_t guid);
bool faults_contest(struct sm *sm, uint32_t through, uint32_t far);
void faults_decide(struct sm *sm, uint32_t port);
void faults_contradict(struct sm *sm, uint32_t through);
#endif
