#include <stddef.h>

/* Named by functions of the library that the module does not call, and that the linker leaves out. */
void *malloc(size_t length);
void free(void *memory);
void abort(void);
