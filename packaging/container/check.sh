#!/bin/sh
# packaging/container/check.sh: makes the image of Containerfile by podman and trains in it: by one process on the
# processor and on OpenCL, and by ranks of which mpirun starts one by ssh, as in an MPIJob. All must write one model.
# The systems that it begins with are made by debootstrap, with this machine's Go, since no registry of images is asked.
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
cp /etc/resolv.conf /etc/hosts build/
podman build --network host --build-arg GO=localhost/go --build-arg BASE=localhost/debian -t localhost/uma-gpu \
	-f packaging/container/Containerfile .
work=$(mktemp -d)
trap 'podman rm -qf uma-gpu-worker >/dev/null; rm -rf "$work"' EXIT
inside() { podman run --rm --network host -v "$work:/data" "$@"; }
inside localhost/uma-gpu synth --examples 2e4 --features 30 --classes 5 --out d.csv --quiet
for device in cpu opencl; do
	inside localhost/uma-gpu train --data d.csv --model $device.npz --device $device --quiet
done
ssh-keygen -q -t ed25519 -N '' -f "$work/key"
podman run -d --name uma-gpu-worker --network host -v "$work:/data" --entrypoint sh localhost/uma-gpu -c \
	'mkdir -p /root/.ssh && cp key.pub /root/.ssh/authorized_keys && ssh-keygen -A && exec /usr/sbin/sshd -De -p 2222'
inside --entrypoint sh localhost/uma-gpu -c '
	mkdir -p /root/.ssh && cp key /root/.ssh/id_ed25519 && chmod 600 /root/.ssh/id_ed25519
	until ssh -p 2222 127.0.0.1 true; do sleep 0.2; done
	mpirun --allow-run-as-root --mca plm_rsh_args "-p 2222" --host "$(hostname),127.0.0.1:2" -n 2 \
		--oversubscribe --wdir /data uma-gpu train --data d.csv --model ranks.npz --device cpu --quiet'
cmp "$work/cpu.npz" "$work/opencl.npz"
cmp "$work/cpu.npz" "$work/ranks.npz"
echo "the image trains on the processor, on OpenCL and on ranks, with one model"
