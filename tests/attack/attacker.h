/* The attacking host: its port, and how an attack sends requests and counts those that succeed. */
#ifndef WEFT_ATTACK_ATTACKER_H
#define WEFT_ATTACK_ATTACKER_H

#include "base/rng.h"
#include "wire/mad.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PREFIX UINT64_C(0xFE80000000000000)
enum { IN_BYTES = 64 << 20, WINDOW = 128 };

struct attacker {
    int port, agent, smp_agent;
    uint16_t own_lid, master_lid, standby_lid, victim_lid;
    uint64_t own_guid, master_guid, standby_guid, victim_guid;
    uint64_t own_m_key; /* the M_Key of the attacker's own port, or 0 */
    uint8_t *out, *in;
    uint32_t tid;
    uint64_t end_us, attempts, granted;
    struct rng rng;
};

uint64_t clock_us(void);
bool goes_on(const struct attacker *attacker);

/* ---- SA ---- */

/* Makes a query in `out` and returns its record. */
uint8_t *make_query(struct attacker *attacker, unsigned method, unsigned attribute, uint64_t mask);
void send_query(struct attacker *attacker, int timeout_ms);
/* Sends the query in `out` and waits for the response. Returns its status, or -1; `*bytes` is its
 * length, and `in` the response. */
int ask(struct attacker *attacker, size_t *bytes);
const uint8_t *response(const struct attacker *attacker);
/* Takes the responses that have arrived, and waits for one if there are `most` outstanding. Returns
 * the number of those with status 0. */
unsigned take_answers(struct attacker *attacker, unsigned *outstanding, unsigned most);
/* Sends requests of `make` until the time is over, and returns the number of those granted. */
uint64_t hoard(struct attacker *attacker, void (*make)(struct attacker *, unsigned number));
/* From now on the kernel passes the RMPP headers of the attacker's MADs as they are. */
void leave_rmpp(struct attacker *attacker);
void set_gid(uint8_t *gid, uint64_t prefix, uint64_t guid);

/* ---- SMPs ---- */

/* Makes an SMP that is routed by LID in `out` and returns its data. */
uint8_t *make_smp(struct attacker *attacker, unsigned method, unsigned attribute,
                  uint32_t modifier);
void send_smp(struct attacker *attacker, unsigned lid, int timeout_ms);

typedef void attack(struct attacker *attacker);
/* floods.c */
attack hoard_services, hoard_services_with_key, hoard_subscriptions, hoard_groups,
    hoard_proxy_groups, miss_services, scan_services, query_tables, query_path_tables,
    query_without_reading, query_tables_without_acknowledging, provoke_reports, forge_traps,
    send_own_traps, send_p_key_traps, flood_sm_info;
/* rmpp_attacks.c */
attack open_transfers, send_endless_transfer, send_malformed_segments;
/* intrusion.c */
attack register_own, register_for_victim, delete_of_victim, change_guids_of_victim, read_keys,
    query_with_grh, poll_as_standby, control_managers, guess_m_keys, use_own_m_key, outlast_lease,
    write_switches;

#endif
