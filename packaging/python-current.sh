#!/bin/sh
# packaging/python-current.sh FOLDER [ARGUMENT...]: runs the tests of the Python package, by pytest with these
# arguments, in a new Debian sid in FOLDER, which has a current scikit-learn. Wants root and the network. A FOLDER
# that is there is taken as it is.
set -eu
root=$1
shift
[ -x "$root/usr/bin/python3" ] || {
	debootstrap --variant=minbase sid "$root" "${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
	cp /etc/resolv.conf "$root/etc/resolv.conf"
	chroot "$root" env DEBIAN_FRONTEND=noninteractive apt-get -qy --no-install-recommends install \
		python3-sklearn python3-pandas python3-pytest jupyter-nbconvert python3-ipykernel
}
mkdir -p "$root/repo" "$root/dev/shm"
trap 'umount -l "$root/repo" "$root/proc" "$root/dev/shm"' EXIT
mount --bind . "$root/repo"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/dev/shm"
chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 EVERY="${EVERY:-}" \
	sh -c 'cd /repo && python3 -W ignore -m pytest -q -p no:cacheprovider "$@" python/tests' pytest "$@"
