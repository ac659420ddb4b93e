/* Burns the core while the other one is to move, and tells in the end how much it did meanwhile:
 * on average, from one answer to the next turn.
 *
 *     idle spins|hops MARK
 *
 * spins  a thread that never rests; tells its microseconds on the processor
 * hops   a process that forks, lets its child go on and ends, so that nobody can point at it; tells
 *        how often it did so
 *
 * Bounded: three seconds, and 500 hops. */
#include "bot.h"
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>

enum { LASTS_S = 3, HOPS = 500, HOP_MS = 2 };

static const char *how;
static int hops[2];
static double answered_cpu_s, idle_cpu_s;
static long hopped, pauses;

static double cpu_s(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *spin(void *nothing) {
    for (double enough = now_s() + LASTS_S; now_s() < enough;) {}
    return nothing;
}

static void hop(void) {
    double enough = now_s() + LASTS_S;
    for (int each = 0; each < HOPS && now_s() < enough; each++) {
        for (double rest = now_s() + HOP_MS / 1e3; now_s() < rest;) {}
        pid_t child = fork(); /* where that is refused for now, it spins on and tries again */
        if (child > 0 || (child == 0 && write(hops[1], "", 1) < 0)) _exit(0);
    }
    _exit(0);
}

static void begin(void) {
    pthread_t thread;
    if (!strcmp(how, "spins")) {
        errno = pthread_create(&thread, NULL, spin, NULL);
        return;
    }
    if (pipe2(hops, O_NONBLOCK)) return;
    signal(SIGCHLD, SIG_IGN);
    pid_t child = fork();
    if (child == 0) hop();
    tell("hop off", child > 0, 0);
}

/* What happened since the last answer. What was there before it does not count. */
static void look_back(bool idle) {
    char hop;
    long count = 0;
    if (!strcmp(how, "hops"))
        while (read(hops[0], &hop, 1) == 1) count++;
    if (!idle) return;
    pauses++;
    hopped += count;
    idle_cpu_s += cpu_s() - answered_cpu_s;
}

static void on_turn(const Turn *turn) {
    if (turn->number == 1) begin();
    else look_back(true);
    look_back(false);
    /* Before the answer: it may be made to stand still as soon as that is heard. */
    answered_cpu_s = cpu_s();
    answer(turn);
}

int main(int argc, char **argv) {
    how = argc > 1 ? argv[1] : "";
    serve(HELLO, on_turn);
    if (!pauses) return 0;
    long count = (!strcmp(how, "hops") ? hopped : (long)(1e6 * idle_cpu_s)) / pauses;
    errno = 0;
    tell(how, count > 0, count);
    return 0;
}
