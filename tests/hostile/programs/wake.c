/* Asks the kernel for SIGCONT, stops itself, and says so if it is woken.
 *
 *     wake timer|pipe|child|kill|parent|group
 *
 * timer   by a timer of its own
 * pipe    by its standard input, as soon as that can be read
 * child   by the end of a child
 * kill    by a child that sends the signal itself
 * parent  a process stops, and its parent ends: by a signal that it has asked for
 * group   the same: the kernel wakes a stopped group of processes that has lost its last parent
 *
 * Its lines are `asked` or `refused`, and `woken`. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SOON_MS = 100 };

static void pause_ms(long ms) {
    struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
    nanosleep(&time, NULL);
}

static void stand_still(bool asked) {
    dprintf(1, asked ? "asked\n" : "refused\n");
    raise(SIGSTOP);
    dprintf(1, "woken\n");
}

static bool by_timer(void) {
    struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGCONT};
    struct itimerspec every = {.it_interval.tv_nsec = SOON_MS * 1000000,
                               .it_value.tv_nsec = SOON_MS * 1000000};
    timer_t timer;
    return !timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &every, NULL);
}

static bool by_pipe(void) {
    return !fcntl(0, F_SETSIG, SIGCONT) && !fcntl(0, F_SETOWN, getpid()) &&
           !fcntl(0, F_SETFL, O_ASYNC | O_NONBLOCK);
}

static bool by_child(void) {
    long child = syscall(SYS_clone, (long)SIGCONT, 0L, 0L, 0L, 0L);
    if (child == 0) {
        pause_ms(SOON_MS);
        _exit(0);
    }
    return child > 0;
}

static bool by_kill(void) {
    pid_t self = getpid();
    bool may = !kill(self, SIGCONT);
    if (fork() == 0) {
        pause_ms(SOON_MS);
        kill(self, SIGCONT);
        _exit(0);
    }
    return may;
}

/* A process that stops, and its parent, which ends then; whoever began it waits for the first. */
static void orphan(const char *how) {
    int lives[2];
    char none;
    if (pipe(lives)) return;
    if (fork() == 0) {
        pid_t child = fork();
        if (child == 0) {
            signal(SIGHUP, SIG_IGN);
            stand_still(strcmp(how, "group") ? !prctl(PR_SET_PDEATHSIG, SIGCONT, 0, 0, 0)
                                             : !setpgid(0, 0));
            _exit(0);
        }
        waitpid(child, NULL, WUNTRACED);
        _exit(0);
    }
    wait(NULL);
    close(lives[1]);
    if (read(lives[0], &none, 1)) return;
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    if (!strcmp(how, "timer")) stand_still(by_timer());
    if (!strcmp(how, "pipe")) stand_still(by_pipe());
    if (!strcmp(how, "child")) stand_still(by_child());
    if (!strcmp(how, "kill")) stand_still(by_kill());
    if (!strcmp(how, "parent") || !strcmp(how, "group")) orphan(how);
    return 0;
}
