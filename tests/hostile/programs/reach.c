/* Reaches for other processes on its first turn.
 *
 *     reach VICTIM… MARK
 *
 * VICTIM is the id of a process that the test has started to be looked at, traced and killed.
 *
 * Bounded: everybody is killed (`kill -1`) only where no victim can be reached, which is where there
 * are walls; elsewhere it only asks whether it could. */
#include "bot.h"
#include <dirent.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/uio.h>

static int victims;
static pid_t victim[8];

/* An attempt is done where it is done to one of the victims. */
static void each(const char *attempt, long (*deed)(pid_t)) {
    bool done = false;
    for (int i = 0; i < victims; i++) done = deed(victim[i]) >= 0 || done;
    tell(attempt, done, 0);
}

static long ask(pid_t pid) { return kill(pid, 0); }
static long end(pid_t pid) { return kill(pid, SIGTERM); }
static long open_it(pid_t pid) { return syscall(SYS_pidfd_open, pid, 0); }
static long slow_down(pid_t pid) { return setpriority(PRIO_PROCESS, (id_t)pid, 19); }
static long see(pid_t pid) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/cmdline", pid);
    return access(path, F_OK);
}
static long trace(pid_t pid) {
    long seized = ptrace(PTRACE_SEIZE, pid, 0, 0);
    if (seized >= 0) ptrace(PTRACE_DETACH, pid, 0, 0);
    return seized;
}
static long look_into(pid_t pid) {
    /* Where it lies is not known, but to be told so is to be let in: EFAULT, not EPERM. */
    char here[8];
    struct iovec mine = {here, sizeof here}, theirs = {(void *)4096, sizeof here};
    long got = process_vm_readv(pid, &mine, 1, &theirs, 1, 0);
    return got < 0 && errno == EFAULT ? 0 : got;
}
static long limit(pid_t pid) {
    struct rlimit now;
    return prlimit(pid, RLIMIT_NOFILE, NULL, &now);
}

static void kill_everybody(void) {
    for (int i = 0; i < victims; i++)
        if (kill(victim[i], 0) == 0) {
            tell_call("kill -1", kill(-1, 0));
            return;
        }
    long result = kill(-1, SIGKILL);
    /* Both may seem to succeed, on nobody or on their own kind: the test sees who is alive. */
    tell("kill -1 for real", result == 0, 0);
    tell_call("kill 1", kill(1, SIGKILL));
}

static void on_turn(const Turn *turn) {
    if (turn->number == 1) {
        each("see", see);
        each("ask", ask);
        each("pidfd", open_it);
        each("trace", trace);
        each("look into", look_into);
        each("limit", limit);
        each("slow down", slow_down);
        kill_everybody();
        each("end", end);
    }
    answer(turn);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc - 1 && victims < 8; i++) victim[victims++] = (pid_t)atoi(argv[i]);
    return serve(HELLO, on_turn);
}
