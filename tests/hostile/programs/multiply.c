/* Becomes more and more on its first turn.
 *
 *     multiply processes|threads MARK
 *
 * processes  a fork bomb: every process forks for as long as it may
 * threads    the same with threads, from one
 *
 * Bounded: 200 in all, by as many tokens in a pipe; each ends after two seconds. */
#include "bot.h"
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>

enum { MOST = 200, LASTS_S = 2, QUIET_MS = 50 };

static const char *how;

/* Forks while there are tokens. Whoever was born says so, and goes on forking. */
static void explode(int tokens, int born) {
    char token;
    while (read(tokens, &token, 1) == 1) {
        pid_t child = fork();
        if (child < 0) {
            char why = (char)errno;
            if (write(born, &why, 1) < 0) _exit(1);
            return;
        }
        if (child == 0 && write(born, "\0", 1) < 0) _exit(1);
    }
}

static void bomb(void) {
    int tokens[2], born[2];
    if (pipe2(tokens, O_NONBLOCK) || pipe(born)) return;
    char full[MOST] = {0};
    if (write(tokens[1], full, sizeof full) < 0) return;
    pid_t first = getpid();
    explode(tokens[0], born[1]);
    if (getpid() != first) {
        sleep(LASTS_S);
        _exit(0);
    }
    struct pollfd heard = {.fd = born[0], .events = POLLIN};
    long count = 0;
    int refused = 0;
    char word;
    while (poll(&heard, 1, QUIET_MS) > 0 && read(born[0], &word, 1) == 1) {
        if (word) refused = word;
        count += !word;
    }
    errno = refused;
    tell("fork", count > 0, count);
}

static void *linger(void *nothing) {
    sleep(LASTS_S);
    return nothing;
}

static void crowd(void) {
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    long count = 0;
    pthread_t thread;
    while (count < MOST && !(errno = pthread_create(&thread, &small, linger, NULL))) count++;
    tell("threads", count > 0, count);
}

static void on_turn(const Turn *turn) {
    if (turn->number == 1 && !strcmp(how, "processes")) bomb();
    if (turn->number == 1 && !strcmp(how, "threads")) crowd();
    answer(turn);
}

int main(int argc, char **argv) {
    how = argc > 1 ? argv[1] : "";
    return serve(HELLO, on_turn);
}
