#!/bin/sh
# packaging/slurm/check.sh PROGRAM: trains by train.sbatch on a Slurm of this machine, with two slots, that it starts
# and ends itself: once on two ranks, and once put back in the queue in the middle of the training, from where Slurm
# lets it go on after two minutes. Both models must be that of one process. PROGRAM is uma-gpu, built with -tags mpi.
# Wants root, and no other Slurm.
set -eu
program=$(realpath "$1")
script=$(realpath "$(dirname "$0")/train.sbatch")
work=$(mktemp -d)
node=$(hostname -s)
stop() {
	for daemon in slurmd slurmctld; do
		[ ! -e "$work/$daemon.pid" ] || kill "$(cat "$work/$daemon.pid")" || :
	done
	[ -z "$munged" ] || kill "$(cat /run/munge/munged.pid)"
	rm -rf "$work"
}
munged=
trap stop EXIT
mkdir "$work/spool" "$work/state"
cat >"$work/slurm.conf" <<END
ClusterName=check
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/pgid
TaskPlugin=task/affinity
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmdSpoolDir=$work/spool
StateSaveLocation=$work/state
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
NodeName=$node NodeAddr=127.0.0.1 CPUs=2
PartitionName=all Nodes=ALL Default=YES State=UP
END
export SLURM_CONF="$work/slurm.conf" UMA_GPU="$program"
if ! munge -n >/dev/null 2>&1; then
	install -d -o munge /run/munge
	su -s /bin/sh munge -c munged
	munged=ours
fi
slurmctld
slurmd -f "$SLURM_CONF"
cd "$work"
"$program" synth --examples 50000 --features 60 --classes 10 --out d.csv --quiet
train="--data d.csv --learner uma --max-steps 400 --device cpu --quiet"
# shellcheck disable=SC2086 # $train is a list
"$program" train $train --model one.npz >one.txt
# shellcheck disable=SC2086
sbatch --wait "$script" $train --model ranks.npz
cmp one.npz ranks.npz
# shellcheck disable=SC2086
job=$(EVERY=5 sbatch --parsable "$script" $train --model requeued.npz)
until [ -e "uma-gpu-$job.checkpoint.npz" ]; do sleep 0.05; done
scontrol requeue "$job"
until squeue -h -j "$job" -o %T | grep -q RUNNING; do sleep 0.1; done
until [ -z "$(squeue -h -j "$job")" ]; do sleep 0.1; done
cat "uma-gpu-$job.txt"
cmp one.npz requeued.npz
[ ! -e "uma-gpu-$job.checkpoint.npz" ]
echo "two ranks of Slurm, and two that were stopped and went on: the model of one process"
