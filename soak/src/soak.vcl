# What the soak runs, but for the lines that src/vcl.rs puts in place of those that begin with "##".
# Two probes, one with the verdict of the built-in VCL and one with its own; both set weights in all directors.
# Requests are retried as an administrator would who knows which of the backends seldom fail.

vcl 4.1;

import probe_directors;
import std;

# Healthy to begin with: a VCL is in use as soon as it is loaded
probe load {
    .url = "/probe";
    .interval = 100ms;
    .timeout = 500ms;
    .window = 4;
    .threshold = 2;
    .initial = 2;
    .response = by_load;
}

probe state {
    .url = "/probe";
    .interval = 100ms;
    .timeout = 500ms;
    .window = 4;
    .threshold = 2;
    .initial = 2;
    .response = by_state;
}

## backends

sub vcl_init {
    new rr = probe_directors.round_robin();
    new rnd = probe_directors.random();
    new hash = probe_directors.hash();
    new shard = probe_directors.shard();
    new fb = probe_directors.fallback();
    ## members
    shard.reconfigure();

    new layered = probe_directors.fallback();
    layered.add_backend(fb.backend());
    layered.add_backend(rr.backend());

    new last = probe_directors.random();
    ## steady
}

sub weigh {
    rr.set_weight(beresp.backend, std.real(beresp.http.X-Weight, 1.0));
    rnd.set_weight(beresp.backend, std.real(beresp.http.X-Weight, 1.0));
    hash.set_weight(beresp.backend, std.real(beresp.http.X-Weight, 1.0));
    shard.set_weight(beresp.backend, std.real(beresp.http.X-Weight, 1.0));
    fb.set_weight(beresp.backend, std.real(beresp.http.X-Weight, 1.0));
}

# No return: goes on in vcl_probe_response, ours first. A load of 0 is a VCL failure, hence a bad probe
sub by_load {
    if (beresp.http.X-Load ~ "^\d{1,9}(\.\d{1,9})?$") {
        set beresp.http.X-Weight = 1.0 / std.real(beresp.http.X-Load, 1.0);
        call weigh;
    }
}

sub vcl_probe_response {
    if (beresp.http.X-State == "down") {
        return (fail);
    }
}

# Takes the load as it comes, be it negative or no number
sub by_state {
    if (beresp.http.X-State == "drain") {
        set beresp.http.X-Weight = "0";
    } else {
        set beresp.http.X-Weight = beresp.http.X-Load;
    }
    call weigh;
    if (beresp.status == 200 && beresp.http.X-State ~ "^(up|drain)$") {
        return (ok);
    }
    return (fail("state " + beresp.http.X-State + " after " + probe.duration));
}

sub vcl_recv {
    if (req.url ~ "^/round_robin/") {
        set req.backend_hint = rr.backend();
    } else if (req.url ~ "^/random/") {
        set req.backend_hint = rnd.backend();
    } else if (req.url ~ "^/hash/") {
        set req.backend_hint = hash.backend(req.url);
    } else if (req.url ~ "^/shard/") {
        set req.backend_hint = shard.backend(by=URL);
    } else if (req.url ~ "^/fallback/") {
        set req.backend_hint = fb.backend();
    } else {
        set req.backend_hint = layered.backend();
    }
    return (pass);
}

sub vcl_backend_fetch {
    set bereq.connect_timeout = 500ms;
    set bereq.first_byte_timeout = 1s;
    set bereq.between_bytes_timeout = 500ms;
    # Three times anywhere, then those that seldom fail
    if (bereq.retries > 2) {
        set bereq.backend = last.backend();
    } else if (bereq.retries > 0) {
        set bereq.backend = rnd.backend();
    }
}

sub vcl_backend_response {
    set bereq.http.X-Tried = bereq.http.X-Tried + " " + beresp.backend + "=" + beresp.status;
    if (bereq.retries < 4 && (beresp.status != 200 || beresp.http.Content-Length !~ "^\d{1,4}$")) {
        return (retry);
    }
    # Backends fail in the middle of a body as well: with all of it here there is still time for another one
    set beresp.do_stream = false;
}

sub vcl_backend_error {
    set bereq.http.X-Tried = bereq.http.X-Tried + " " + beresp.backend + "=" + beresp.reason;
    if (bereq.retries < 4) {
        return (retry);
    }
    # For the report of the soak
    set beresp.http.X-Tried = bereq.http.X-Tried;
}
