/*
 * Time directors from inside a worker thread. See vmod_bench.vcc.
 */

#include <malloc.h>
#include <time.h>
#include <sys/prctl.h>

#include "cache/cache.h"

#include "vcc_if.h"

#define MEMBERS		4096
/* Between two looks at the clock: few enough for slow directors */
#define BATCH		64

static VCL_BACKEND members[MEMBERS];
static unsigned n_members;

/* Where all threads of a measurement wait for the last one */
static struct {
	pthread_mutex_t	mtx;
	pthread_cond_t	cond;
	VCL_INT		here;
	unsigned	round;
} gate = {
	PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0
};

/* What the sub that is called gets to see */
static __thread struct {
	unsigned long	turn;
	unsigned	members;
	unsigned	key;
	char		text[16];
} own;

static long long
now_ns(void)
{
	struct timespec ts;

	AZ(clock_gettime(CLOCK_MONOTONIC, &ts));
	return (ts.tv_sec * 1000000000LL + ts.tv_nsec);
}

static void
wait_for(VCL_INT threads)
{
	unsigned round;

	PTOK(pthread_mutex_lock(&gate.mtx));
	round = gate.round;
	if (++gate.here >= threads) {
		gate.here = 0;
		gate.round++;
		PTOK(pthread_cond_broadcast(&gate.cond));
	}
	while (gate.round == round)
		PTOK(pthread_cond_wait(&gate.cond, &gate.mtx));
	PTOK(pthread_mutex_unlock(&gate.mtx));
}

static VCL_STRING
result(VRT_CTX, long long ns, unsigned long count)
{
	const char *p;

	p = WS_Printf(ctx->ws, "%lld %lu", ns, count);
	if (p == NULL)
		VRT_fail(ctx, "bench: out of workspace");
	return (p);
}

VCL_VOID v_matchproto_(td_bench_add)
vmod_add(VRT_CTX, VCL_BACKEND be)
{
	CHECK_OBJ_NOTNULL(ctx, VRT_CTX_MAGIC);
	if (n_members == MEMBERS) {
		VRT_fail(ctx, "bench: too many members");
		return;
	}
	members[n_members++] = be;
}

VCL_VOID v_matchproto_(td_bench_times)
vmod_times(VRT_CTX, VCL_INT n, VCL_SUB sub)
{
	CHECK_OBJ_NOTNULL(ctx, VRT_CTX_MAGIC);
	own.members = n;
	for (own.turn = 0; own.turn < (unsigned long)n; own.turn++)
		VRT_call(ctx, sub);
}

VCL_STRING v_matchproto_(td_bench_heap)
vmod_heap(VRT_CTX, VCL_SUB sub)
{
	struct mallinfo2 before, after;
	const char *p;

	CHECK_OBJ_NOTNULL(ctx, VRT_CTX_MAGIC);
	before = mallinfo2();
	VRT_call(ctx, sub);
	after = mallinfo2();
	/* Large blocks are mapped one by one, and counted apart */
	p = WS_Printf(ctx->ws, "%lld",
	    (long long)(after.uordblks + after.hblkhd) -
	    (long long)(before.uordblks + before.hblkhd));
	if (p == NULL)
		VRT_fail(ctx, "bench: out of workspace");
	return (p);
}

static VCL_STRING
resolve(VRT_CTX, VCL_BACKEND dir, VCL_INT threads, VCL_DURATION time,
    unsigned long *number)
{
	unsigned long count = 0;
	long long start, now, end;
	unsigned i;

	CHECK_OBJ_NOTNULL(ctx, VRT_CTX_MAGIC);
	/* What is kept with a task is made before it counts */
	AN(VRT_DirectorResolve(ctx, dir));
	wait_for(threads);
	start = now_ns();
	end = start + (long long)(time * 1e9);
	do {
		for (i = 0; i < BATCH; i++) {
			if (number != NULL)
				(void)__atomic_fetch_add(number, 1,
				    __ATOMIC_RELAXED);
			if (VRT_DirectorResolve(ctx, dir) == NULL) {
				VRT_fail(ctx, "bench: no backend");
				return (NULL);
			}
		}
		count += BATCH;
		now = now_ns();
	} while (now < end);
	return (result(ctx, now - start, count));
}

VCL_STRING v_matchproto_(td_bench_resolve)
vmod_resolve(VRT_CTX, VCL_BACKEND dir, VCL_INT threads, VCL_DURATION time)
{
	return (resolve(ctx, dir, threads, time, NULL));
}

VCL_STRING v_matchproto_(td_bench_resolve_by_number)
vmod_resolve_by_number(VRT_CTX, VCL_BACKEND dir, VCL_INT threads,
    VCL_DURATION time)
{
	/* Two cache lines, as they are fetched in pairs */
	static _Alignas(128) unsigned long number[16];

	return (resolve(ctx, dir, threads, time, number));
}

static void
sleep_until(long long ns)
{
	struct timespec ts;

	ts.tv_sec = ns / 1000000000;
	ts.tv_nsec = ns % 1000000000;
	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
}

VCL_STRING v_matchproto_(td_bench_call)
vmod_call(VRT_CTX, VCL_SUB sub, VCL_INT n, VCL_INT threads, VCL_DURATION time,
    VCL_REAL per_second)
{
	unsigned long count = 0;
	long long start, now, end, due;

	CHECK_OBJ_NOTNULL(ctx, VRT_CTX_MAGIC);
	own.members = n;
	own.turn = 0;
	VRT_call(ctx, sub);
	if (per_second > 0)
		/* Sleep for less than the kernel's usual 50 us more */
		(void)prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	wait_for(threads);
	start = now_ns();
	end = start + (long long)(time * 1e9);
	do {
		own.turn++;
		VRT_call(ctx, sub);
		count++;
		if (per_second > 0) {
			due = start + (long long)(count / per_second * 1e9);
			if (due > now_ns())
				sleep_until(due < end ? due : end);
			now = now_ns();
		} else if (count % BATCH == 0)
			now = now_ns();
		else
			now = start;
	} while (now < end);
	if (per_second > 0)
		/* 0: that of the process */
		(void)prctl(PR_SET_TIMERSLACK, 0UL, 0UL, 0UL, 0UL);
	return (result(ctx, now - start, count));
}

VCL_BACKEND v_matchproto_(td_bench_member)
vmod_member(VRT_CTX)
{
	(void)ctx;
	assert(own.members > 0);
	assert(own.members <= n_members);
	return (members[own.turn % own.members]);
}

VCL_REAL v_matchproto_(td_bench_weight)
vmod_weight(VRT_CTX, VCL_INT kinds)
{
	unsigned long place = own.turn % own.members;

	(void)ctx;
	return ((1 + place % kinds) *
	    (own.turn / own.members % 2 ? 1.04 : 1.0));
}

VCL_INT v_matchproto_(td_bench_number)
vmod_number(VRT_CTX)
{
	(void)ctx;
	/* Multiples of an odd number go through all of 2^32 */
	own.key += 2654435761U;
	return (own.key);
}

VCL_STRING v_matchproto_(td_bench_text)
vmod_text(VRT_CTX)
{
	unsigned long number = vmod_number(ctx);
	unsigned i;

	for (i = 0; i < 8; i++, number >>= 4)
		own.text[i] = "0123456789abcdef"[number & 15];
	own.text[i] = '\0';
	return (own.text);
}

VCL_VOID v_matchproto_(td_bench_took)
vmod_took(VRT_CTX, VCL_BACKEND be)
{
	(void)ctx;
	(void)be;
}
