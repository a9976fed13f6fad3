/* A disk whose syncs take SLOW_SYNC_MS longer: preloaded into whatever writes (LD_PRELOAD), and inherited by the processes
 * that it starts. Only syncs are slower; nothing else of the disk is, and what is synced is. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void wait_longer(void) {
    const char *given = getenv("SLOW_SYNC_MS");
    long microseconds = given ? (long)(atof(given) * 1000) : 0;
    struct timespec longer = {microseconds / 1000000, microseconds % 1000000 * 1000};
    nanosleep(&longer, NULL);
}

#define SYNC(name)                                                   \
    int name(int fd) {                                               \
        static int (*real)(int);                                     \
        if (!real) real = (int (*)(int))dlsym(RTLD_NEXT, #name);     \
        wait_longer();                                               \
        return real(fd);                                             \
    }

SYNC(fsync)
SYNC(fdatasync)
