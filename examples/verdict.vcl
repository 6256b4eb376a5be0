# A verdict of one's own: accepts a redirect, refuses with a reason, leaves the rest to the built-in code.
#
# vcl_probe_response runs on the responses of every probe. What it does not decide, the built-in
# sub decides: healthy if the status is the probe's .expected_response (200).
# Needs the patched server; no VMOD of this project.

vcl 4.1;

import std;

probe ping {
    .url = "/ping";
    .interval = 2s;
}

backend a { .host = "192.0.2.11"; .port = "8080"; .probe = ping; }
backend b { .host = "192.0.2.12"; .port = "8080"; .probe = ping; }

sub vcl_probe_response {
    # A front end that sends its visitors to https is up
    if (beresp.status == 301 && beresp.http.Location ~ "^https://") {
        return (ok);
    }
    # Healthy by its status, yet far behind: the text is in the log of the probe
    if (std.integer(beresp.http.X-Replication-Lag, 0) > 30) {
        return (fail("replication lag " + beresp.http.X-Replication-Lag + " s"));
    }
    # An answer that takes longer than this helps nobody
    if (probe.duration > 1s) {
        std.log("probe " + probe.name + " slow: " + probe.duration);
        return (fail("slow"));
    }
}

sub vcl_recv {
    if (std.healthy(a)) {
        set req.backend_hint = a;
    } else {
        set req.backend_hint = b;
    }
}
