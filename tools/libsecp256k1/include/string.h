#include <stddef.h>

void *memcpy(void *into, const void *from, size_t length);
void *memset(void *into, int byte, size_t length);
int memcmp(const void *left, const void *right, size_t length);
void *memmove(void *into, const void *from, size_t length);
