/*
 * What rustc's thread sanitizer calls to copy and fill memory, and gcc's
 * runtime lacks. It knows the functions of libc instead.
 */

#include <string.h>

void *__tsan_memcpy(void *, const void *, size_t);
void *__tsan_memmove(void *, const void *, size_t);
void *__tsan_memset(void *, int, size_t);

void *
__tsan_memcpy(void *to, const void *from, size_t len)
{

	return (memcpy(to, from, len));
}

void *
__tsan_memmove(void *to, const void *from, size_t len)
{

	return (memmove(to, from, len));
}

void *
__tsan_memset(void *to, int byte, size_t len)
{

	return (memset(to, byte, len));
}
