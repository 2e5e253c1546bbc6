#!/bin/sh
# packaging/deb-check.sh PACKAGE FOLDER: installs the package in a new, small Debian in FOLDER, trains with it on the
# processor and on OpenCL, and removes it. Nothing of it may be left. Wants root and the network. A FOLDER that is
# there is taken as it is.
set -eu
package=$1 root=$2
. /etc/os-release
mirror=${DEBIAN_MIRROR:-http://deb.debian.org/debian}
[ -x "$root/usr/bin/apt-get" ] || debootstrap --variant=minbase "$VERSION_CODENAME" "$root" "$mirror"
# PoCL asks /proc and /sys for processors and memory.
trap 'umount "$root/proc"; umount -l "$root/sys"' EXIT
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
inside() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive "$@"
}
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$package" "$root/tmp/uma-gpu.deb"
inside sh -ec '
	apt-get -q update && apt-get -qy install /tmp/uma-gpu.deb
	dpkg --verify uma-gpu
	dpkg -L uma-gpu >/tmp/files
	cd /tmp
	uma-gpu version
	uma-gpu devices
	uma-gpu synth --examples 1e3 --features 8 --classes 3 --out d.csv
	uma-gpu train --data d.csv --model cpu.npz --device cpu --quiet
	uma-gpu train --data d.csv --model opencl.npz --device opencl --quiet
	uma-gpu predict --model cpu.npz --data d.csv --out cpu.txt
	uma-gpu predict --model opencl.npz --data d.csv --out opencl.txt
	cmp cpu.txt opencl.txt
	bash -c ". /usr/share/bash-completion/completions/uma-gpu; COMP_WORDS=(uma-gpu trai) COMP_CWORD=1
		_uma_gpu; [ \"\${COMPREPLY[*]}\" = train ]"
	gzip -t /usr/share/man/man1/uma-gpu.1.gz
	apt-get -qy purge uma-gpu
	while read -r path; do
		case $path in */uma-gpu*|*/_uma-gpu*) [ ! -e "$path" ] || { echo "$path is left"; exit 1; };; esac
	done <files
'
echo "the package can be installed, used and removed"
