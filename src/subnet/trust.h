/* Trust between managers.
 *
 * A manager is a peer if its port is allowed (allowed_sm_guids) and it holds the SM_Key. An SM_Key
 * of 0 or 1 (OpenSM's default) is not a secret: it is shown to everybody, since OpenSM ignores
 * managers that show another key or none, and a manager that shows no key is a peer too. A manager
 * shows a secret key only to managers that hold it. Each Get(SMInfo) carries a nonce in bytes that
 * the specification reserves, and a peer answers it with an HMAC of the nonce and its SMInfo. So
 * the key itself is sent only in Set(SMInfo) to a peer that has proved that it holds the key, and
 * in the answer to a request that contains the key. SMInfo is used because adapters answer all
 * other SMPs in firmware.
 *
 * A proof covers the GUID of the port that it is for: it is not valid for another port. */
#ifndef WEFT_SUBNET_TRUST_H
#define WEFT_SUBNET_TRUST_H

#include "wire/codec.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { KEY_WELL_KNOWN = 1 }; /* OpenSM's default of sm_key and sa_key */

struct trust {
    uint64_t sm_key;
    uint64_t salt;           /* random, chosen once per run: nonces do not repeat after a restart */
    const uint64_t *allowed; /* port GUIDs of managers; all are allowed if there is none */
    size_t allowed_count;
};

enum trust_verdict {
    TRUST_PEER,
    TRUST_NOT_ALLOWED, /* allowed_sm_guids does not name its port */
    TRUST_OTHER_GUID,  /* it claims the GUID of another port */
    TRUST_OTHER_KEY,   /* it shows another SM_Key */
    TRUST_NO_KEY,      /* it shows no key and does not prove that it has ours */
};
const char *trust_reason(enum trust_verdict verdict); /* "it shows another SM_Key" */

bool key_is_secret(uint64_t key);

/* SMInfo is SMP_DATA_BYTES long. `count` differs in each request. */
void trust_seal_request(const struct trust *trust, uint64_t to_guid, uint64_t count, uint8_t *info);
/* True if the sender of this request has proved that it holds a secret key. */
bool trust_request_is_sealed(const struct trust *trust, uint64_t own_guid, const uint8_t *info);
/* Answers the nonce of the request, and shows the key to a requester that shows it. */
void trust_seal_answer(const struct trust *trust, uint64_t own_guid, const uint8_t *request,
                       uint8_t *answer);
enum trust_verdict trust_judge_answer(const struct trust *trust, uint64_t port_guid,
                                      const uint8_t *request, const uint8_t *answer);
/* Of the sender of a Set(SMInfo), which names its port in the SMInfo. */
enum trust_verdict trust_judge_set(const struct trust *trust, const uint8_t *info);

/* The proof that the sender of `bytes` holds the key, for one nonce. `label` separates the uses. */
enum { TRUST_PROOF_BYTES = 16 };
void trust_prove(uint64_t key, const char *label, uint64_t nonce, const void *bytes, size_t count,
                 uint8_t proof[TRUST_PROOF_BYTES]);

#endif
