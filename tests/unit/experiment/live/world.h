/* A session of weft live without sockets, to which a test sends commands. It does not move by
 * itself. */
#ifndef WEFT_TESTS_EXPERIMENT_LIVE_WORLD_H
#define WEFT_TESTS_EXPERIMENT_LIVE_WORLD_H

#include "base/time.h"
#include "experiment/live/live.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static inline uint64_t wall_ns(void)
{
    static uint64_t now;
    return now += NS_PER_US;
}

struct world {
    struct live live;
    struct text out, export;
};

static inline struct world *begin(const char *text)
{
    struct world *world = mem_zalloc(1, sizeof *world);
    struct err err = {0};
    const struct live_options options = {.name = "x.weft",
                                         .text = text,
                                         .pace = 0.001,
                                         .listen = "0",
                                         .version = "test",
                                         .settle = true,
                                         .paused = true,
                                         .clock_ns = wall_ns};
    if (live_begin(&world->live, &options, &err))
        fail_msg("%s", err.message);
    return world;
}

static inline void end(struct world *world)
{
    live_end(&world->live);
    text_release(&world->out);
    text_release(&world->export);
    mem_free(world);
}

/* `line` has words separated by blanks; `at` and `json` as the client chooses. */
static inline int ask(struct world *world, enum live_socket at, const char *line, bool json)
{
    struct control_request request = {.json = json};
    struct control_reply reply = {0};
    snprintf(request.text, sizeof request.text - 1, "%s", line);
    for (char *c = request.text; *c; c++)
        if (*c == ' ')
            *c = 0;
    for (const char *c = request.text; *c && request.count < CONTROL_WORDS; c += strlen(c) + 1)
        request.words[request.count++] = c;
    live_ctl_run(&world->live, at, &request, &reply);
    struct control_answer *answer = &reply.answer;
    if (answer->data)
        answer->print(answer->data, json, &answer->text);
    text_clear(&world->out);
    text_append(&world->out, answer->text.length ? answer->text.data : "", answer->text.length);
    control_answer_release(answer);
    return reply.result;
}

static inline void assert_says(struct world *world, enum live_socket at, const char *line,
                               bool json, const char *part)
{
    if (ask(world, at, line, json) < 0 || !world->out.data || !strstr(world->out.data, part))
        fail_msg("%s: expected %s in\n%s", line, part, world->out.data ? world->out.data : "");
}

static inline const char *exported(struct world *world)
{
    text_clear(&world->export);
    live_session_export(&world->live.session, true, &world->export);
    return world->export.data;
}

static inline void pass(struct world *world, uint64_t ps)
{
    live_advance(&world->live, live_session_now(&world->live.session) + ps);
}

#endif
