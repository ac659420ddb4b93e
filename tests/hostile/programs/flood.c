/* Says far too much on its turn.
 *
 *     flood newlines|line|log|log-and-answers MARK
 *
 * newlines         blank lines on stdout, without end
 * line             one line on stdout, without end
 * log              to stderr, without end, and no answer
 * log-and-answers  four megabytes to stderr before each answer
 *
 * Bounded: 100 MB or ten minutes. */
#include "bot.h"

enum { MOST = 100, LASTS_S = 600, LOGGED = 4 };

static const char *how;
static char megabyte[1024 * 1024];

static void pour(int fd, long most) {
    double enough = now_s() + LASTS_S;
    for (long told = 0; told < most && now_s() < enough; told++)
        for (size_t sent = 0; sent < sizeof megabyte;) {
            ssize_t now = write(fd, megabyte + sent, sizeof megabyte - sent);
            if (now < 0) return;
            sent += (size_t)now;
        }
}

static void on_turn(const Turn *turn) {
    memset(megabyte, !strcmp(how, "newlines") ? '\n' : 'x', sizeof megabyte);
    if (!strcmp(how, "newlines") || !strcmp(how, "line")) {
        pour(1, MOST);
    } else if (!strcmp(how, "log")) {
        pour(2, MOST);
        sleep(LASTS_S);
    } else {
        pour(2, LOGGED);
        answer(turn);
    }
}

int main(int argc, char **argv) {
    how = argc > 1 ? argv[1] : "";
    return serve(HELLO, on_turn);
}
