/*
 * Part of a fuzz target, see probe_reply.c
 *
 * The backend: it takes any request, and has a reply which comes in pieces
 */

#include "config.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cache/cache_varnishd.h"

#include "cache/cache_backend.h"
#include "cache/cache_conn_pool.h"
#include "vsa.h"
#include "vtcp.h"

#include "probe_reply.h"

#define BACKEND_FD	INT_MAX

struct reply reply;

WRAP(int, VCP_Open, struct conn_pool *cp, vtim_dur tmo, VCL_IP *sap, int *errp)
{

	(void)cp;
	(void)tmo;
	*sap = bogo_ip;
	*errp = 0;
	return (BACKEND_FD);
}

WRAP(void, VTCP_close, int *fdp)
{

	if (*fdp != BACKEND_FD)
		__real_VTCP_close(fdp);
	else
		*fdp = -1;
}

WRAP(ssize_t, write, int fd, const void *buf, size_t len)
{

	return (fd == BACKEND_FD ? (ssize_t)len : __real_write(fd, buf, len));
}

WRAP(int, poll, struct pollfd *pfd, nfds_t n, int tmo)
{

	if (pfd->fd != BACKEND_FD)
		return (__real_poll(pfd, n, tmo));
	if (reply.pos == reply.len && reply.end == END_IDLE)
		return (0);
	pfd->revents = POLLIN;
	return (1);
}

/* Pieces are pseudo-random, half of them small */

static size_t
be_piece(size_t most)
{
	uint32_t x = reply.pieces;

	if (x == 0 || most == 0)
		return (most);
	x ^= x << 13;
	x ^= x >> 17;
	x ^= x << 5;
	reply.pieces = x;
	if (x & 1)
		most = vmin_t(size_t, most, 16);
	return (1 + (x >> 1) % most);
}

WRAP(ssize_t, read, int fd, void *buf, size_t size)
{
	size_t l;

	if (fd != BACKEND_FD)
		return (__real_read(fd, buf, size));
	l = be_piece(vmin(size, reply.len - reply.pos));
	if (l == 0 && reply.end == END_RESET) {
		errno = ECONNRESET;
		return (-1);
	}
	memcpy(buf, reply.data + reply.pos, l);
	reply.pos += l;
	return (l);
}
