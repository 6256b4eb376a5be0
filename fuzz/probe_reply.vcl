# The VCL of the fuzz target, see probe_reply.c

vcl 4.0;

# A connection may be kept open, so the fuzzer can end a reply either way. Time does not matter
probe as_plain {
    .window = 1; .threshold = 1; .expect_close = false; .timeout = 1d;
}
probe as_builtin {
    .window = 1; .threshold = 1; .expect_close = false; .timeout = 1d;
    .response = nothing;
}
probe as_busy {
    .window = 1; .threshold = 1; .expect_close = false; .timeout = 1d;
    .response = anything;
}

# Nobody connects to them
backend plain { .host = "127.0.0.1"; .probe = as_plain; }
backend builtin { .host = "127.0.0.1"; .probe = as_builtin; }
backend busy { .host = "127.0.0.1"; .probe = as_busy; }

sub vcl_recv {
    set req.backend_hint = builtin;
    set req.backend_hint = busy;
}

sub nothing {
}

sub anything {
    set beresp.http.X-All = beresp.proto + " " + beresp.status + " " + beresp.reason;
    set beresp.http.X-Host = beresp.http.Host + beresp.http.Foo + beresp.http.Content-Type;
    set beresp.http.X-Body = beresp.body;
    if (beresp.body ~ "load.: [0-9.]+" && !probe.body_truncated) {
        set beresp.http.X-Load = regsub(beresp.body, ".*load.: ([0-9.]+).*", "\1");
    }
    set beresp.http.X-Printable = regsuball(beresp.http.X-All, "[^ -~]", "?");
    if (beresp.http.X-Load ~ "^[0-9]+([.][0-9]+)?$") {
        set beresp.http.X-Seen = beresp.http.X-Load;
        unset beresp.http.X-Load;
    }
    unset beresp.http.Foo;
    unset beresp.http.Server;
    set beresp.proto = "HTTP/" + beresp.http.X-Printable;
    set beresp.reason = beresp.reason + beresp.http.Foo;
    if (beresp.status == 200) {
        set beresp.status = 503;
        return (ok);
    }
    if (beresp.status > 500) {
        return (fail("status is " + beresp.status + " " + beresp.reason));
    }
    set beresp.status = 200;
}
