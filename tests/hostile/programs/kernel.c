/* Lets the kernel keep things for it on its first turn, by every way that once had no limit.
 *
 *     kernel MARK
 *
 * Bounded: an attempt is done once, which takes a kilobyte; 200 files are opened. Calls that are
 * newer than the headers of some systems stand here by their numbers, which all machines share. */
#include "bot.h"
#include <fcntl.h>
#include <linux/filter.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>

enum { LANDLOCK = 444, CLOSE_RANGE = 436, SETXATTRAT = 463, NEWEST = 467, BEYOND = 600 };
enum { FUTEX_HASH = 78, SLOTS = 16, UNSHARE = 2, SIZE = 1 << 17, MOST = 200 };

static char scratch[64];

/* Each file may have a list of thousands of entries, which no limit on bytes or files counts. */
static long attribute(const char *name, const void *value, size_t size) {
    return setxattr(scratch, name, value, size, 0);
}
static long access_list(void) {
    struct __attribute__((packed)) {
        uint32_t version;
        struct {
            uint16_t tag, may;
            uint32_t user;
        } entry[5];
    } list = {2, {{1, 7, ~0u}, {2, 7, getuid()}, {4, 7, ~0u}, {16, 7, ~0u}, {32, 7, ~0u}}};
    return attribute("system.posix_acl_access", &list, sizeof list);
}
static long own_attribute(void) { return attribute("user.hostile", "x", 1); }
static long by_open_file(void) {
    int fd = open(scratch, O_RDONLY | O_CLOEXEC);
    long result = fsetxattr(fd, "user.hostile", "x", 1, 0);
    close(fd);
    return result;
}
static long by_link(void) { return lsetxattr(scratch, "user.hostile", "x", 1, 0); }
static long by_folder(void) {
    struct {
        uint64_t value;
        uint32_t size, flags;
    } given = {(uint64_t)(uintptr_t)"x", 1, 0};
    return syscall(SETXATTRAT, AT_FDCWD, scratch, 0, "user.hostile", &given, sizeof given);
}

static long landlock(void) {
    uint64_t handled = 4;
    return syscall(LANDLOCK, &handled, sizeof handled, 0);
}

static struct sockaddr_un name_of(const char *word, socklen_t *length) {
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int size = snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "%s-%d", word, getpid());
    *length = (socklen_t)(sizeof name.sun_family + 1 + (size_t)size);
    return name;
}

/* What a client has sent stays with the listener that never takes the connection. */
static long waiting_connection(void) {
    socklen_t length;
    struct sockaddr_un name = name_of("listener", &length);
    int listener = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    long result = bind(listener, (void *)&name, length);
    if (!result) result = listen(listener, 4096);
    if (!result) result = connect(client, (void *)&name, length);
    if (!result) result = send(client, "x", 1, 0);
    int why = errno;
    close(client);
    close(listener);
    errno = why;
    return result;
}
static long waiting_datagram(void) {
    socklen_t length;
    struct sockaddr_un name = name_of("receiver", &length);
    int receiver = socket(AF_UNIX, SOCK_DGRAM, 0), sender = socket(AF_UNIX, SOCK_DGRAM, 0);
    if (receiver < 0 || sender < 0) return -1;
    long result = bind(receiver, (void *)&name, length);
    if (!result) result = sendto(sender, "x", 1, 0, (void *)&name, length);
    close(sender);
    close(receiver);
    return result;
}
static long pair(int kind, int ends[2]) { return socketpair(AF_UNIX, kind, 0, ends); }
static long datagrams_of_a_pair(void) {
    int ends[2];
    long result = pair(SOCK_DGRAM | SOCK_CLOEXEC, ends);
    if (!result) {
        close(ends[0]);
        close(ends[1]);
    }
    return result;
}

/* A descriptor that was sent and never received is nobody's, and its file stays open. */
static long in_flight(void) {
    int ends[2], fd = 2;
    if (pair(SOCK_STREAM, ends)) return -1;
    char room[CMSG_SPACE(sizeof fd)] = {0}, byte = 0;
    struct iovec text = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &text, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    *head = (struct cmsghdr){CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS};
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
    long result = sendmsg(ends[0], &message, 0);
    int why = errno;
    close(ends[0]);
    close(ends[1]);
    errno = why;
    return result;
}

/* A byte in a pipe or a socket keeps the page that it comes from, though its file is cut short. */
static long page(long (*move)(int file, const int ends[2])) {
    int ends[2], file = open(scratch, O_RDWR | O_CLOEXEC);
    if (file < 0 || write(file, "x", 1) != 1 || pipe(ends)) return -1;
    long result = move(file, ends);
    int why = errno;
    close(ends[0]);
    close(ends[1]);
    if (ftruncate(file, 0)) return -1;
    close(file);
    errno = why;
    return result;
}
static long spliced(int file, const int ends[2]) {
    loff_t at = 0;
    return splice(file, &at, ends[1], NULL, 1, 0);
}
static long sent(int file, const int ends[2]) {
    off_t at = 0;
    return sendfile(ends[1], file, &at, 1);
}
static long by_tee(int file, const int ends[2]) {
    int others[2];
    (void)file;
    if (write(ends[1], "x", 1) != 1 || pipe(others)) return -1;
    long result = tee(ends[0], others[1], 1, 0);
    close(others[0]);
    close(others[1]);
    return result;
}
static long mapped(int file, const int ends[2]) {
    struct iovec own = {scratch, 1};
    (void)file;
    return vmsplice(ends[1], &own, 1, 0);
}

