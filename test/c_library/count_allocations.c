/* Copyright 2026 robodyn_ros contributors
 * SPDX-License-Identifier: Apache-2.0
 *
 * Library for LD_PRELOAD that counts calls of the allocator.
 */
#include <stddef.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void __libc_free(void *memory);

static long calls;

long allocations(void)
{
  return calls;
}

void *malloc(size_t size)
{
  calls++;
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
  calls++;
  return __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size)
{
  calls++;
  return __libc_realloc(memory, size);
}

void free(void *memory)
{
  calls++;
  __libc_free(memory);
}
