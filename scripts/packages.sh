# shellcheck shell=bash
# Debian packages that the build and the tests need, one a line with what needs it. Sourced by scripts/deps.
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
