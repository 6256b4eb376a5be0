# How the fuzz target is linked. Read after the Makefile of bin/varnishd, in its folder:
#
#   make -f Makefile -f .../fuzz/probe_reply.mk FUZZ=.../fuzz OUT=... $OUT/probe_reply
#
# The objects are those of varnishd, but for the files whose coverage leads the fuzzer: these are compiled again, with
# instrumentation, and one of them by way of probe_reply.c.

RUNTIME := $(shell $(CC) --print-runtime-dir)
FUZZER := $(wildcard $(RUNTIME)/libclang_rt.fuzzer_no_main-$(shell uname -m).a $(RUNTIME)/libclang_rt.fuzzer_no_main.a)
INSTRUMENTED := $(filter cache/varnishd-cache_probe_%.o,$(varnishd_OBJECTS))
OTHERS := $(filter-out $(INSTRUMENTED) cache/varnishd-cache_backend_probe.o,$(varnishd_OBJECTS))

# Calls that probe_reply.c and backend.c take over
comma := ,
WRAPPED := VAS_Fail VCP_Open VTCP_close VCL_probe_response_method VPR_Free VPR_New WRK_BgThread poll read write

FUZZ_COMPILE = $(CC) $(DEFS) $(DEFAULT_INCLUDES) $(INCLUDES) $(AM_CPPFLAGS) $(CPPFLAGS) -Icache $(varnishd_CFLAGS) $(CFLAGS)
LEADS := -fsanitize=fuzzer-no-link
PARTS := probe_reply.o backend.o oracle.o

$(OUT)/probe_reply.o: FUZZ_COMPILE += $(LEADS)
$(addprefix $(OUT)/,$(PARTS)): $(OUT)/%.o: $(FUZZ)/%.c $(FUZZ)/probe_reply.h cache/varnishd-cache_backend_probe.o
	$(FUZZ_COMPILE) -c -o $@ $<

$(OUT)/varnishd-%.o: cache/%.c cache/varnishd-%.o
	$(FUZZ_COMPILE) $(LEADS) -c -o $@ $<

$(OUT)/probe_reply: $(addprefix $(OUT)/,$(PARTS)) $(patsubst cache/%,$(OUT)/%,$(INSTRUMENTED)) $(OTHERS) $(varnishd_DEPENDENCIES)
	$(varnishd_LINK) $(addprefix -Wl$(comma)--wrap=,$(WRAPPED)) $(filter %.o,$^) $(varnishd_LDADD) $(LIBS) $(FUZZER) -lstdc++
