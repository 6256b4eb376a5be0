# shellcheck shell=bash
# Debian packages that are needed: PACKAGES to build and test everything, PACKAGES_VMOD to build the VMOD for a server
# that is there. Sourced by scripts/deps.
# shellcheck disable=SC2034
PACKAGES="
automake
libtool
make
gcc
libc6-dev
pkg-config
python3
python3-docutils
python3-sphinx
libedit-dev
libncurses-dev
libpcre2-dev
libclang-dev
binutils
git
quilt
shellcheck
xz-utils
"
# shellcheck disable=SC2034
PACKAGES_VMOD="
make
gcc
libc6-dev
pkg-config
python3
python3-docutils
libclang-dev
"
