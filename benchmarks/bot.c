/* A bot that does as little as a legal bot can: one of the legal moves, at random, for every turn.
 * It answers all the turns of a read in one write, and takes 64 games at once. No JSON library:
 * it looks for the two fields it needs, which protocol 1 writes in a fixed order.
 *
 *     bot [GAMES_AT_ONCE [BURN_US [stateless]]]
 *
 * With BURN_US it uses that much CPU time for every move, as a bot does that thinks. With a third
 * word it says that it is stateless: which random numbers it gets makes no difference here. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char in[1 << 18], out[1 << 16];
static uint64_t state = 88172645463325252ULL;

static long burn_us;
static const char *stateless = "false";

static long cpu_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static void think(void) {
    for (long until = cpu_us() + burn_us; cpu_us() < until;) {}
}

static unsigned below(unsigned count) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state % count);
}

static size_t answer(const char *line, const char *end, char *to, const char *games) {
    if (!strncmp(line, "{\"type\":\"hello\"", 15))
        return (size_t)sprintf(
            to, "{\"type\":\"hello\",\"name\":\"c\",\"games_at_once\":%s,\"stateless\":%s}\n", games, stateless);
    if (!strncmp(line, "{\"type\":\"ping\"", 14)) return (size_t)sprintf(to, "{\"type\":\"pong\"}\n");
    if (!strncmp(line, "{\"type\":\"bye\"", 13)) exit(0);
    if (strncmp(line, "{\"type\":\"turn\"", 14)) return 0;
    if (burn_us) think();
    const char *id = strstr(line + 14, "\"id\":") + 5;
    const char *legal = end; /* the last list of the line */
    while (*legal != '[') legal--;
    legal++;
    const char *moves[256];
    unsigned count = 0;
    for (const char *c = legal; *c && *c != ']' && count < 256; c++) {
        moves[count++] = c;
        while (*c != ',' && *c != ']') c++;
        if (*c == ']') break;
    }
    const char *move = moves[below(count)];
    char *at = to;
    memcpy(at, "{\"id\":", 6); at += 6;
    while (*id != ',') *at++ = *id++;
    memcpy(at, ",\"move\":", 8); at += 8;
    while (*move != ',' && *move != ']') *at++ = *move++;
    *at++ = '}'; *at++ = '\n';
    return (size_t)(at - to);
}

int main(int argc, char **argv) {
    const char *games = argc > 1 ? argv[1] : "64";
    burn_us = argc > 2 ? atol(argv[2]) : 0;
    if (argc > 3) stateless = "true";
    state ^= (uint64_t)getpid() << 20;
    size_t held = 0;
    for (;;) {
        ssize_t got = read(0, in + held, sizeof in - held - 1);
        if (got <= 0) return 0;
        held += (size_t)got;
        in[held] = 0;
        char *line = in, *end;
        size_t filled = 0;
        while ((end = memchr(line, '\n', (size_t)(in + held - line)))) {
            *end = 0;
            filled += answer(line, end, out + filled, games);
            line = end + 1;
            if (filled > sizeof out - 256) { if (write(1, out, filled) < 0) return 1; filled = 0; }
        }
        held = (size_t)(in + held - line);
        memmove(in, line, held);
        if (filled && write(1, out, filled) < 0) return 1;
    }
}
