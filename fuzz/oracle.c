/*
 * Part of a fuzz target, see probe_reply.c
 *
 * What VCL has to see: worked out naively, from the reply as a whole
 */

#include "config.h"

#include <ctype.h>
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cache/cache_varnishd.h"

#include "cache/cache_probe_response.h"
#include "vct.h"

#include "probe_reply.h"

/* Strings end where they say and are in the workspace, or constants */

static void
or_string(const struct vpr *vpr, const txt *t, int elsewhere)
{

	assert(t->b != NULL);
	assert(t->e == strchr(t->b, '\0'));
	assert(strchr(t->b, '\n') == NULL);
	assert(elsewhere || WS_Allocated(vpr->ws, t->b, Tlen(*t) + 1));
}

void
ORACLE_Strings(const struct vpr *vpr)
{
	const struct http *hp;
	unsigned u;

	CHECK_OBJ_NOTNULL(vpr, VPR_MAGIC);
	hp = vpr->http;
	CHECK_OBJ_NOTNULL(hp, HTTP_MAGIC);
	WS_Assert(vpr->ws);
	assert(hp->shd <= cache_param->http_max_hdr);
	assert(hp->nhd <= hp->shd);
	assert(hp->nhd >= HTTP_HDR_FIRST);
	or_string(vpr, &hp->hd[HTTP_HDR_PROTO], 0);
	or_string(vpr, &hp->hd[HTTP_HDR_STATUS], 1);
	or_string(vpr, &hp->hd[HTTP_HDR_REASON], 1);
	for (u = HTTP_HDR_FIRST; u < hp->nhd; u++)
		or_string(vpr, &hp->hd[u], 0);
}

/*
 * The head ends with an empty line. Returns how much of the reply it is, at
 * most what there is space for.
 */

static size_t
or_head(const struct vpr *vpr, int *done)
{
	size_t i, max = vmin_t(size_t, reply.len, vpr->head_size);

	*done = 1;
	for (i = 1; i <= max; i++) {
		if (i >= 2 && !memcmp(reply.data + i - 2, "\n\n", 2))
			return (i);
		if (i >= 3 && !memcmp(reply.data + i - 3, "\n\r\n", 3))
			return (i);
	}
	*done = 0;
	return (max);
}

/*
 * The protocol is what the reply begins with, the reason what its first line
 * ends with, or the text which goes with the status. How long they are and
 * what the status is, is seen from the verdict.
 */

static void
or_status_line(const struct vpr *vpr, size_t head)
{
	const struct http *hp = vpr->http;
	const txt *proto = &hp->hd[HTTP_HDR_PROTO];
	const txt *reason = &hp->hd[HTTP_HDR_REASON];
	size_t b, e;

	assert(atoi(hp->hd[HTTP_HDR_STATUS].b) == hp->status);
	assert(Tlen(*proto) <= head);
	assert(!memcmp(proto->b, reply.data, Tlen(*proto)));

	if (!WS_Allocated(vpr->ws, reason->b, Tlen(*reason) + 1)) {
		assert(*reason->b == '\0' ||
		    !strcmp(reason->b, http_Status2Reason(hp->status, NULL)));
		return;
	}
	b = reason->b - vpr->head;
	e = reason->e - vpr->head;
	assert(e <= head);
	assert(!memcmp(reason->b, reply.data + b, e - b));
	if (b == Tlen(*proto))
		assert(e == b);		// nothing comes between, so it is none
	else
		assert(e == head || memchr("\r\n", reply.data[e], 3));
}

/*
 * The headers, put together byte by byte: a line goes on if the next one
 * begins with a blank, ends at a NUL, counts if it has a name with a colon
 * and an end. If the reply did not fit, then the last line is only complete
 * if another one follows.
 */

static int
or_is_header(const char *p)
{
	const char *q;

	for (q = p; vct_istchar(*q); q++)
		continue;
	return (q > p && *q == ':');
}

