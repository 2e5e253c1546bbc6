#!/bin/sh
# packaging/deb.sh TREE OUT: makes a Debian package of an installed tree (make install DESTDIR=TREE PREFIX=/usr) and
# writes it to the folder OUT. The same tree gives the same bytes.
set -eu
tree=$1 out=$2
program=$tree/usr/bin/uma-gpu
version=$("$program" version --json | sed -n 's/.*"version": "\(.*\)".*/\1/p')
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y LICENSE)
export SOURCE_DATE_EPOCH

gzip -9nf "$tree"/usr/share/man/man1/*.1
doc=$tree/usr/share/doc/uma-gpu
install -d "$doc" "$tree/DEBIAN"
install -m 644 LICENSE "$doc/copyright"
maintainer="The uma-gpu authors <uma-gpu@example.org>"
printf 'uma-gpu (%s) unstable; urgency=medium\n\n  * Made by make deb.\n\n -- %s  %s\n' \
	"$version" "$maintainer" "$(date -uRd "@$SOURCE_DATE_EPOCH")" | gzip -9n >"$doc/changelog.gz"

# dpkg-shlibdeps reads the name of a source package, and says which version of the C library is needed.
sources=$(mktemp -d)
trap 'rm -r "$sources"' EXIT
mkdir "$sources/debian"
printf 'Source: uma-gpu\n\nPackage: uma-gpu\nArchitecture: any\n' >"$sources/debian/control"
program=$(realpath "$program")
libraries=$(cd "$sources" && dpkg-shlibdeps -O "$program" | sed -n 's/^shlibs:Depends=//p')

cat >"$tree/DEBIAN/control" <<END
Package: uma-gpu
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Section: science
Priority: optional
Installed-Size: $(du -k -s --exclude=DEBIAN "$tree" | cut -f 1)
Depends: $libraries, ocl-icd-libopencl1
Recommends: pocl-opencl-icd
Homepage: https://github.com/uma-gpu/uma-gpu
Description: train classifiers from labels that are wrong in a known way
 Trains multiclass classifiers, linear or with a kernel, from labels whose noise
 is known or estimated as a confusion matrix; finds wrong labels, judges without
 right ones, and predicts. The work runs as OpenCL kernels, on GPUs and on
 processors, or without OpenCL, with the same weights to the bit everywhere.
END
(cd "$tree" && find usr -type f | LC_ALL=C sort | xargs md5sum >DEBIAN/md5sums)
find "$tree" -type d -exec chmod 755 {} +
dpkg-deb --root-owner-group -Zxz -z1 --build "$tree" "$out/uma-gpu_${version}_$architecture.deb" >/dev/null
echo "$out/uma-gpu_${version}_$architecture.deb"
