# Origins steer, within limits: load reports as gRPC's servers send them, and a policy that keeps one odd report from
# doing harm.
#
# An origin answers its probe with "endpoint-load-metrics: TEXT cpu_utilization=0.8". The average of a few reports counts;
# nobody gets less than a tenth or more than ten times of what is normal; an origin that falls silent is as good as any
# other; one that comes back ramps up. Among those that are drawn, the one with less to do gets the request, so that a
# stuck origin is noticed between two probes.
# Needs the patched server (".response", see patches/) and the VMOD.

vcl 4.1;

import probe_directors;

probe orca {
    .url = "/health";
    .interval = 1s;
    .timeout = 2s;
    .window = 5;
    .threshold = 3;
    .response = by_utilization;
}

backend a { .host = "192.0.2.11"; .port = "8080"; .probe = orca; }
backend b { .host = "192.0.2.12"; .port = "8080"; .probe = orca; }

sub vcl_init {
    new pool = probe_directors.least();
    pool.weight_policy(smoothing = 0.3, ttl = 10s, slow_start = 30s, min = 0.1, max = 10, hysteresis = 0.05);
    pool.add_backend(a);
    pool.add_backend(b);
}

# A report that is missing or malformed gives -1, which is no load: then there is nothing to say.
sub by_utilization {
    if (probe_directors.orca(beresp.http.endpoint-load-metrics, "cpu_utilization", -1) >= 0) {
        pool.set_weight(beresp.backend, probe_directors.from_load(
            probe_directors.orca(beresp.http.endpoint-load-metrics, "cpu_utilization", 1)));
    }
}

sub vcl_recv {
    set req.backend_hint = pool.backend();
}