static void
or_headers(const struct vpr *vpr, size_t head, int done)
{
	const struct http *hp = vpr->http;
	int cut = (!done && reply.len > head);
	unsigned nhd = HTTP_HDR_FIRST, bogus = 0, lost = 0;
	char line[head + 1];
	size_t i = 0, l = 0;

	while (i < head && reply.data[i++] != '\n')
		continue;
	for (; i < head; i++) {
		if (reply.data[i] != '\n') {
			line[l++] = reply.data[i];
			continue;
		}
		if (l == 0 || (l == 1 && line[0] == '\r')) {
			l = 0;
			break;
		}
		if (i + 1 < head && memchr(" \t", reply.data[i + 1], 2)) {
			if (line[l - 1] == '\r')
				line[l - 1] = ' ';
			line[l++] = ' ';
			continue;
		}
		if (cut && i + 1 == head)
			break;
		line[l] = '\0';
		l = strlen(line);
		while (l > 0 && vct_islws(line[l - 1]))
			line[--l] = '\0';
		if (!or_is_header(line))
			bogus++;
		else if (nhd == hp->shd)
			lost++;
		else {
			assert(nhd < hp->nhd);
			assert(!strcmp(hp->hd[nhd].b, line));
			nhd++;
		}
		l = 0;
	}
	if (l > 0 && !cut)
		bogus++;
	assert(nhd == hp->nhd);
	assert(bogus == vpr->n_bogus);
	assert((lost > 0) == (vpr->lost != NULL));
}

/* The body. Both say how long it is and whether that is the end of it */

static size_t
or_chunked(const uint8_t *p, const uint8_t *e, char *body, int *complete)
{
	size_t l = 0;
	ssize_t chunk;

	while (1) {
		while (p < e && vct_islws(*p))
			p++;
		if (p == e || !vct_ishex(*p))
			return (l);
		for (chunk = 0; p < e && vct_ishex(*p); p++) {
			if (chunk > (SSIZE_MAX >> 4))
				return (l);
			chunk = chunk * 16 + (vct_isdigit(*p) ? *p - '0' :
			    tolower(*p) - 'a' + 10);
		}
		while (p < e && vct_islws(*p) && *p != '\n')
			p++;
		if (p < e && *p == ';')
			while (p < e && *p != '\n')
				p++;
		if (p == e || *p++ != '\n')
			return (l);
		if (chunk == 0) {
			*complete = 1;
			return (l);
		}
		chunk = vmin_t(ssize_t, chunk, e - p);
		memcpy(body + l, p, chunk);
		l += chunk;
		p += chunk;
	}
}

static void
or_body(const struct vpr *vpr, size_t head, int done)
{
	const struct http *hp = vpr->http;
	const uint8_t *p = reply.data + head;
	size_t l = 0, len = reply.len - head;
	size_t max = cache_param->probe_body_max;
	char body[len + 1];
	const char *coding;
	int complete = 0;
	ssize_t cl;

	cl = http_GetContentLength(hp);
	if (hp->status / 100 == 1 || hp->status == 204 || hp->status == 304)
		complete = 1;
	else if (!done || vpr->lost != NULL)
		complete = 0;
	else if (http_GetHdr(hp, H_Transfer_Encoding, &coding)) {
		if (http_coding_eq(coding, chunked))
			l = or_chunked(p, p + len, body, &complete);
	} else if (cl >= -1) {
		l = (cl < 0) ? len : vmin_t(size_t, len, cl);
		memcpy(body, p, l);
		complete = (cl < 0) ? (reply.end == END_CLOSE) : (cl == (ssize_t)l);
	}
	if (l > max) {
		l = max;
		complete = 0;
	}
	body[l] = '\0';
	if (strlen(body) < l)
		complete = 0;

	assert(vpr->body->len <= max);
	assert(vpr->body->len == strlen(vpr->body->buf));
	assert(!strcmp(vpr->body->buf, body));
	assert((vpr->body->cut == NULL) == complete);
}

void
ORACLE_Response(const struct vpr *vpr)
{
	size_t head;
	int done;

	ORACLE_Strings(vpr);
	head = or_head(vpr, &done);
	or_status_line(vpr, head);
	or_headers(vpr, head, done);
	or_body(vpr, head, done);
}
