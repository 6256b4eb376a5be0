# Maintenance without errors: an origin that announces it gets no new request, and stays healthy.
#
# While an origin answers its probe with "X-Maintenance: yes" its weight is 0. What it is working on
# goes on; when the header is gone it takes part again, within one probe interval.
# Needs the patched server (".response", see patches/) and the VMOD.

vcl 4.1;

import probe_directors;

probe state {
    .url = "/health";
    .interval = 1s;
    .response = by_state;
}

backend a { .host = "192.0.2.11"; .port = "8080"; .probe = state; }
backend b { .host = "192.0.2.12"; .port = "8080"; .probe = state; }

sub vcl_init {
    new pool = probe_directors.random();
    pool.add_backend(a, 1);
    pool.add_backend(b, 1);
}

sub by_state {
    if (beresp.http.X-Maintenance == "yes") {
        pool.set_weight(beresp.backend, 0);
    } else {
        pool.set_weight(beresp.backend, 1);
    }
}

sub vcl_recv {
    set req.backend_hint = pool.backend();
}
