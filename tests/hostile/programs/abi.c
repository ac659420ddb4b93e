/* Calls the kernel by the numbers of another kind of program, and says what it got.
 *
 *     abi i386|x32
 *
 * i386  getpid of 32-bit programs, by interrupt 0x80
 * x32   getpid of programs with pointers of 32 bits */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv) {
    long result = -1;
    if (argc > 1 && !strcmp(argv[1], "x32")) result = syscall(0x40000000L | 39);
    if (argc > 1 && !strcmp(argv[1], "i386")) {
#ifdef __x86_64__
        __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory", "cc");
#endif
    }
    printf("%s %s\n", result > 0 ? "done" : "refused", result < 0 ? strerror(errno) : "");
    return 0;
}
