# shellcheck shell=bash
# The git history of a patched tree, kept outside of it: a .git at the root of the configured tree
# changes the VMOD ABI string and locks out packaged VMODs. Sourced after lib.sh.
#
#   $HERE/src           the work tree       $HERE/history.git   its history, pristine source tagged "base"
#   $HERE/applied       what the tree was made from: "PATCHES-ID TREE-ID"

SRC=$HERE/src
HISTORY=$HERE/history.git
# shellcheck disable=SC2034
APPLIED=$HERE/applied

# git on a history, free of the user's own settings so that what it writes is the same everywhere
git_on() {
	local history=$1 tree=$2
	shift 2
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 GIT_DIR=$history GIT_WORK_TREE=$tree git "$@"
}

history_git() {
	git_on "$HISTORY" "$SRC" "$@"
}

# What the tree should be made from: source and patches, as one hash
patches_id() {
	{
		echo "${VARNISH_SRC:-$SHA256${VTEST_SHA256:-}}"
		find "$PATCHES" -maxdepth 1 -name '[0-9]*.patch' -print0 | sort -z | xargs -0r cat
	} | sha256sum | cut -d ' ' -f 1
}

# The content of the tracked files as they are now, committed or not
tree_id() {
	local index=$HISTORY/index.tree-id
	cp "$HISTORY/index" "$index"
	(cd "$SRC" && export GIT_INDEX_FILE=$index && history_git add -u . && history_git write-tree)
	rm -f "$index"
}

# history_identity HISTORY TREE: commits are the project's
history_identity() {
	git_on "$1" "$2" config user.name "probe_directors authors"
	git_on "$1" "$2" config user.email "authors@probe-directors.invalid"
}

# history_init HISTORY TREE: commits the pristine tree, without what its .gitignore names as generated, and tags it "base"
history_init() {
	local history=$1 tree=$2
	rm -rf "$history"
	mkdir -p "$(dirname "$history")"
	GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1 git init --quiet --bare --initial-branch=series "$history"
	(
		cd "$tree" || exit
		git_on "$history" "$tree" config core.bare false
		history_identity "$history" "$tree"
		git_on "$history" "$tree" config gc.auto 0
		git_on "$history" "$tree" add --all .
		git_on "$history" "$tree" commit --quiet --message "$TITLE, as released"
		git_on "$history" "$tree" tag base
	)
}

# history_am HISTORY TREE: applies the patches of the series as commits
history_am() {
	local history=$1 tree=$2 patch
	for patch in "$PATCHES"/[0-9]*.patch; do
		[ -f "$patch" ] || continue
		(cd "$tree" && git_on "$history" "$tree" am --quiet --keep-cr "$patch") || return 1
	done
}
