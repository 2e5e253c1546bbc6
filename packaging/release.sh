#!/bin/sh
# packaging/release.sh OUT: builds all that a release has, into the folder OUT. The same sources give the same
# bytes, in any folder. A tag on the commit must be v and the version. SIGN=KEY signs the checksums by gpg.
set -eu
cd "$(dirname "$0")/.."
out=$(mkdir -p "$1" && cd "$1" && pwd)
version=$(sed -n 's/^const Version = "\(.*\)"$/\1/p' cmd/uma-gpu/internal/app/app.go)
tag=$(git tag --points-at HEAD | grep '^v' || true)
[ -z "$tag" ] || [ "$tag" = "v$version" ] || { echo "the tag is $tag, wanted v$version" >&2; exit 1; }
grep -q "^version = \"$version\"$" python/pyproject.toml || {
	echo "python/pyproject.toml: wanted version $version" >&2
	exit 1
}
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Another processor's OpenCL library is not there, and not needed: it is opened when the program runs.
mkdir "$work/include"
ln -s /usr/include/CL "$work/include/CL"
printf '#!/bin/sh\ncase "$*" in *--cflags*) echo "-I%s" ;; esac\n' "$work/include" >"$work/pkg-config"
chmod +x "$work/pkg-config"

# NAME SYSTEM PROCESSOR CGO COMPILER WHEEL
while read -r name system processor cgo compiler wheel; do
	dir=uma-gpu-$version-$name program=uma-gpu
	[ "$system" != windows ] || program=uma-gpu.exe
	echo "$dir" >&2
	mkdir "$work/$dir"
	PKG_CONFIG="$work/pkg-config" CC=$compiler GOOS=$system GOARCH=$processor CGO_ENABLED=$cgo \
		CGO_CFLAGS="-O2 -DCL_TARGET_OPENCL_VERSION=120 -ffile-prefix-map=$work=." go build -trimpath -buildvcs=false \
		-ldflags '-s -w -buildid= -extldflags=-Wl,--build-id=none' -o "$work/$dir/$program" ./cmd/uma-gpu
	cp LICENSE README.md CHANGELOG.md "$work/$dir"
	tar -C "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner \
		--mode=go=rX,u+rw -cf - "$dir" | gzip -9n >"$out/$dir.tar.gz"
	[ "$wheel" = - ] || python3 packaging/wheel.py "$work/$dir/$program" "$wheel" "$out" >/dev/null
done <<END
linux-amd64-opencl linux amd64 1 gcc linux_x86_64
linux-arm64-opencl linux arm64 1 aarch64-linux-gnu-gcc linux_aarch64
linux-amd64 linux amd64 0 - -
linux-arm64 linux arm64 0 - -
macos-arm64 darwin arm64 0 - macosx_12_0_arm64
macos-amd64 darwin amd64 0 - macosx_12_0_x86_64
windows-amd64 windows amd64 0 - win_amd64
END

# The Debian package has the program with OpenCL.
mkdir -p build
cp "$work/uma-gpu-$version-linux-amd64-opencl/uma-gpu" build/uma-gpu
rm -rf build/deb
make --no-print-directory install DESTDIR=build/deb PREFIX=/usr >&2
packaging/deb.sh build/deb "$out" >/dev/null

# What is in it: a bill of materials, and the licence of each module.
go run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.9.0 bin -json -licenses -noserial \
	-version "v$version" -output "$work/sbom.json" build/uma-gpu 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
python3 - "$work/sbom.json" "$out" "$version" <<'END'
import json, sys
with open(sys.argv[1]) as file:
    bill = json.load(file)
bill["metadata"].pop("timestamp", None)
bill["metadata"].pop("tools", None)
with open(f"{sys.argv[2]}/uma-gpu-{sys.argv[3]}.cdx.json", "w") as file:
    json.dump(bill, file, indent=1, sort_keys=True)
def licence(part): # two texts are taken for others
    if part["name"] == "github.com/golang/freetype":
        return "FTL or GPL-2.0-or-later, by choice"
    if part["name"].startswith("golang.org/x/"):
        return "BSD-3-Clause"
    found = part.get("licenses") or part.get("evidence", {}).get("licenses") or []
    return ", ".join(sorted(c["license"].get("id", "?") for c in found)) or "not recognised"
with open(f"{sys.argv[2]}/LICENSES.txt", "w") as file:
    for part in sorted(bill["components"], key=lambda c: c["name"]):
        file.write(f"{part['name']} {part.get('version', '')}: {licence(part)}\n")
END
cd "$out"
LC_ALL=C sha256sum -- *.tar.gz *.whl *.deb *.json LICENSES.txt >SHA256SUMS
[ -z "${SIGN:-}" ] || gpg --batch --yes --local-user "$SIGN" --armor --detach-sign SHA256SUMS
