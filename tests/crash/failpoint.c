/* Failing system calls, on purpose: at the Nth of the calls that matter the process is killed, or the
 * call fails as a broken disk would make it. Preloaded into the program under test (LD_PRELOAD), so that
 * program, SQLite and event loop are the real ones.
 *
 * Counted, over all threads, are calls that change a file below FAILPOINT_FOLDER (write, sync, truncate,
 * link, rename, unlink) and calls that send, receive or connect on an internet socket.
 *
 *   FAILPOINT_FOLDER   files below this folder are counted
 *   FAILPOINT_ONLY     "changes": writes, syncs and truncates of files alone; "traffic": calls on sockets
 *                      alone; "" (default): everything above
 *   FAILPOINT_AT       N, counted from 1; 0: count only
 *   FAILPOINT_WHAT     "kill": SIGKILL before the Nth call, of all processes of the run; "torn": half of what it writes
 *                      or sends, then SIGKILL; "kill one", "torn one": of the process alone whose call it is; or the number
 *                      of an errno that the Nth call fails with
 *   FAILPOINT_FOREVER  "1": every counted call from the Nth on fails
 *   FAILPOINT_LOG      a file that gets a line for every counted call: number, call, path or "socket"
 *
 * A process started by the program under test (the bounded reader) is left alone; one that was forked for it and has called
 * failpoint_join (the one that commits) is of the run, and its calls are counted with the run's.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum verdict { GO_ON, HALF, FAIL };

static char folder[PATH_MAX];
static size_t folder_length;
static long at;
static int kills, torn, alone, with_errno, forever, changes_only, traffic_only, log_file = -1;

/* What the processes of a run have in common. */
struct run { atomic_long counted; atomic_int members; pid_t member[8]; };
static struct run *run;

static const char *setting(const char *name) {
    const char *found = getenv(name);
    return found ? found : "";
}

/* Be of the run that the process was forked from. */
void failpoint_join(void) { run->member[atomic_fetch_add(&run->members, 1)] = getpid(); }

