# shellcheck shell=bash
# What is set here is used by scripts that source this
# shellcheck disable=SC2034
# What SANITIZE changes in how server and VMOD are built. How they are run is in tests/support/sanitizer.rs.
# Sourced after lib.sh.

# Options of the server's configure
SANITIZE_CONFIGURE=()
# Where cargo puts what it builds for release
RELEASE=$TARGET/release

case $SANITIZE in
# The workspace emulator turns each allocation in a workspace into one whose bounds the sanitizer knows
address) SANITIZE_CONFIGURE=(--enable-asan --enable-workspace-emulator) ;;
undefined) SANITIZE_CONFIGURE=(--enable-ubsan) ;;
# It does not know fences, of which the server has some, and gcc warns of each
thread) SANITIZE_CONFIGURE=(--enable-tsan "CFLAGS=-g -O2 -Wno-tsan") ;;
esac

# With a target, build scripts and macros, which run in the compiler, are not instrumented
case $SANITIZE in
address | thread)
	SANITIZE_TARGET=$(rustc --version --verbose | sed -n 's/^host: //p')
	RELEASE=$TARGET/$SANITIZE_TARGET/release
	;;
esac

# instrumented COMMAND...: runs it, and any cargo in it, so that Rust code is built with the sanitizer
instrumented() {
	case $SANITIZE in
	undefined)
		# Rust has no such sanitizer, but checks of its own, also in the unsafe functions of its library
		local -x CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true
		;;
	address | thread)
		# The option works with any compiler, though only nightly ones take it by themselves
		local -x RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Zsanitizer=$SANITIZE CARGO_BUILD_TARGET=$SANITIZE_TARGET
		;;&
	thread)
		# Accesses in a library that is not instrumented are not seen, its locks least of all
		local -x CARGO_UNSTABLE_BUILD_STD=std,panic_abort
		;;
	esac
	"$@"
}
