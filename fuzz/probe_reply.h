/*
 * What the parts of the fuzz target have in common, see probe_reply.c
 */

struct vpr;

enum end {
	END_CLOSE,
	END_IDLE,		// without .expect_close, that is fine too
	END_RESET,
};

/* What the backend has to say, and how it comes in */
struct reply {
	const uint8_t		*data;
	size_t			len;
	size_t			pos;
	uint32_t		pieces;	// all at once if zero
	enum end		end;
};

extern struct reply reply;

/* oracle.c */
void ORACLE_Strings(const struct vpr *);
void ORACLE_Response(const struct vpr *);

/* The linker has the calls of NAME go to __wrap_NAME, see probe_reply.mk */
#define WRAP(ret, name, ...)						\
	ret __real_##name(__VA_ARGS__);					\
	ret __wrap_##name(__VA_ARGS__);					\
	ret __wrap_##name(__VA_ARGS__)
