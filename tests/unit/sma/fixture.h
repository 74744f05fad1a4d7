/* Fixtures of the tests of the agent. */
#ifndef WEFT_TESTS_SMA_FIXTURE_H
#define WEFT_TESTS_SMA_FIXTURE_H

#include "base/time.h"
#include "sma/sma.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

enum { SENDER = 77 }; /* source LID of requests */
enum { ADAPTER = 1, SWITCH = 2 };
enum { SWITCH_PORTS = 20, SWITCH_GUID = 0x1000, ADAPTER_GUID = 0x2000 };
/* Link support of every port: 1X and 4X, SDR to QDR, FDR to NDR. */
enum { WIDTHS = 3, SPEEDS = 7, SPEEDS_EXT = 15 };

struct sma_options plain_options(void);
void make_switch(struct sma *sma, const struct sma_options *options);
void make_adapter(struct sma *sma, unsigned ports, const struct sma_options *options);
/* The same with plain_options(). */
struct sma a_switch(void);
struct sma an_adapter(void); /* with two ports */

void smp_fill(uint8_t mad[MAD_BYTES], unsigned method, unsigned attribute, uint32_t modifier);
/* Sends a request to `port` and returns the status. `data` is the attribute, read and written. */
unsigned get_through(struct sma *sma, unsigned port, unsigned attribute, uint32_t modifier,
                     uint8_t data[SMP_DATA_BYTES]);
unsigned set_through(struct sma *sma, unsigned port, unsigned attribute, uint32_t modifier,
                     uint8_t data[SMP_DATA_BYTES]);
/* The same with an M_Key and a time. True if the agent answers; then *status is set. */
bool request(struct sma *sma, uint64_t now, unsigned port, uint64_t key, unsigned method,
             unsigned attribute, uint32_t modifier, uint8_t data[SMP_DATA_BYTES], unsigned *status);

/* Sets one field of PortInfo and leaves the others unchanged. */
unsigned set_port_field(struct sma *sma, unsigned port, enum wire_field field, uint64_t value);
uint64_t port_field(const struct sma *sma, unsigned port, enum wire_field field);
/* Takes a port from Down to Init, as the physical layer does. */
void link_up(struct sma *sma, unsigned port);
/* Sets the LIDs of the end port and of its manager. */
void set_lids(struct sma *sma, unsigned port, unsigned lid, unsigned manager);

/* The notice of the next output, which must be a trap. */
const uint8_t *next_trap(struct sma *sma, uint64_t now, struct sma_output *output);
void no_output(struct sma *sma, uint64_t now);

#endif