/* A thread with a table of open files of its own has as many as its process, once more. */
static int end_at_once(void *nothing) {
    (void)nothing;
    syscall(SYS_exit, 0);
    return 0;
}
static long files_of_a_thread(void) {
    static char stack[65536] __attribute__((aligned(16)));
    int flags = CLONE_VM | CLONE_FS | CLONE_SIGHAND | CLONE_THREAD;
    return clone(end_at_once, stack + sizeof stack, flags, NULL);
}
static long files_of_its_own(void) { return syscall(CLOSE_RANGE, ~0u, ~0u, UNSHARE); }

static long policy_of_pages(void) {
    unsigned long nodes = 1;
    int fd = open(scratch, O_RDWR | O_CLOEXEC);
    void *page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    close(fd);
    return syscall(SYS_mbind, page, 4096L, 2L /* MPOL_BIND */, &nodes, 64L, 0L);
}
static long policy(void) { return syscall(SYS_set_mempolicy, 0, 0, 0); }
static long slots_of_futexes(void) { return prctl(FUTEX_HASH, 1L, (long)SLOTS, 0L, 0L); }

static struct sock_filter everything = {6, 0, 0, 0x7fff0000};
static struct sock_fprog program = {1, &everything};
static long filter(void) {
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    return syscall(SYS_seccomp, 1 /* SECCOMP_SET_MODE_FILTER */, 0, &program);
}
static long filter_by_prctl(void) {
    return prctl(PR_SET_SECCOMP, 2 /* SECCOMP_MODE_FILTER */, &program, 0, 0);
}
static long filter_of_a_socket(void) {
    int ends[2];
    if (pair(SOCK_STREAM, ends)) return -1;
    long result = setsockopt(ends[0], SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program);
    close(ends[0]);
    close(ends[1]);
    return result;
}
static long larger_pipe(void) {
    int ends[2];
    if (pipe(ends)) return -1;
    long result = fcntl(ends[0], F_SETPIPE_SZ, SIZE);
    close(ends[0]);
    close(ends[1]);
    return result;
}

/* To be told that the arguments are wrong is to be let in. */
static void newer_calls(void) {
    long known = 0;
    for (long number = NEWEST + 1; number < BEYOND; number++)
        known += syscall(number, -1L, -1L, -1L, -1L, -1L, -1L) >= 0 || errno != ENOSYS;
    errno = ENOSYS;
    tell("newer calls", known > 0, known);
}

/* What sockets, pipes and epolls may hold grows with the number of these. */
static void open_files(void) {
    int file[MOST], count = 0;
    while (count < MOST && (file[count] = eventfd(0, EFD_CLOEXEC)) >= 0) count++;
    tell("open files", count > 0, count);
    while (count) close(file[--count]);
}

static void on_turn(const Turn *turn) {
    if (turn->number == 1) {
        snprintf(scratch, sizeof scratch, "/tmp/hostile-kernel-%d", getpid());
        close(open(scratch, O_CREAT | O_RDWR | O_CLOEXEC, 0600));
        tell_call("access lists", access_list());
        tell_call("attributes", own_attribute());
        tell_call("attributes of an open file", by_open_file());
        tell_call("attributes of a link", by_link());
        tell_call("attributes in a folder", by_folder());
        tell_call("rules of Landlock", landlock());
        tell_call("waiting connections", waiting_connection());
        tell_call("waiting datagrams", waiting_datagram());
        tell_call("datagrams of a pair", datagrams_of_a_pair());
        tell_call("descriptors in flight", in_flight());
        tell_call("pages by splice", page(spliced));
        tell_call("pages by sendfile", page(sent));
        tell_call("pages by tee", page(by_tee));
        tell_call("pages by vmsplice", page(mapped));
        tell_call("files of a thread", files_of_a_thread());
        tell_call("files of its own", files_of_its_own());
        tell_call("policies of pages", policy_of_pages());
        tell_call("a policy", policy());
        tell_call("slots of futexes", slots_of_futexes());
        tell_call("filters", filter());
        tell_call("filters by prctl", filter_by_prctl());
        tell_call("filters of sockets", filter_of_a_socket());
        tell_call("larger pipes", larger_pipe());
        newer_calls();
        open_files();
        unlink(scratch);
    }
    answer(turn);
}

int main(void) { return serve(HELLO, on_turn); }
