/*
 * Fuzz target: replies to health probes, from the socket to the verdict
 *
 * This is varnishd, with its manager, VCL compiler and worker threads.
 * Of its files only cache_backend_probe.c is compiled from here, with the
 * calls replaced that talk to the backend (backend.c), and with the fuzzer in
 * the place of the scheduler: each execution is a few probes, the reply to
 * which is the fuzzer's input. They run in a worker thread of the child.
 *
 * The backends of probe_reply.vcl get the same reply:
 *
 *	plain	no VCL has a say, so this is what varnishd always did
 *	builtin	the builtin vcl_probe_response decides
 *	busy	a sub which reads and writes all there is
 */

#include "cache/cache_backend_probe.c"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <sanitizer/allocator_interface.h>

#include "vcl.h"
#include "common/heritage.h"

#include "probe_reply.h"

/* What is fuzzed is above, so none of the following is to lead the fuzzer */
#pragma clang attribute push (__attribute__((no_sanitize("coverage"))), apply_to = function)

static struct vbp_target *plain, *builtin, *busy;
static struct worker *worker;

/*--------------------------------------------------------------------
 * What is asserted anywhere. A panic would make a text of it and keep it from
 * the fuzzer.
 */

void v_noreturn_ __wrap_VAS_Fail(const char *, const char *, int,
    const char *, enum vas_e);

void v_noreturn_
__wrap_VAS_Fail(const char *func, const char *file, int line,
    const char *cond, enum vas_e kind)
{

	(void)kind;
	fprintf(stderr, "%s line %d, %s(): not true: %s\n", file, line, func,
	    cond);
	abort();
}

/*--------------------------------------------------------------------
 * The life of a response: made, shown to VCL, freed
 */

static unsigned live;		// how many there are
static unsigned seen;		// has VCL had a look at it?
static unsigned seen_status;

WRAP(struct vpr *, VPR_New, unsigned use_body)
{

	AN(use_body);
	live++;
	return (__real_VPR_New(use_body));
}

WRAP(void, VCL_probe_response_method, struct vcl *vcl, struct worker *wrk,
    struct req *req, struct busyobj *bo, void *specific)
{
	struct vpr *vpr;

	CAST_OBJ_NOTNULL(vpr, specific, VPR_MAGIC);
	ORACLE_Response(vpr);
	seen = 1;
	seen_status = vpr->http->status;
	__real_VCL_probe_response_method(vcl, wrk, req, bo, specific);
}

WRAP(void, VPR_Free, struct vpr **vprp)
{

	/* What VCL left behind is as it should be, too */
	if (seen)
		ORACLE_Strings(*vprp);
	__real_VPR_Free(vprp);
	live--;
}

/*--------------------------------------------------------------------
 * One probe, as vbp_scheduler() has it done. There is only one at a time, so
 * between them all targets are scheduled, but not in the heap.
 */

static struct vbp_target *
fz_take(void)
{
	struct vbp_target *vt;

	Lck_Lock(&vbp_mtx);
	vt = VBH_root(vbp_heap);
	if (vt != NULL)
		VBH_delete(vbp_heap, vt->heap_idx);
	Lck_Unlock(&vbp_mtx);
	return (vt);
}

static unsigned
fz_probe(struct vbp_target *vt, const uint8_t *data, size_t len,
    uint32_t pieces, enum end end)
{

	reply = (struct reply){ data, len, 0, pieces, end };
	seen = 0;

	Lck_Lock(&vbp_mtx);
	assert(vt->state == vbp_state_scheduled);
	vt->state = vbp_state_running;
	Lck_Unlock(&vbp_mtx);
	vbp_task(worker, vt);
	assert(fz_take() == vt);

	assert(live == 0);
	assert(reply.pos == reply.len);
	assert(seen == (vt->use_vcl && len > 0 && end != END_RESET));
	return (vt->happy & 1);
}

/*
 * The builtin VCL says what the C code says, but for versions which are
 * a number to sscanf(3) and not digits with or without decimals
 */

static int
fz_is_version(const char *line)
{
	int number = -1, digits = 0;

	(void)sscanf(line, "HTTP/%*f%n", &number);
	(void)sscanf(line, "HTTP/%*[0-9]%n.%*[0-9]%n", &digits, &digits);
	return (number == digits);
}

/*
 * How a reply comes in makes no difference, but if it is reset, then there is
 * no verdict. To be fast, not everything is done with each input.
 */

