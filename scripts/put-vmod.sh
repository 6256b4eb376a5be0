# shellcheck shell=bash
# Copies a built library and its manual page to where a server looks for them. Sourced after lib.sh.

LIBRARY=libvmod_probe_directors.so

# put_vmod CARGO-TARGET-FOLDER VMODDIR MAN3DIR, under DESTDIR
put_vmod() {
	local page=vmod_probe_directors rst
	install -D -m 0644 "$1/release/$LIBRARY" "${DESTDIR:-}$2/$LIBRARY"
	# vmodtool writes the page from vmod.vcc into the folder of the build script
	rst=$(find "$1/release/build" -name "$page.man.rst" -printf '%T@ %p\n' 2>/dev/null |
		sort -n | tail -n 1 | cut -d ' ' -f 2-)
	if [ -n "$rst" ] && command -v rst2man >/dev/null; then
		mkdir -p "${DESTDIR:-}$3"
		rst2man "$rst" "${DESTDIR:-}$3/$page.3"
	else
		note "  no manual page: rst2man (Debian: python3-docutils) is missing"
	fi
}
