#!/bin/sh
# Types into bash, zsh and fish, in a terminal of tmux, and checks that they complete commands, flags and
# file names.
#
# usage: completion-check.sh UMA-GPU
set -eu
program=$(realpath "$1")
work=$(mktemp -d)
terminal="tmux -L uma-gpu-$$"
trap '$terminal kill-server 2>/dev/null || true; rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/home" "$work/empty"
ln -s "$program" "$work/bin/uma-gpu"
cd "$work/home"
touch numbers.csv
failed=0

# typed SHELL TEXT KEYS WANTED: what is on the line that was begun with TEXT after KEYS are pressed
typed() {
	$terminal send-keys -t 0 C-c
	sleep 0.2
	$terminal send-keys -t 0 -R
	$terminal clear-history -t 0
	$terminal send-keys -t 0 -l "$2"
	# shellcheck disable=SC2086 # KEYS are several words
	$terminal send-keys -t 0 $3
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sleep 0.25
		screen=$($terminal capture-pane -p -J -t 0)
		case $screen in *"$4"*) return ;; esac
	done
	failed=1
	printf '%s: typed %s, %s; wanted %s on the screen, found\n%s\n' "$1" "$2" "$3" "$4" "$screen"
}

for shell in bash zsh fish; do
	"$program" completion $shell >"$work/script"
	case $shell in
	bash) start="bash --norc --noprofile" begin="source $work/script" ;;
	zsh) start="zsh -f" begin="autoload -U compinit; compinit -u -D; source $work/script" ;;
	fish) start="fish --no-config" begin="source $work/script" ;;
	esac
	$terminal -f /dev/null new-session -d -x 100 -y 40 \
		env HOME="$work/home" XDG_CONFIG_HOME="$work/empty" PATH="$work/bin:$PATH" TERM=screen LC_ALL=C.UTF-8 $start
	sleep 1
	$terminal send-keys -t 0 "$begin; echo rea''dy" Enter
	for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
		sleep 0.5
		screen=$($terminal capture-pane -p -J -t 0)
		case $screen in *ready*) break ;; esac
	done
	typed $shell 'uma-gpu comple' Tab 'uma-gpu completion '
	typed $shell 'uma-gpu confusion est' Tab 'uma-gpu confusion estimate '
	typed $shell 'uma-gpu train --mod' Tab 'uma-gpu train --model '
	typed $shell 'uma-gpu train --data nu' Tab 'uma-gpu train --data numbers.csv'
	typed $shell 'uma-gpu tr' 'Tab Tab' 'uma-gpu train '
	$terminal kill-server
	sleep 0.5
	[ $failed = 0 ] && echo "$shell completes commands, flags and files"
done
exit $failed
