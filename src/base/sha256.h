/* SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), for proofs that a peer holds a key. */
#ifndef WEFT_BASE_SHA256_H
#define WEFT_BASE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_BLOCK = 64 };

struct sha256 {
    uint32_t state[8];
    uint64_t bytes;                /* hashed so far */
    uint8_t pending[SHA256_BLOCK]; /* the last, incomplete block */
};
void sha256_init(struct sha256 *hash);
void sha256_add(struct sha256 *hash, const void *data, size_t bytes);
void sha256_end(struct sha256 *hash, uint8_t digest[SHA256_BYTES]);

struct hmac {
    struct sha256 inner;
    uint8_t outer_pad[SHA256_BLOCK];
};
void hmac_init(struct hmac *hmac, const void *key, size_t key_bytes);
void hmac_add(struct hmac *hmac, const void *data, size_t bytes);
void hmac_add_u64(struct hmac *hmac, uint64_t value); /* big endian */
void hmac_end(struct hmac *hmac, uint8_t digest[SHA256_BYTES]);

/* Compares secrets in constant time. */
bool secret_equal(const void *a, const void *b, size_t bytes);

#endif
