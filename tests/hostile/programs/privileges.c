/* Tries on its first turn to become more than it is, and what the kernel has had holes in.
 *
 *     privileges MARK
 *
 * Bounded: nothing is changed where an attempt succeeds. Files are opened and not written, limits
 * and names are set to what they are, and a namespace that was made ends with the process. */
#include "bot.h"
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/wait.h>

/* Whether one of these files can be opened to be written. */
static void open_to_write(const char *attempt, const char *const *paths) {
    int fd = -1;
    for (; *paths && fd < 0; paths++) fd = open(*paths, O_WRONLY | O_CLOEXEC);
    tell_call(attempt, fd);
}

/* Whoever can write into another process is that process. The byte stays what it was; and where
 * process 1 is not its own parent, it is somebody's whom a slip would hurt: then it only opens. */
static long first_process(void) {
    unsigned long start = 0;
    char line[256], kind[8], byte;
    int memory = open("/proc/1/mem", O_RDWR | O_CLOEXEC);
    if (memory < 0 || getppid() != 1) return memory;
    FILE *maps = fopen("/proc/1/maps", "r");
    while (maps && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%*x %7s", &start, kind) == 2 && !strcmp(kind, "rw-p")) break;
    if (pread(memory, &byte, 1, (off_t)start) != 1) return -1;
    return pwrite(memory, &byte, 1, (off_t)start);
}

static void files(void) {
    static const char *const settings[] = {"/proc/sys/kernel/core_pattern",
                                           "/proc/sys/kernel/hostname",
                                           "/proc/sys/vm/overcommit_memory",
                                           "/proc/sys/kernel/randomize_va_space", NULL};
    static const char *const keys[] = {"/proc/sysrq-trigger", NULL};
    static const char *const groups[] = {"/sys/fs/cgroup/cgroup.procs",
                                         "/sys/fs/cgroup/unified/cgroup.procs",
                                         "/sys/fs/cgroup/memory/cgroup.procs", NULL};
    open_to_write("proc sys", settings);
    open_to_write("sysrq", keys);
    open_to_write("cgroup", groups);
    tell_call("memory of process 1", first_process());
    tell_call("kernel memory", open("/proc/kcore", O_RDONLY));
}

/* In a child where that is to be had, so that what is made does not outlive the attempt. */
static void in_child(const char *attempt, long (*deed)(void)) {
    pid_t child = fork();
    if (child < 0) {
        tell_call(attempt, deed());
        return;
    }
    if (child == 0) {
        tell_call(attempt, deed());
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

static long new_user(void) { return unshare(CLONE_NEWUSER); }
static long new_mounts(void) { return unshare(CLONE_NEWNS); }
static long new_network(void) { return unshare(CLONE_NEWNET); }
static long new_user_by_clone(void) {
    long pid = syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) _exit(0);
    return pid;
}
static long new_user_by_clone3(void) {
    uint64_t how[11] = {CLONE_NEWUSER, 0, 0, 0, SIGCHLD};
    long pid = syscall(SYS_clone3, how, sizeof how);
    if (pid == 0) _exit(0);
    return pid;
}
static long mount_nothing(void) {
    /* There is no such kind of file system, but to be told so is to be let in. */
    long result = mount("none", "/", "no such kind", 0, NULL);
    return result < 0 && errno == ENODEV ? 0 : result;
}
static long change_root(void) { return chroot("/tmp"); }
static long be_root(void) { return setuid(0); }
static long be_root_group(void) { return setgid(0); }
static long groups(void) {
    gid_t none[1] = {0};
    return setgroups(1, none);
}
static long other_user(void) { return setresuid(65534, 65534, 65534); }

static void namespaces(void) {
    in_child("user namespace", new_user);
    in_child("user namespace by clone", new_user_by_clone);
    in_child("user namespace by clone3", new_user_by_clone3);
    in_child("mount namespace", new_mounts);
    in_child("network namespace", new_network);
    in_child("mount", mount_nothing);
    in_child("chroot", change_root);
    in_child("setgroups", groups);
    in_child("setuid to another", other_user);
}

/* As bits: those that it has, or could have for the asking. */
static unsigned long long capabilities(void) {
    char line[128];
    unsigned long long has = 0, may_have = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) {
        sscanf(line, "CapEff: %llx", &has);
        sscanf(line, "CapPrm: %llx", &may_have);
    }
    errno = 0;
    return has | may_have;
}

/* Root may always become root, so that proves something only where the user is another; and in a
 * namespace of its own even root is nobody: that is seen by what it can do, above. */
static void identity(void) {
    if (getuid() != 0) {
        in_child("setuid", be_root);
        in_child("setgid", be_root_group);
    }
    tell("capabilities", capabilities() != 0, 0);
    tell("new privileges by exec", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0, 0);
    tell_call("a device", mknod("/tmp/hostile-device", S_IFCHR | 0600, 0x103));
    unlink("/tmp/hostile-device");
    struct rlimit limit;
    getrlimit(RLIMIT_NPROC, &limit);
    limit.rlim_max = RLIM_INFINITY;
    tell_call("a higher limit", setrlimit(RLIMIT_NPROC, &limit));
    tell_call("a higher priority", setpriority(PRIO_PROCESS, 0, -5));
    setpriority(PRIO_PROCESS, 0, 0);
    struct sched_param first = {.sched_priority = 1};
    tell_call("real time", sched_setscheduler(0, SCHED_FIFO, &first));
    first.sched_priority = 0;
    sched_setscheduler(0, SCHED_OTHER, &first);
}

/* With arguments that mean nothing: to be told that they are wrong is to be let in. */
static void call(const char *attempt, long number, long first, long second, long third) {
    long result = syscall(number, first, second, third, 0L, 0L);
    bool let_in = result >= 0 || errno == EFAULT || errno == EINVAL || errno == EBADF;
    if (result > 2) close((int)result);
    tell(attempt, let_in, 0);
}

static void calls(void) {
    call("ptrace", SYS_ptrace, 0x4206 /* PTRACE_SEIZE */, -1, 0);
    call("io_uring", SYS_io_uring_setup, 1, 0, 0);
    call("userfaultfd", SYS_userfaultfd, -1, 0, 0);
    call("bpf", SYS_bpf, -1, 0, 0);
    call("inotify", SYS_inotify_init1, 0, 0, 0);
    call("fanotify", SYS_fanotify_init, 0, 0, 0);
    call("perf events", SYS_perf_event_open, 0, 0, 0);
    call("keyring", SYS_keyctl, 0 /* the id of a keyring */, -3 /* of the session */, 0);
    call("add a key", SYS_add_key, 0, 0, 0);
    call("set a namespace", SYS_setns, -1, 0, 0);
    call("file handles", SYS_open_by_handle_at, -1, 0, 0);
    call("kernel module", SYS_finit_module, -1, 0, 0);
    call("kernel log", SYS_syslog, 3 /* read all */, 0, 0);
    call("open a mount", SYS_fsopen, 0, 0, 0);
    call("quota", SYS_quotactl, -1, 0, 0);
    call("vsock", SYS_socket, 40 /* AF_VSOCK */, SOCK_STREAM, 0);
    call("netlink", SYS_socket, AF_NETLINK, SOCK_RAW, 0);
    call("packets", SYS_socket, AF_PACKET, SOCK_RAW, 0);
}

static void on_turn(const Turn *turn) {
    if (turn->number == 1) {
        files();
        namespaces();
        identity();
        calls();
    }
    answer(turn);
}

int main(void) { return serve(HELLO, on_turn); }
