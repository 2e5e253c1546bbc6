#!/bin/sh
# Opens the site as files in headless Chromium, without a server: the home page is there, the search finds pages, and
# no line of code is cut. Screenshots of three widths go to the site's folder.
#
# usage: check.sh SITE
set -eu
site=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# browser PAGE [FLAG...]
browser() {
	page=$1
	shift
	chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage --user-data-dir="$work/profile" \
		--host-resolver-rules='MAP * ~NOTFOUND' --virtual-time-budget=8000 "$@" "file://$site/$page" 2>/dev/null
}

browser index.html --dump-dom | grep -q 'find the wrong ones' || { echo "the home page is not there" >&2; exit 1; }
browser 'search.html?q=confusion' --dump-dom >"$work/found.html"
grep -q 'href="confusion.html' "$work/found.html" || { echo "the search finds nothing" >&2; exit 1; }
for width in 400 900 1600; do
	for page in index tutorial; do
		browser $page.html --hide-scrollbars --window-size=$width,1600 --screenshot="$site/$page-$width.png"
	done
done
echo "the site is sound: open $site/index.html; look at index-*.png and tutorial-*.png there"
