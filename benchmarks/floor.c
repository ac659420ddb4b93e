/* The floor: what one exchange of a 60-byte line over two pipes costs when nothing else is done.
 *     floor COUNT BOT
 * starts BOT, writes a line, polls, reads the answer, COUNT times, and prints microseconds each. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1e6 + t.tv_nsec / 1e3;
}

static void exchange(int to, int from, const char *line, long count) {
    static char answer[65536];
    while (count--) {
        struct pollfd ready = {from, POLLIN, 0};
        if (write(to, line, 60) != 60 || poll(&ready, 1, 1000) != 1 ||
            read(from, answer, sizeof answer) != 60) {
            fprintf(stderr, "floor: the exchange broke off\n");
            exit(1);
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    long count = atol(argv[1]);
    int to[2], from[2];
    if (pipe(to) || pipe(from)) return 1;
    pid_t bot = fork();
    if (bot == 0) {
        dup2(to[0], 0);
        dup2(from[1], 1);
        close(to[1]);
        close(from[0]);
        execl(argv[2], argv[2], (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    char line[60];
    memset(line, 'x', sizeof line);
    line[59] = '\n';
    exchange(to[1], from[0], line, count / 10);
    double began = now_us();
    exchange(to[1], from[0], line, count);
    printf("%.3f\n", (now_us() - began) / count);
    close(to[1]);
    waitpid(bot, NULL, 0);
    return 0;
}
