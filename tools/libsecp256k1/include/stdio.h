/* For messages that the library prints in its tests, and in default callbacks in whose place module.c has its own. */
#define stderr 0

int printf(const char *format, ...);
int fprintf(int file, const char *format, ...);
