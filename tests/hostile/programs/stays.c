/* Does not want to go.
 *
 *     stays deaf|daemon MARK
 *
 * deaf    ignores every signal that can be ignored, `bye`, and the end of its input
 * daemon  leaves a daemon behind: forked twice, in a session of its own, deaf like the above
 *
 * Bounded: whatever stays ends after ten minutes. */
#include "bot.h"
#include <signal.h>
#include <sys/wait.h>

enum { LASTS_S = 600 };

static void linger(void) {
    double enough = now_s() + LASTS_S;
    while (now_s() < enough) sleep(1);
}

static void ignore_all(void) {
    for (int number = 1; number < NSIG; number++) signal(number, SIG_IGN);
}

static void leave_daemon(void) {
    pid_t child = fork();
    if (child == 0) {
        setsid();
        pid_t daemon = fork();
        if (daemon == 0) {
            ignore_all();
            linger();
        }
        _exit(daemon < 0);
    }
    int status = 0;
    tell("daemon", child > 0 && waitpid(child, &status, 0) == child && status == 0, 0);
}

static const char *how;

static void on_turn(const Turn *turn) {
    if (turn->number == 1 && !strcmp(how, "daemon")) leave_daemon();
    answer(turn);
}

int main(int argc, char **argv) {
    how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "deaf")) ignore_all();
    serve(HELLO, on_turn);
    if (!strcmp(how, "deaf")) linger();
    return 0;
}
