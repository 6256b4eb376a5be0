# Weight and verdict from a health document: {"status": "up", "load": 1.25, ...}
#
# Many frameworks have a health page that is a JSON document. This reads two of its fields: "load", as in
# load_aware.vcl, makes the weight; any "status" but "up" makes the origin sick, with the reason in the log.
# A regular expression is no JSON parser: these two names should not occur twice in the document.
# An origin that sends no usable load keeps the weight it had.
#
# beresp.body has the first 16 kB of the document (parameter probe_body_max), without chunks and trailers.
# A JSON document is as long as it is, so one that was cut is not looked at.
# Needs the patched server (".response", see patches/) and the VMOD.

vcl 4.1;

import probe_directors;
import std;

probe document {
    .url = "/health";
    .interval = 1s;
    .timeout = 2s;
    .window = 5;
    .threshold = 3;
    .response = by_document;
}

backend a { .host = "192.0.2.11"; .port = "8080"; .probe = document; }
backend b { .host = "192.0.2.12"; .port = "8080"; .probe = document; }
backend c { .host = "192.0.2.13"; .port = "8080"; .probe = document; }

sub vcl_init {
    new rr = probe_directors.round_robin();
    rr.add_backend(a);
    rr.add_backend(b);
    rr.add_backend(c);
}

sub by_document {
    if (probe.body_truncated) {
        return (fail("health document is not all there"));
    }
    # What comes before the field is said in a way that needs no second try: with "^.*" instead, a document of this
    # size is beyond pcre2_match_limit. (?s) is because it has lines.
    if (beresp.body ~ {""load"\s*:\s*\d{1,9}(\.\d{1,9})?\s*[,}]"}) {
        rr.set_weight(beresp.backend, 1 / std.real(regsub(beresp.body,
            {"(?s)^(?:[^"]++|"(?!load"))*+"load"\s*:\s*(\d{1,9}(\.\d{1,9})?)\s*[,}].*$"}, "\1"), 1.0));
    }
    if (beresp.body !~ {""status"\s*:\s*"up""}) {
        return (fail("health document does not say up"));
    }
}

sub vcl_recv {
    set req.backend_hint = rr.backend();
}
