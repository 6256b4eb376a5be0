//! The test for varnishtest: one probe for each call, in their order.

use std::fmt::Write;

use super::calls::{Call, Calls};
use super::description::Vmod;

/// Where the log records go. Each call writes one before and one after, with its number.
pub const BEGINS: &str = "call begins: ";
pub const ENDS: &str = "call ends: ";

/// VCL that the calls find, see the arguments.
const COMMON: &str = "
probe p { .interval = 10ms; .timeout = 100s; .response = response; }
probe q { }
backend b { .host = \"${s1_addr}\"; .port = \"${s1_port}\"; .probe = p; }
acl some_acl { \"192.0.2.0\"/24; }
sub helper { }
sub for_clients { set req.http.foo = \"bar\"; }
";
const IMPORTS: [&str; 4] = ["blob", "debug", "std", "vtc"];

pub fn write(vmod: &Vmod, calls: &Calls) -> Result<String, std::fmt::Error> {
    let mut imports: Vec<&str> = IMPORTS.to_vec();
    if !imports.contains(&vmod.name.as_str()) {
        imports.push(&vmod.name);
    }
    let imports: String = imports.iter().map(|name| format!("import {name};\n")).collect();

    let mut test = String::new();
    writeln!(test, "varnishtest \"Functions of the VMOD {} in a probe response\"\n", vmod.name)?;
    writeln!(test, "barrier b1 sock 2 -cyclic")?;
    writeln!(test, "server s2 -listen \"${{tmpdir}}/s2.sock\" {{ }} -start\n")?;
    writeln!(test, "server s1 {{")?;
    for number in 0..calls.run.len() {
        writeln!(test, "\trxreq\n\ttxresp -hdr \"X-Call: {number}\" -hdr \"X-Load: 1.5\"\n\taccept")?;
    }
    writeln!(test, "\trxreq\n\ttxresp -hdr \"X-Call: end\"\n}} -start\n")?;

    // Objects and constants may be unused in the one or the other VCL. After a panic the next call has its turn.
    // The log is read when all is over
    writeln!(test, "${{varnish}} v1 -arg \"-p vcc_feature=-err_unref -p auto_restart=on -l 40m\"\n")?;
    for call in &calls.refused {
        writeln!(test, "# {}", call.function)?;
        writeln!(test, "${{varnish}} v1 -errvcl \"{}\" {{", refusal(call))?;
        writeln!(test, "{imports}{COMMON}sub vcl_init {{\n{}}}", calls.init)?;
        writeln!(test, "sub response {{ {} }}\n}}\n", call.vcl)?;
    }

    writeln!(test, "${{varnish}} v1 -vcl {{\n{imports}{COMMON}sub vcl_init {{\n{}}}", calls.init)?;
    for (number, call) in calls.run.iter().enumerate() {
        writeln!(test, "# {}", call.label)?;
        writeln!(test, "sub call_{number} {{\n\t{}\n}}", call.vcl)?;
    }
    writeln!(test, "sub response {{")?;
    for number in 0..calls.run.len() {
        writeln!(test, "\tif (beresp.http.X-Call == \"{number}\") {{")?;
        writeln!(
            test,
            "\t\tstd.log(\"{BEGINS}{number}\");\n\t\tcall call_{number};\n\t\tstd.log(\"{ENDS}{number}\");"
        )?;
        writeln!(test, "\t}}")?;
    }
    writeln!(test, "\tif (beresp.http.X-Call == \"end\") {{ std.log(\"end\"); }}")?;
    writeln!(test, "}}\n}} -start\n")?;
    for _ in calls.run.iter().filter(|call| call.vcl.contains("${b1_sock}")) {
        writeln!(test, "barrier b1 sync")?;
    }

    // The log is complete only if there was no restart
    writeln!(test, "server s1 -wait\n${{varnish}} v1 -clierr 300 \"panic.show\"\n")?;
    writeln!(test, "logexpect l1 -v v1 -g raw -d 1 {{\n\texpect * 0 VCL_Log \"^end$\"\n}} -run\n")?;
    writeln!(test, "shell \"${{varnishlog}} -d -g raw -n ${{v1_name}} >${{output}}.log\"")?;
    Ok(test)
}

/// What VCC says. A constructor cannot be called, as there is no action "new".
fn refusal(call: &Call) -> String {
    if call.vcl.starts_with("new ") {
        "There is no 'new' for health probes".to_owned()
    } else if call.vcl.contains("beresp)") {
        "There is no 'beresp' for health probes".to_owned()
    } else {
        format!("There is no '{}' for health probes", call.function)
    }
}