static void
fz_execute(const uint8_t *data, size_t len)
{
	volatile struct params *param = heritage.param;
	struct params saved;
	unsigned good, status = 0;
	char line[sizeof plain->resp_buf];
	uint32_t h = 2166136261;
	enum end end;
	size_t i;

	for (i = 0; i < len; i++)
		h = (h ^ data[i]) * 16777619;
	h |= 1;
	end = (h & 0x100) ? END_CLOSE : END_IDLE;

	good = fz_probe(plain, data, len, 0, END_CLOSE);
	bprintf(line, "%s", plain->resp_buf);
	if ((h & 0x600) == 0) {
		assert(fz_probe(plain, data, len, h, end) == good);
		assert(!strcmp(line, plain->resp_buf));
	}

	assert(fz_probe(builtin, data, len, h, end) ==
	    (good && fz_is_version(line)));
	if (seen && sscanf(line, "HTTP/%*f %u ", &status) == 1)
		assert(seen_status == (status > 65535 ? 0 : status));
	if ((h & 0x3800) == 0)
		assert(!fz_probe(builtin, data, len, h, END_RESET));

	saved = *param;
	if (h & 0x4000) {
		/* The least that can be set, or that makes a difference */
		param->http_max_hdr = 32;
		param->workspace_probe = 4096;
		param->probe_body_max = (h >> 16) & 7;
	}
	(void)fz_probe(busy, data, len, h, end);
	*param = saved;
}

/*
 * All memory is given back. Other threads have theirs, so more of it is only
 * a leak if it happens again and again.
 */

static int
fz_one(const uint8_t *data, size_t len)
{
	size_t before, after = 1;
	unsigned u;

	for (before = 0, u = 0; after > before && u < 10; u++) {
		before = __sanitizer_get_current_allocated_bytes();
		fz_execute(data, len);
		after = __sanitizer_get_current_allocated_bytes();
	}
	assert(after <= before);
	return (0);
}

/*--------------------------------------------------------------------
 * The fuzzer has a timer for what takes too long, and wants the signal in its
 * own thread: all others have it blocked from before there are any.
 */

static void
fz_alarm(int how)
{
	sigset_t set;

	AZ(sigemptyset(&set));
	AZ(sigaddset(&set, SIGALRM));
	PTOK(pthread_sigmask(how, &set, NULL));
}

static void __attribute__((constructor))
fz_block_alarm(void)
{

	fz_alarm(SIG_BLOCK);
}

/*--------------------------------------------------------------------
 * Start: once the backends are warm, a worker thread becomes the fuzzer
 */

int LLVMFuzzerRunDriver(int *argc, char ***argv,
    int (*)(const uint8_t *data, size_t len));

static void v_matchproto_(task_func_t)
fz_task(struct worker *wrk, void *priv)
{
	char *args, *p, *av[64], **argv = av;
	int fd, argc = 0;

	AZ(priv);
	worker = wrk;

	/* Arguments of the fuzzer, one a line; the first one is where it writes */
	args = getenv("PROBE_REPLY_ARGS");
	AN(args);
	for (p = strtok(args, "\n"); p != NULL; p = strtok(NULL, "\n")) {
		av[argc++] = p;
		assert(argc < 64);
	}
	assert(argc > 0);
	av[argc] = NULL;
	fd = open(av[0], O_WRONLY | O_APPEND);
	assert(fd >= 0);
	assert(dup2(fd, STDERR_FILENO) == STDERR_FILENO);
	closefd(&fd);

	fz_alarm(SIG_UNBLOCK);
	exit(LLVMFuzzerRunDriver(&argc, &argv, fz_one));
}

static void * v_matchproto_(bgthread_t)
fz_scheduler(struct worker *wrk, void *priv)
{
	static struct pool_task task[1];
	struct vbp_target *vt;

	(void)wrk;
	while (plain == NULL || builtin == NULL || busy == NULL) {
		VTIM_sleep(.01);
		vt = fz_take();
		if (vt == NULL)
			continue;
		if (!strcmp(vt->backend->vcl_name, "plain"))
			plain = vt;
		else if (!strcmp(vt->backend->vcl_name, "builtin"))
			builtin = vt;
		else
			busy = vt;
	}
	AZ(plain->use_vcl);
	AN(builtin->use_vcl);
	AN(busy->use_vcl);

	task->func = fz_task;
	while (Pool_Task_Any(task, TASK_QUEUE_REQ) != 0)
		VTIM_sleep(.01);
	return (priv);
}

WRAP(void, WRK_BgThread, pthread_t *thr, const char *name, bgthread_t *func,
    void *priv)
{

	__real_WRK_BgThread(thr, name,
	    func == vbp_scheduler ? fz_scheduler : func, priv);
}

#pragma clang attribute pop
