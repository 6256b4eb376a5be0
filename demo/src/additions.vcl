# Appended to examples/load_aware.vcl by the demo: no caching, and the weights made visible.

sub vcl_recv {
    return (pass);
}

sub vcl_deliver {
    set resp.http.X-Weight-a = rr.weight(a);
    set resp.http.X-Weight-b = rr.weight(b);
    set resp.http.X-Weight-c = rr.weight(c);
}
