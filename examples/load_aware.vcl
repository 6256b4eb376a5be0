# Round robin over three origins, each in proportion to what it can take.
#
# An origin answers its probe with "X-Load: <number>": 1.0 is a normal load, 0.5 half of it, 2.0 twice.
# The weight is its inverse. An origin that sends no usable X-Load keeps the weight it had.
# Needs the patched server (".response", see patches/) and the VMOD.

vcl 4.1;

import probe_directors;
import std;

probe load {
    .url = "/health";
    .interval = 1s;
    .timeout = 2s;
    .window = 5;
    .threshold = 3;
    .response = by_load;
}

backend a { .host = "192.0.2.11"; .port = "8080"; .probe = load; }
backend b { .host = "192.0.2.12"; .port = "8080"; .probe = load; }
backend c { .host = "192.0.2.13"; .port = "8080"; .probe = load; }

sub vcl_init {
    new rr = probe_directors.round_robin();
    rr.add_backend(a);
    rr.add_backend(b);
    rr.add_backend(c);
}

# Runs on every probe response. Without a return it goes on in vcl_probe_response,
# which says whether the origin is healthy as without VCL: by the status.
sub by_load {
    if (beresp.http.X-Load ~ "^\d{1,9}(\.\d{1,9})?$") {
        rr.set_weight(beresp.backend, 1 / std.real(beresp.http.X-Load, 1.0));
    }
}

sub vcl_recv {
    set req.backend_hint = rr.backend();
}
