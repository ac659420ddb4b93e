/* Plays by the book, and the same move wherever it sees the same: what it plays depends on the view
 * and on its salt alone, not on time, luck or what it has seen before.
 *
 *     honest SALT THINK_US MARK
 *
 * THINK_US is CPU time that it uses for every move. */
#include "bot.h"

static uint64_t salt;
static long think_us;

static long cpu_us(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return now.tv_sec * 1000000L + now.tv_nsec / 1000;
}

static uint64_t hash(const char *from, const char *to) {
    uint64_t value = 14695981039346656037ULL ^ salt;
    for (; from < to; from++) value = (value ^ (unsigned char)*from) * 1099511628211ULL;
    return value ^ value >> 29;
}

static void on_turn(const Turn *turn) {
    for (long until = cpu_us() + think_us; think_us && cpu_us() < until;) {}
    const char *view = strstr(turn->line, "\"view\":"), *events = strstr(turn->line, "\"events\":");
    const char *legal = strstr(turn->line, "\"legal\":[") + 9;
    unsigned count = 1;
    for (const char *c = legal; *c != ']'; c++) count += *c == ',';
    unsigned chosen = (unsigned)(hash(view, events) % count);
    while (chosen--) legal = strchr(legal, ',') + 1;
    Turn mine = *turn;
    copy_until(mine.move, sizeof mine.move, legal, ",]");
    answer(&mine);
}

int main(int argc, char **argv) {
    salt = argc > 1 ? strtoull(argv[1], NULL, 10) * 2654435761ULL : 0;
    think_us = argc > 2 ? atol(argv[2]) : 0;
    return serve("{\"type\":\"hello\",\"name\":\"honest\",\"games_at_once\":64}\n", on_turn);
}
