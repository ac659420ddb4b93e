/* Takes as much memory as it gets on its first turn, and tells how many megabytes that was.
 *
 *     memory heap|careless|closed|headless|through|stack|tables|tree|memfd|sysv|shared|zero MARK
 *
 * heap      from malloc
 * careless  the same, and uses what it did not get
 * closed    maps that are filled and then closed to writing, so that no limit of a process counts them
 * headless  the same in a second thread, after the first has ended
 * through   maps that are closed to writing from the start, filled by way of /proc/self/mem
 * stack     a stack without end, after it has raised that limit as far as it may
 * tables    page tables: one page in each 2 MiB of a very large map is looked at
 * tree      a third in each of three children
 * memfd     files that are nowhere but in memory
 * sysv      segments of shared memory as System V has them
 * shared    anonymous shared maps
 * zero      shared maps of /dev/zero
 *
 * Bounded: 96 MB. Those that go round the limit of a process then wait for a second, to be seen. */
#include "bot.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { MOST = 96, STEP = 8, CHILDREN = 3, TABLE_STEPS = 24576 };

static const char *how, *mark;
static char **words;

static void touch(volatile char *memory, long size) {
    for (long at = 0; at < size; at += 4096) memory[at] = 1;
}

/* Megabytes from malloc, at most so many, which it keeps. */
static long heap(long most, bool careless) {
    long got = 0;
    for (; got < most; got++) {
        char *memory = malloc(MEGABYTE);
        if (!memory && !careless) break;
        touch(memory, MEGABYTE);
    }
    return got;
}

static long tree(void) {
    int back[2];
    if (pipe(back)) return 0;
    for (int child = 0; child < CHILDREN; child++) {
        pid_t pid = fork();
        if (pid < 0) break;
        if (pid == 0) {
            long got = heap(MOST / CHILDREN, false);
            if (write(back[1], &got, sizeof got) < 0) _exit(1);
            sleep(1); /* so that all have theirs at the same time */
            _exit(0);
        }
    }
    int refused = errno;
    close(back[1]);
    long total = 0, got;
    while (read(back[0], &got, sizeof got) == sizeof got) total += got;
    while (wait(NULL) > 0) {}
    errno = refused;
    return total;
}

static long maps(int flags, int fd) {
    for (long got = 0; got < MOST; got += STEP) {
        char *memory = mmap(NULL, STEP * MEGABYTE, PROT_READ | PROT_WRITE, flags, fd, 0);
        if (memory == MAP_FAILED) return got;
        touch(memory, STEP * MEGABYTE);
    }
    return MOST;
}

/* The ways round a limit that counts what is private and can be written to. */
static long closed(void) {
    for (long got = 0; got < MOST; got += STEP) {
        int flags = MAP_PRIVATE | MAP_ANONYMOUS;
        char *memory = mmap(NULL, STEP * MEGABYTE, PROT_READ | PROT_WRITE, flags, -1, 0);
        if (memory == MAP_FAILED) return got;
        touch(memory, STEP * MEGABYTE);
        if (mprotect(memory, STEP * MEGABYTE, PROT_READ)) return got;
    }
    return MOST;
}

static long through(void) {
    static char megabyte[1024 * 1024];
    memset(megabyte, 1, sizeof megabyte);
    int self = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    if (self < 0) return 0;
    for (long got = 0; got < MOST; got++) {
        int flags = MAP_PRIVATE | MAP_ANONYMOUS;
        char *memory = mmap(NULL, MEGABYTE, PROT_READ, flags, -1, 0);
        if (memory == MAP_FAILED) return got;
        if (pwrite(self, megabyte, MEGABYTE, (off_t)(intptr_t)memory) != MEGABYTE) return got;
    }
    return MOST;
}

/* Where it is to be ended, it has been by the end of this. */
static long shown(long got) {
    sleep(1);
    return got;
}

static long zero(void) {
    FILE *device = fopen("/dev/zero", "r+");
    return device ? maps(MAP_SHARED, fileno(device)) : 0;
}

