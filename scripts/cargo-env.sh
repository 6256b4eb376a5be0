# shellcheck shell=bash
# Environment for cargo: one target folder per series, the patched server as the one to build for. Sourced after lib.sh.

export BUILD SERIES CARGO_TARGET_DIR=$TARGET SERVER_API=$API
export PKG_CONFIG_PATH=$HERE/prefix/lib/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
