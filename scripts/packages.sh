# shellcheck shell=bash
# Debian packages that are needed: PACKAGES to build and test everything, PACKAGES_VMOD to build the VMOD for a server
# that is there, PACKAGES_FUZZ for "make fuzz" on top of all others. Sourced by scripts/deps.
PACKAGES_VMOD="
make
gcc
libc6-dev
pkg-config
python3
python3-docutils
libclang-dev
"
# shellcheck disable=SC2034
PACKAGES="$PACKAGES_VMOD
automake
libtool
python3-sphinx
libedit-dev
libncurses-dev
libpcre2-dev
binutils
git
quilt
shellcheck
xz-utils
"
# shellcheck disable=SC2034
PACKAGES_FUZZ="$PACKAGES
clang
libclang-rt-dev
llvm
"
