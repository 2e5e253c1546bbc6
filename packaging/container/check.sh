#!/bin/sh
# packaging/container/check.sh: makes the image of Containerfile and trains in it: by one process on the processor and
# on OpenCL, and by ranks, one of them started by ssh. All must find the same weights. The
# systems that it begins with are made by debootstrap, with this machine's Go, since no registry of images is asked.
# Wants root and the network.
set -eu
cd "$(dirname "$0")/../.."
. /etc/os-release
root=build/chroot
[ -x "$root/usr/bin/apt-get" ] || debootstrap --variant=minbase "$VERSION_CODENAME" "$root" \
	"${DEBIAN_MIRROR:-http://deb.debian.org/debian}"
tar -C "$root" -c . | podman import - localhost/debian
printf 'FROM localhost/debian\nCOPY . /usr/local/go\nENV PATH=/usr/local/go/bin:/usr/sbin:/usr/bin:/sbin:/bin\n' |
	podman build -q -t localhost/go -f - "$(go env GOROOT)"
go mod download
podman build --isolation chroot --network host -v "$(go env GOMODCACHE):/root/go/pkg/mod" -t localhost/uma-gpu \
	--build-arg GO=localhost/go --build-arg BASE=localhost/debian -f packaging/container/Containerfile .
work=$(mktemp -d)
image=$(buildah from localhost/uma-gpu)
sshd=
trap '[ -z "$sshd" ] || { kill "$sshd"; wait; }; buildah rm "$image" >/dev/null; rm -rf "$work"' EXIT
# inside COMMAND...: without control groups, so that it runs inside of other containers too.
inside() { buildah run --isolation chroot --network host -v "$work:/data" "$image" -- "$@"; }
inside uma-gpu synth --examples 2e4 --features 30 --classes 5 --out d.csv --quiet
for device in cpu opencl; do
	inside uma-gpu train --data d.csv --model $device.npz --device $device --quiet
	inside uma-gpu predict --data d.csv --model $device.npz --device cpu --scores --out $device.npy --quiet
done
ssh-keygen -q -t ed25519 -N '' -f "$work/key"
inside sh -ec 'mkdir -p /root/.ssh
	cp key /root/.ssh/id_ed25519 && cp key.pub /root/.ssh/authorized_keys && ssh-keygen -A'
inside sh -c 'exec /usr/sbin/sshd -De -p 2222 -o PidFile=/data/sshd.pid' &
until inside ssh -p 2222 127.0.0.1 true; do sleep 0.2; done
sshd=$(cat "$work/sshd.pid")
inside mpirun --allow-run-as-root --mca plm_rsh_args "-p 2222" --host "$(hostname),127.0.0.1:2" -n 2 --oversubscribe \
	--wdir /data uma-gpu train --data d.csv --model ranks.npz --device cpu --quiet
cmp "$work/cpu.npy" "$work/opencl.npy" # since a model says where it was trained
cmp "$work/cpu.npz" "$work/ranks.npz"
echo "the image trains on the processor, on OpenCL and on ranks, with one model"