/* Take the settings of the environment and count from 0 again; for a process that was forked, too. */
void failpoint_arm(void) {
    snprintf(folder, sizeof folder, "%s", setting("FAILPOINT_FOLDER"));
    folder_length = strlen(folder);
    at = atol(setting("FAILPOINT_AT"));
    kills = !strncmp(setting("FAILPOINT_WHAT"), "kill", 4);
    torn = !strncmp(setting("FAILPOINT_WHAT"), "torn", 4);
    alone = strstr(setting("FAILPOINT_WHAT"), " one") != NULL;
    with_errno = atoi(setting("FAILPOINT_WHAT"));
    forever = !strcmp(setting("FAILPOINT_FOREVER"), "1");
    changes_only = !strcmp(setting("FAILPOINT_ONLY"), "changes");
    traffic_only = !strcmp(setting("FAILPOINT_ONLY"), "traffic");
    log_file = -1;
    if (*setting("FAILPOINT_LOG"))
        log_file = (int)syscall(SYS_openat, AT_FDCWD, setting("FAILPOINT_LOG"),
                                O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    run = mmap(NULL, sizeof *run, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (run == MAP_FAILED) abort();
    failpoint_join();
}

__attribute__((constructor)) static void begin(void) {
    failpoint_arm();
    unsetenv("LD_PRELOAD"); /* what the program starts is not under test */
}

/* The end of all processes of the run, or of this one alone. */
static void die(void) {
    for (int i = 0; !alone && i < run->members; i++)
        if (run->member[i] != getpid()) kill(run->member[i], SIGKILL);
    raise(SIGKILL);
}

/* What happens to a counted call; does not return where the process is killed before it. */
static enum verdict reached(const char *call, const char *target) {
    long number = atomic_fetch_add(&run->counted, 1) + 1;
    if (log_file >= 0) {
        char line[PATH_MAX + 64];
        int length = snprintf(line, sizeof line, "%ld %s %s\n", number, call, target);
        (void)!syscall(SYS_write, log_file, line, (size_t)length);
    }
    if (!at || number < at || (number > at && !(forever && with_errno))) return GO_ON;
    if (kills) die();
    if (torn) return HALF;
    errno = with_errno;
    return FAIL;
}

static int ours(const char *path) { return folder_length && !strncmp(path, folder, folder_length); }

/* Tells whether a descriptor is one whose calls are counted, and names it. */
static const char *counted_file(int fd, int change, char *name) {
    struct stat found;
    int before = errno;
    const char *answer = NULL;
    if (!folder_length || fd < 0 || fd == log_file || fstat(fd, &found)) {
        answer = NULL;
    } else if (S_ISREG(found.st_mode) && change && !traffic_only) {
        char link[64];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t length = readlink(link, name, PATH_MAX - 1);
        if (length > 0) {
            name[length] = 0;
            answer = ours(name) ? name : NULL;
        }
    } else if (S_ISSOCK(found.st_mode) && !changes_only) {
        struct sockaddr_storage address;
        socklen_t size = sizeof address;
        if (!getsockname(fd, (struct sockaddr *)&address, &size) &&
            (address.ss_family == AF_INET || address.ss_family == AF_INET6))
            answer = "socket";
    }
    errno = before;
    return answer;
}

#define REAL(name, type) static type real; if (!real) real = (type)dlsym(RTLD_NEXT, #name)

/* A call on a descriptor with bytes that can be cut in half. */
#define BYTES(name, result, change, parameters, whole, half)                                          \
    typedef result(*name##_type) parameters;                                                          \
    result name parameters {                                                                          \
        REAL(name, name##_type);                                                                      \
        char path[PATH_MAX];                                                                          \
        const char *target = counted_file(fd, change, path);                                          \
        if (target) switch (reached(#name, target)) {                                                 \
            case FAIL: return -1;                                                                     \
            case HALF: (void)!half; die(); break;                                            \
            case GO_ON: break;                                                                        \
        }                                                                                             \
        return whole;                                                                                 \
    }

BYTES(write, ssize_t, 1, (int fd, const void *data, size_t size), real(fd, data, size), real(fd, data, size / 2))
BYTES(pwrite, ssize_t, 1, (int fd, const void *data, size_t size, off_t offset), real(fd, data, size, offset), real(fd, data, size / 2, offset))
BYTES(pwrite64, ssize_t, 1, (int fd, const void *data, size_t size, off_t offset), real(fd, data, size, offset), real(fd, data, size / 2, offset))
BYTES(writev, ssize_t, 1, (int fd, const struct iovec *parts, int count), real(fd, parts, count), real(fd, parts, count > 1 ? count - 1 : 0))
BYTES(send, ssize_t, 1, (int fd, const void *data, size_t size, int flags), real(fd, data, size, flags), real(fd, data, size / 2, flags))
BYTES(sendto, ssize_t, 1, (int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length), real(fd, data, size, flags, to, length), real(fd, data, size / 2, flags, to, length))
BYTES(sendmsg, ssize_t, 1, (int fd, const struct msghdr *message, int flags), real(fd, message, flags), 0)
/* What only receives, syncs or changes a length has no half. */
BYTES(read, ssize_t, 0, (int fd, void *data, size_t size), real(fd, data, size), 0)
BYTES(recv, ssize_t, 0, (int fd, void *data, size_t size, int flags), real(fd, data, size, flags), 0)
BYTES(recvfrom, ssize_t, 0, (int fd, void *data, size_t size, int flags, struct sockaddr *from, socklen_t *length), real(fd, data, size, flags, from, length), 0)
BYTES(recvmsg, ssize_t, 0, (int fd, struct msghdr *message, int flags), real(fd, message, flags), 0)
BYTES(connect, int, 0, (int fd, const struct sockaddr *to, socklen_t length), real(fd, to, length), 0)
BYTES(fsync, int, 1, (int fd), real(fd), 0)
BYTES(fdatasync, int, 1, (int fd), real(fd), 0)
BYTES(ftruncate, int, 1, (int fd, off_t size), real(fd, size), 0)
BYTES(ftruncate64, int, 1, (int fd, off_t size), real(fd, size), 0)

/* A call on a name. */
#define NAME(name, parameters, path, whole)                                                           \
    typedef int(*name##_type) parameters;                                                             \
    int name parameters {                                                                             \
        REAL(name, name##_type);                                                                      \
        if (!changes_only && !traffic_only && ours(path)) switch (reached(#name, path)) {                              \
            case FAIL: return -1;                                                                     \
            case HALF: die(); break;                                                         \
            case GO_ON: break;                                                                        \
        }                                                                                             \
        return whole;                                                                                 \
    }

NAME(unlink, (const char *path), path, real(path))
NAME(rename, (const char *from, const char *to), to, real(from, to))
NAME(link, (const char *from, const char *to), to, real(from, to))
