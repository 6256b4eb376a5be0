# Everything is done by the small programs in scripts/; this file says what they are called and in which order.
#
# Variables: SERIES   patch series, a folder of patches/     (varnish-7.7)
#            BUILD    where everything is built              (build)
#            SOURCES_DIR=, VARNISH_SRC=                      see "varnish" below
#            JOBS     parallel compile jobs                  (all cores)
#            MINUTES  of "soak"                              (15)
#            QUICK=1  of "bench*": a minute, to see that it works
#            FUZZ_SECONDS=, FUZZ_MAX_LEN=, FUZZ_REPLY=       see scripts/fuzz
#            DEB_INSTALL=1 of "deb": installs the packages
#            SANITIZE address, undefined or thread: a build of its own, in build/SERIES-SANITIZE

SHELL := /bin/bash
SERIES ?= varnish-7.7
BUILD ?= build
export SERIES BUILD SANITIZE SOURCES_DIR VARNISH_SRC JOBS PREFIX DESTDIR N MINUTES QUICK DEB_INSTALL FUZZ_SECONDS FUZZ_MAX_LEN FUZZ_REPLY

.DEFAULT_GOAL := help
ifneq ($(SANITIZE),)
ifneq ($(filter-out help deps varnish reference vmod check stress refresh lint clean distclean,$(MAKECMDGOALS)),)
$(error SANITIZE is for varnish, reference, vmod, check, stress and clean)
endif
endif
.NOTPARALLEL:
.PHONY: help deps deps-vmod deps-fuzz deps-fuzz-reports varnish reference vmod check check-varnish check-series stress fuzz fuzz-reports soak cost bench bench-cluster demo refresh lint install install-vmod deb dist clean distclean

help: ## list the targets
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 24
	@echo "variables: SERIES=$(SERIES) BUILD=$(BUILD) SOURCES_DIR=folder-of-tarballs VARNISH_SRC=own-source-tree JOBS=n SANITIZE=address|undefined|thread"

deps: ## install the missing Debian packages (as root), or name them
	@scripts/deps

deps-vmod:
	@scripts/deps vmod

deps-fuzz:
	@scripts/deps fuzz

varnish: deps ## the patched server: get, verify, patch, build, install into build/SERIES/prefix
	@scripts/server patched

reference: deps ## the same server without the patches, in build/SERIES/reference/prefix
	@scripts/server reference

vmod: varnish ## libvmod_probe_directors.so, installed where the patched server finds it
	@scripts/vmod

check: vmod $(if $(SANITIZE),,reference) ## all tests: Rust, lint, our varnishtests, the series' and upstream's for the directors
	@scripts/check

check-varnish: varnish ## upstream's whole test suite on the patched server
	@scripts/check-varnish

check-series: deps ## each patch applies (git am, quilt) and builds
	@scripts/check-series

stress: vmod reference ## our varnishtests N times each, under load (N=20)
	@scripts/stress

cost: vmod reference ## what the patches cost per probe and request: instructions and time, against the unpatched server
	@scripts/cost

bench: vmod ## what a pick costs, ours against the bundled directors: tables in docs/bench/SERIES
	@scripts/bench

bench-cluster: vmod ## what they do for a cluster with an origin that slows down: table and picture in docs/bench/SERIES
	@scripts/bench-cluster

soak: vmod ## faults, reloads and traffic for MINUTES=15, with a table and a verdict
	@scripts/soak

deps-fuzz-reports:
	@scripts/deps fuzz-reports

fuzz: deps-fuzz ## random replies to health probes, under sanitizers (FUZZ_SECONDS=60)
	@scripts/fuzz

fuzz-reports: deps-fuzz-reports ## random load reports into orca() and agent(), under a sanitizer (FUZZ_SECONDS=60 each)
	@scripts/fuzz-reports

demo: vmod ## three origins, live weights, a verdict
	@scripts/demo

refresh: ## write the commits of build/SERIES/src to patches/SERIES
	@scripts/series refresh

lint: deps ## shellcheck the scripts
	@scripts/lint

install: vmod ## patched server and VMOD into PREFIX (/usr/local), under DESTDIR if given
	@scripts/install

install-vmod: deps-vmod ## the VMOD alone, for the server that pkg-config finds (which needs no patch)
	@scripts/install-vmod

deb: deps ## Debian's packages of the server, with the series among its patches (DEB_INSTALL=1: and install them)
	@scripts/deb

dist: ## the source of the last commit as a tarball, with series and tests, in build
	@scripts/dist

clean: ## remove what was built from SERIES, keep the downloaded source
	@scripts/clean

distclean: ## remove the build folder
	@scripts/clean all
