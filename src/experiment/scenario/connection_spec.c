/* Reads `connection FROM to TO [service rc|uc|ud] [op send|write|read] [message BYTES]
 * [messages N | saturated] [outstanding N] [timeout T] [retry N] [alternate auto|LID]
 * [setup given|cm] [every TIME | load SHARE | rate BYTES] [q-key KEY] [p-key KEY]`, and `connect
 * all PATTERN` with the same settings. */
#include "experiment/scenario/connection_spec.h"

#include "base/time.h"

const char *const connection_service_names[] = {"rc", "uc", "ud"};
const char *const connection_operation_names[] = {
    [SPEC_SEND] = "send",
    [SPEC_WRITE] = "write",
    [SPEC_READ] = "read",
    [SPEC_SEND_IMMEDIATE] = "send-imm",
    [SPEC_WRITE_IMMEDIATE] = "write-imm",
    [SPEC_COMPARE_SWAP] = "compare-swap",
    [SPEC_FETCH_ADD] = "fetch-add",
};

enum { TIMEOUT = 14, RETRY = 7, MESSAGE = 4096, SATURATED = 16, OUTSTANDING_MOST = 1024 };

enum key {
    KEY_SERVICE,
    KEY_OP,
    KEY_MESSAGE,
    KEY_MESSAGES,
    KEY_SATURATED,
    KEY_OUTSTANDING,
    KEY_TIMEOUT,
    KEY_RETRY,
    KEY_ALTERNATE,
    KEY_SETUP,
    KEY_EVERY,
    KEY_LOAD,
    KEY_RATE,
    KEY_Q_KEY,
    KEY_P_KEY,
    KEY_RECONNECT,
    KEYS
};
static const char *const keys[KEYS] = {"service",   "op",          "message", "messages",
                                       "saturated", "outstanding", "timeout", "retry",
                                       "alternate", "setup",       "every",   "load",
                                       "rate",      "q-key",       "p-key",   "reconnect"};

void alternate_spec_read(struct alternate_spec *alternate, struct cursor *cursor)
{
    enum { LID_MOST = 0xBFFF };
    *alternate = (struct alternate_spec){.wanted = true};
    if (!cursor_accept(cursor, "auto"))
        cursor_take_number(cursor, "'auto' or a LID", 1, LID_MOST, &alternate->lid);
}

static void read_key(struct connection_spec *spec, enum key key, struct cursor *cursor)
{
    switch (key) {
    case KEY_SERVICE:
        cursor_take_choice(cursor, "service", connection_service_names, 3, &spec->service);
        break;
    case KEY_OP:
        cursor_take_choice(cursor, "operation", connection_operation_names, SPEC_OPERATIONS,
                           &spec->operation);
        break;
    case KEY_MESSAGE:
        cursor_take_number(cursor, "a message in bytes", 1, UINT64_C(1) << 31,
                           &spec->message_bytes);
        break;
    case KEY_MESSAGES:
        cursor_take_number(cursor, "a number of messages", 1, UINT32_MAX, &spec->messages);
        break;
    case KEY_SATURATED: spec->messages = TIME_NEVER; break;
    case KEY_OUTSTANDING:
        cursor_take_number(cursor, "a number of messages", 1, OUTSTANDING_MOST, &spec->outstanding);
        break;
    case KEY_TIMEOUT:
        cursor_take_number(cursor, "an exponent of 4.096 us", 0, 31, &spec->timeout);
        break;
    case KEY_RETRY: cursor_take_number(cursor, "a number of retries", 0, 7, &spec->retry); break;
    case KEY_ALTERNATE: alternate_spec_read(&spec->alternate, cursor); break;
    case KEY_SETUP: {
        static const char *const setups[] = {[SETUP_GIVEN] = "given", [SETUP_CM] = "cm"};
        cursor_take_choice(cursor, "way to set up a connection", setups, 2, &spec->setup);
        break;
    }
    case KEY_EVERY: pace_read_value(&spec->pace, PACE_EVERY, cursor); break;
    case KEY_LOAD: pace_read_value(&spec->pace, PACE_LOAD, cursor); break;
    case KEY_RATE: pace_read_value(&spec->pace, PACE_RATE, cursor); break;
    case KEY_P_KEY: cursor_take_number(cursor, "a P_Key", 1, UINT16_MAX, &spec->p_key); break;
    case KEY_Q_KEY: cursor_take_number(cursor, "a Q_Key", 1, INT32_MAX, &spec->q_key); break;
    case KEY_RECONNECT: cursor_take_time(cursor, &spec->reconnect_ps); break;
    case KEYS: break;
    }
}

/* A setting of which one in the line may be given at most, beside `key`. */
static const char *contradiction(const bool given[KEYS], enum key key)
{
    bool paced = key == KEY_EVERY || key == KEY_LOAD || key == KEY_RATE;
    if ((key == KEY_MESSAGES && given[KEY_SATURATED]) ||
        (key == KEY_SATURATED && given[KEY_MESSAGES]))
        return "'messages' and 'saturated' exclude each other";
    if (!given[key] && paced && (given[KEY_EVERY] || given[KEY_LOAD] || given[KEY_RATE]))
        return "'every', 'load' and 'rate' exclude each other";
    return NULL;
}

static void read_settings(struct connection_spec *spec, struct cursor *cursor)
{
    bool given[KEYS] = {0};
    while (!cursor_is_done(cursor) && cursor->status == 0) {
        struct word word = cursor_next(cursor);
        unsigned key;
        if (cursor_take_choice(cursor, "setting of a connection", keys, KEYS, &key))
            return;
        const char *contradicts = contradiction(given, (enum key)key);
        if (given[key] || contradicts) {
            word_error(cursor, &word, contradicts ? contradicts : "'%.80s' is given twice",
                       word.text);
            return;
        }
        given[key] = true;
        read_key(spec, (enum key)key, cursor);
    }
    if (spec->operation >= SPEC_COMPARE_SWAP && !given[KEY_MESSAGE])
        spec->message_bytes = 8; /* of an atomic operation */
    if (!spec->outstanding)
        spec->outstanding =
            spec->messages == TIME_NEVER || spec->pace.kind > PACE_EVERY ? SATURATED : 1;
}

static struct connection_spec default_spec(unsigned pattern)
{
    return (struct connection_spec){.pattern = pattern,
                                    .message_bytes = MESSAGE,
                                    .messages = TIME_NEVER,
                                    .timeout = TIMEOUT,
                                    .retry = RETRY};
}

void connection_spec_read(struct connection_spec *spec, struct cursor *cursor)
{
    *spec = default_spec(CONNECT_ONE);
    cursor_take(cursor, "a host", &spec->from);
    cursor_take_exact(cursor, "to");
    cursor_take(cursor, "a host", &spec->to);
    read_settings(spec, cursor);
}

void connect_spec_read(struct connection_spec *spec, struct cursor *cursor)
{
    static const char *const patterns[] = {[CONNECT_PAIRS] = "pairs",
                                           [CONNECT_PERMUTATION] = "permutation",
                                           [CONNECT_ALL_TO_ALL] = "all-to-all",
                                           [CONNECT_INCAST] = "incast"};
    unsigned pattern = CONNECT_PAIRS;
    cursor_take_exact(cursor, "all");
    cursor_take_choice(cursor, "pattern", patterns, CONNECT_ONE, &pattern);
    *spec = default_spec(pattern);
    if (pattern == CONNECT_INCAST && cursor_accept(cursor, "to"))
        cursor_take(cursor, "a host", &spec->to);
    read_settings(spec, cursor);
}
