# shellcheck shell=bash
# Environment for cargo: one target folder per series, the patched server as the one to build for. Sourced after lib.sh.

# shellcheck source=scripts/sanitize.sh
. "$ROOT/scripts/sanitize.sh"

export BUILD SERIES SANITIZE CARGO_TARGET_DIR=$TARGET SERVER_API=$API LIBRARY_FOLDER=$RELEASE
export PKG_CONFIG_PATH=$HERE/prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