static long memfds(void) {
    static char megabyte[1024 * 1024];
    for (long got = 0; got < MOST; got += STEP) {
        int fd = (int)syscall(SYS_memfd_create, "hostile", 0u);
        if (fd < 0) return got;
        for (int each = 0; each < STEP; each++)
            if (write(fd, megabyte, sizeof megabyte) != (ssize_t)sizeof megabyte) return got + each;
    }
    return MOST;
}

static long segments(void) {
    for (long got = 0; got < MOST; got += STEP) {
        int id = shmget(IPC_PRIVATE, STEP * MEGABYTE, IPC_CREAT | 0600);
        if (id < 0) return got;
        char *memory = shmat(id, NULL, 0);
        shmctl(id, IPC_RMID, NULL); /* it goes with the process */
        if (memory == (char *)-1) return got;
        touch(memory, STEP * MEGABYTE);
    }
    return MOST;
}

/* One more page table for each step, counted as the kernel counts them. */
static long tables(void) {
    long step = 2 * MEGABYTE, size = TABLE_STEPS * step;
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    volatile char *memory;
    while ((memory = mmap(NULL, (size_t)size, PROT_READ, flags, -1, 0)) == MAP_FAILED)
        if ((size /= 2) < step) return 0;
    madvise((void *)memory, (size_t)size, MADV_NOHUGEPAGE);
    for (long at = 0; at < size; at += step) (void)memory[at];
    char line[128];
    long kilobytes = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status)) sscanf(line, "VmPTE: %ld", &kilobytes);
    munmap((void *)memory, (size_t)size);
    return kilobytes / 1024;
}

/* The stack has room above the maps only where its limit was high when the program began: so it
 * raises the limit and begins anew. What it reached is told step by step, since the end is sudden. */
static void begin_anew(const Turn *turn) {
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_STACK, &limit);
    char *again[] = {words[0], "grow", (char *)turn->id, (char *)turn->move, (char *)mark, NULL};
    execv("/proc/self/exe", again);
    tell("stack", false, 0);
}

static __attribute__((noinline)) long grow(long depth) {
    volatile char memory[1024 * 1024];
    for (long at = 0; at < MEGABYTE; at += 4096) memory[at] = 1;
    if (depth % STEP == 0) tell("stack", depth == MOST, depth);
    return depth < MOST ? grow(depth + 1) + memory[0] - 1 : depth;
}

static void take(const Turn *turn) {
    long got = 0;
    errno = 0;
    if (!strcmp(how, "heap")) got = heap(MOST, false);
    if (!strcmp(how, "careless")) got = heap(MOST, true);
    if (!strcmp(how, "closed")) got = shown(closed());
    if (!strcmp(how, "headless")) got = shown(closed());
    if (!strcmp(how, "through")) got = shown(through());
    if (!strcmp(how, "tree")) got = tree();
    if (!strcmp(how, "memfd")) got = memfds();
    if (!strcmp(how, "sysv")) got = segments();
    if (!strcmp(how, "shared")) got = maps(MAP_SHARED | MAP_ANONYMOUS, -1);
    if (!strcmp(how, "zero")) got = zero();
    if (!strcmp(how, "tables")) got = tables();
    if (!strcmp(how, "stack")) begin_anew(turn);
    tell(how, got > 0, got);
}

static void on_turn(const Turn *turn) {
    if (turn->number == 1 && strcmp(how, "grow")) take(turn);
    answer(turn);
}

static void *second_thread(void *nothing) {
    exit(serve(HELLO, on_turn));
    return nothing;
}

int main(int argc, char **argv) {
    words = argv;
    how = argc > 1 ? argv[1] : "";
    mark = argc > 1 ? argv[argc - 1] : "";
    if (!strcmp(how, "grow") && argc > 3) {
        Turn turn = {.number = 1};
        copy_until(turn.id, sizeof turn.id, argv[2], "");
        copy_until(turn.move, sizeof turn.move, argv[3], "");
        grow(1);
        answer(&turn);
    }
    pthread_t second;
    if (!strcmp(how, "headless") && !pthread_create(&second, NULL, second_thread, NULL))
        pthread_exit(NULL);
    return serve(HELLO, on_turn);
}
