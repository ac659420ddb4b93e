/* What the hostile programs in C share: protocol 1 as far as they need it, by string search, and a
 * way to tell what they tried and what came of it.
 *
 * A program says hello and does its evil in `on_turn`. The last word of every command line is a mark
 * that nobody reads: the test looks for it among the processes that are left. */
#ifndef BOT_H
#define BOT_H
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MEGABYTE (1024L * 1024L)

typedef struct {
    int number;       /* of the turns of this process, from 1 */
    char id[24];      /* as it came */
    char move[24];    /* the first legal one, as it came */
    const char *line; /* all that came */
} Turn;

static inline double now_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* One attempt, as a line of JSON on stderr: whether it was done, how much of it, and why not. */
static inline void tell(const char *attempt, bool done, long count) {
    const char *why = done ? "" : strerror(errno);
    dprintf(2, "{\"attempt\":\"%s\",\"done\":%s,\"count\":%ld,\"why\":\"%s\"}\n", attempt,
            done ? "true" : "false", count, why);
}

/* An attempt that is done where a system call does not fail. */
static inline void tell_call(const char *attempt, long result) { tell(attempt, result >= 0, 0); }

static inline void say(const char *text) {
    size_t left = strlen(text);
    while (left) {
        ssize_t sent = write(1, text, left);
        if (sent < 0) return;
        text += sent;
        left -= (size_t)sent;
    }
}

static inline void answer(const Turn *turn) {
    char text[96];
    snprintf(text, sizeof text, "{\"id\":%s,\"move\":%s}\n", turn->id, turn->move);
    say(text);
}

/* Copies what stands from here to one of the ends. */
static inline void copy_until(char *to, size_t size, const char *from, const char *ends) {
    size_t length = strcspn(from, ends);
    if (length >= size) length = size - 1;
    memcpy(to, from, length);
    to[length] = 0;
}

static inline void read_turn(Turn *turn, const char *line) {
    const char *id = strstr(line, "\"id\":"), *legal = strstr(line, "\"legal\":[");
    turn->number++;
    turn->line = line;
    copy_until(turn->id, sizeof turn->id, id ? id + 5 : "0", ",}");
    copy_until(turn->move, sizeof turn->move, legal ? legal + 9 : "0", ",]");
}

/* Talks until the referee says bye or hangs up. */
static inline int serve(const char *hello, void (*on_turn)(const Turn *)) {
    static char in[1 << 18];
    size_t held = 0;
    Turn turn = {0};
    for (;;) {
        ssize_t got = read(0, in + held, sizeof in - held - 1);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return 0;
        held += (size_t)got;
        in[held] = 0;
        char *line = in, *end;
        while ((end = strchr(line, '\n'))) {
            *end = 0;
            if (!strncmp(line, "{\"type\":\"hello\"", 15)) say(hello);
            if (!strncmp(line, "{\"type\":\"bye\"", 13)) return 0;
            if (!strncmp(line, "{\"type\":\"turn\"", 14)) {
                read_turn(&turn, line);
                on_turn(&turn);
            }
            line = end + 1;
        }
        held = (size_t)(in + held - line);
        memmove(in, line, held);
    }
}

#define HELLO "{\"type\":\"hello\",\"name\":\"hostile\"}\n"

#endif
