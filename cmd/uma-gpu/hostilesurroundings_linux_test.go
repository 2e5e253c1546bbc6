//go:build cgo

package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHostileSurroundings: every command line of whole as a process of its own, where something
// around it is not as it should be: outputs, limits, rights, disks, devices and pipes as files,
// names, environment, signals.
func TestHostileSurroundings(t *testing.T) {
	dir := t.TempDir()
	big, err := filepath.Abs(digits)
	if err != nil {
		t.Fatal(err)
	}
	hostileWorld(t, dir)
	want := map[string]result{}
	for _, line := range whole {
		want[line] = resultOf(t, line)
	}
	s := &surroundingsTest{dir: dir, big: big, files: names(t, dir), want: want}
	tried, total := 0, 0
	for k, kind := range []struct {
		name string
		all  func(*surroundingsTest, *testing.T) []surrounded
	}{
		{"outputs", (*surroundingsTest).outputs}, {"limits", (*surroundingsTest).limits},
		{"disks", (*surroundingsTest).disks}, {"rights", (*surroundingsTest).rights},
		{"no files", (*surroundingsTest).noFiles}, {"pipes", (*surroundingsTest).pipes},
		{"names", (*surroundingsTest).names}, {"environment", (*surroundingsTest).environment},
		{"roots", (*surroundingsTest).roots}, {"signals", (*surroundingsTest).signals},
	} {
		t.Run(kind.name, func(t *testing.T) {
			all := kind.all(s, t)
			for _, c := range all {
				if total++; later(total, k, 40) {
					continue
				}
				tried++
				c.judge(t, dir, want[c.line])
			}
			t.Logf("%d processes", len(all))
		})
	}
	t.Logf("%d processes, %d were tried", total, tried)
	if total < 500 {
		t.Errorf("only %d processes", total)
	}
}

// surroundingsTest is the folder of the tests, and what its command lines do when nothing is
// wrong.
type surroundingsTest struct {
	dir   string
	big   string // data that take long to learn
	files []string
	want  map[string]result
}

// with makes a case of a line of whole.
func (s *surroundingsTest) with(line, name, prefix string, may fate, says ...string) surrounded {
	words, made := wordsOf(line)
	return surrounded{name: name, prefix: prefix, line: line, args: words, made: made, may: may,
		says: says}
}

// writes are the lines of whole that write a file.
func (s *surroundingsTest) writes() (lines []string) {
	for _, line := range whole {
		if _, made := wordsOf(line); made != "" {
			lines = append(lines, line)
		}
	}
	return lines
}

// shell quotes a word for the shell.
func shellWord(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }

// outputs: standard files that are closed, full or gone.
func (s *surroundingsTest) outputs(*testing.T) (all []surrounded) {
	for _, line := range whole {
		prints := right
		if s.want[line].stdout != "" {
			prints = refused
		}
		for _, c := range []struct {
			prefix string
			may    fate
			mute   bool
		}{
			{"exec <&-;", right, false}, {"exec 2>&-;", right, true}, {"exec 2>/dev/full;", right, true},
			// Go opens /dev/null in the place of a closed output.
			{"exec >&-;", right, false}, {"exec >/dev/full;", prints, false},
			{"exec >&- 2>&-;", right, true}, {"exec <&- >&- 2>&-;", right, true}, {"exec >/dev/full 2>&1;",
				prints, true},
			{"exec 1<&0 </dev/null;", prints, false}, // an output that can only be read
		} {
			h := s.with(line, c.prefix, c.prefix, c.may, "write to standard output")
			h.mute, h.unseen = c.mute, c.may == right && strings.Contains(c.prefix, ">&-")
			all = append(all, h)
		}
		// A shell that says what became of the left side of a pipe whose right side reads nothing.
		h := s.with(line, "| reader gone",
			`mkfifo gone; exec 3<>gone 4>gone 3<&-; rm gone; exec >&4 4>&-;`, prints,
			"write to standard output")
		all = append(all, h)
	}
	return all
}

// limits of the process; most are too small for anything.
func (s *surroundingsTest) limits(*testing.T) (all []surrounded) {
	for _, line := range whole {
		for _, n := range []int{16, 24, 64} {
			c := fmt.Sprintf("ulimit -n %d;", n)
			all = append(all, s.with(line, c, c, either, "too many open files", "ulimit -n"))
		}
		for _, kib := range []int{2 << 20, 2500000, 3 << 20} {
			c := fmt.Sprintf("ulimit -v %d;", kib)
			all = append(all, s.with(line, c, c, either, "memory", "ulimit -v"))
		}
		for _, c := range []string{"ulimit -s 64;", "ulimit -c 0;", "ulimit -l 0;", "ulimit -m 1000;"} {
			all = append(all, s.with(line, c, c, right))
		}
	}
	for _, line := range s.writes() {
		for _, blocks := range []int{0, 1} {
			c, may := fmt.Sprintf("ulimit -f %d;", blocks), either
			if len(s.want[line].file) > 512*blocks {
				may = refused
			}
			all = append(all, s.with(line, c, c, may, "file too large; raise the limit"))
		}
	}
	// A second of the processor's time, by a limit that can be heard of.
	for _, line := range []string{"synth --examples 10000000 --features 100 --out new.csv",
		"train --data " + s.big + " --learner pa1 --model new.npz --kernel rbf"} {
		all = append(all, surrounded{name: "ulimit -t 1", prefix: "ulimit -S -t 1;",
			args: strings.Fields(line), may: stopped, made: "new.npz"})
	}
	return all
}

// disks that are full, have no room for names, or are only to be read. They last as long as a
// process, which sees them alone.
func (s *surroundingsTest) disks(t *testing.T) (all []surrounded) {
	if out, err := exec.CommandContext(t.Context(), "unshare", "-m", "mount", "-t", "tmpfs", "none",
		s.dir).CombinedOutput(); err != nil {
		t.Logf("not tried, for want of the right to mount: %v, %s", err, out)
		return nil
	}
	inside := func(mount string) string {
		return `exec unshare -m sh -c ` + shellWord(mount+` exec "$0" "$@"`) + ` "$0" "$@";`
	}
	for _, line := range s.writes() {
		for _, c := range []struct{ name, mount, says string }{
			{"full", "mount -t tmpfs -o size=4k none disk; echo all of it >disk/other;",
				"no space left on device"},
			{"nearly full", "mount -t tmpfs -o size=8k none disk; echo half of it >disk/other;",
				"no space left on device"},
			{"no inodes", "mount -t tmpfs -o nr_inodes=2 none disk; echo last >disk/other;",
				"no space left on device"},
			{"read-only", "mount -t tmpfs -o ro none disk;", "read-only file system"},
		} {
			may := refused
			if c.name == "nearly full" && len(s.want[line].file) <= 4096 {
				may = either
			}
			h := s.with(line, c.name, "mkdir disk;"+inside(c.mount), may, c.says)
			for k, word := range h.args {
				if word == h.made {
					h.args[k] = "disk/" + word
				}
			}
			h.made, h.unseen, h.after = "", true, func() error { return os.Remove("disk") }
			all = append(all, h)
		}
	}
	return all
}

// rights: files and folders that a process without root's powers may not use.
func (s *surroundingsTest) rights(t *testing.T) (all []surrounded) {
	const powerless = `exec setpriv --bounding-set=-all "$0" "$@";`
	out, err := exec.CommandContext(t.Context(), "setpriv", "--bounding-set=-all",
		"true").CombinedOutput()
	if err != nil {
		t.Logf("not tried, for want of the right to give up rights: %v, %s", err, out)
		return nil
	}
	const denied = "permission denied"
	for _, line := range whole {
		words, made := wordsOf(line)
		all = append(all, s.with(line, "no powers", powerless, right))
		for k, word := range words {
			if !slices.Contains(s.files, word) {
				continue
			}
			for name, spoil := range map[string]string{
				"unreadable": "cp %[1]s theirs%[2]s; chmod 000 theirs%[2]s;",
				"of another": "cp %[1]s theirs%[2]s; chmod 600 theirs%[2]s; chown 65534 theirs%[2]s;",
				"in a folder without passage": "mkdir no; cp %[1]s no/f%[2]s; chmod 644 no; ln -s no/f%[2]s " +
					"theirs%[2]s;",
				"in a folder of another": "mkdir no; cp %[1]s no/f%[2]s; chmod 700 no; chown 65534 no; ln -s " +
					"no/f%[2]s theirs%[2]s;",
			} {
				bad := "theirs" + filepath.Ext(word)
				h := s.with(line, name+" "+word, fmt.Sprintf(spoil, word, filepath.Ext(word))+powerless,
					refused, bad)
				h.args[k], h.after = bad, func() error {
					return errors.Join(os.Remove(bad), os.RemoveAll("no"))
				}
				all = append(all, h)
			}
		}
		if made == "" {
			continue
		}
		for name, spoil := range map[string]string{
			"in a folder only to be read":   "mkdir no; chmod 555 no;",
			"in a folder of another":        "mkdir no; chmod 755 no; chown 65534 no;",
			"in a folder that hides itself": "mkdir no; chmod 000 no;",
			"in a folder without passage":   "mkdir no; chmod 666 no;",
		} {
			h := s.with(line, "to write "+name, spoil+powerless, refused, denied)
			for k, word := range h.args {
				if word == made {
					h.args[k] = "no/" + word
				}
			}
			h.made, h.after = "", func() error { return os.Remove("no") }
			all = append(all, h)
		}
		// Who may write the folder may replace what is in it, and nobody else's rights change.
		all = append(all, s.with(line, "umask 777", "umask 777;", right))
	}
	return all
}

// noFiles: inputs that are devices, processes and huge files.
func (s *surroundingsTest) noFiles(t *testing.T) (all []surrounded) {
	for _, line := range whole {
		words, _ := wordsOf(line)
		for k, word := range words {
			if !slices.Contains(s.files, word) {
				continue
			}
			for _, place := range []string{
				"/dev/null", "/dev/zero", "/dev/urandom", "/dev/full", "/proc/self/mem", "/proc/self/maps",
				"/proc/self/exe",
				"/proc/self/root", "/proc/self/fd/99", "/dev/stdin", "/sys/kernel", "-",
			} {
				h := s.with(line, place+" for "+word, "exec </dev/null;", refused, place, "standard input",
					"y.txt: found 60 labels")
				h.args[k] = place
				all = append(all, h)
			}
			for name, make := range map[string]string{
				"empty": ":>%[1]s;", "one terabyte of nothing": "truncate -s 1T %[1]s;",
				"begins well, and then a terabyte of nothing": "cp %[2]s %[1]s; truncate -s 1T %[1]s;",
			} {
				bad := "huge" + filepath.Ext(word)
				h := s.with(line, name+" for "+word, fmt.Sprintf(make, bad, word), refused, bad)
				h.args[k], h.after = bad, func() error { return os.Remove(bad) }
				all = append(all, h)
			}
		}
		for _, place := range []string{"/dev/full", "/dev/stdout", "/proc/new", "/sys/new",
			"/proc/self/mem", "pipe"} {
			if h := s.with(line, place+" to write", "mkfifo pipe;", refused, place); h.made != "" {
				for k, word := range h.args {
					if word == h.made {
						h.args[k] = place
					}
				}
				h.made, h.after = "", func() error { return os.Remove("pipe") }
				all = append(all, h)
			}
		}
	}
	return all
}

// pipes as inputs: whole, empty, cut short, and such that nobody writes to. What copies a table
// cannot read a pipe again: as of standard input, it writes the values.
func (s *surroundingsTest) pipes(t *testing.T) (all []surrounded) {
	remove := func() error { return os.Remove("pipe") }
	for _, line := range whole {
		words, _ := wordsOf(line)
		for k, word := range words {
			if !slices.Contains(s.files, word) {
				continue
			}
			pipe := func(name, prefix string, may fate, says ...string) *surrounded {
				h := s.with(line, name+" pipe for "+word, "mkfifo pipe;"+prefix, may, says...)
				h.args[k], h.after, h.unseen = "pipe", remove, true
				all = append(all, h)
				return &all[len(all)-1]
			}
			full := pipe("whole", "cat "+word+" >pipe 2>&- &", either, "pipe")
			if word == "d.csv" && (words[0] == "split" || words[1] == "inject") {
				full.line = line + " <d.csv"
				s.want[full.line] = fromStandardInput(t, line)
			}
			pipe("empty", ": >pipe &", refused, "pipe")
			pipe("short", "head -c 20 "+word+" >pipe 2>&- &", refused, "pipe")
			pipe("waiting", "", stopped,
				"found a pipe, wanted a regular file").during = func(p *os.Process) {
				time.Sleep(300 * time.Millisecond)
				p.Signal(syscall.SIGTERM) // it has not ended: nobody writes
			}
			h := s.with(line, "link to "+word, "", right)
			link := "link" + filepath.Ext(word)
			h.prefix, h.args[k], h.unseen = "ln -s ./././"+word+" "+link+";", link, true
			h.after = func() error { return os.Remove(link) }
			if strings.Contains(line, "A.csv") {
				h.unseen = true
			}
			all = append(all, h)
		}
	}
	return all
}

// fromStandardInput is resultOf with d.csv as standard input.
func fromStandardInput(t *testing.T, line string) (r result) {
	t.Helper()
	words, made := wordsOf(strings.Replace(line, "--data d.csv", "--data -", 1))
	stdout, err := processOf(t, "exec <d.csv;", words...).Output()
	if err != nil {
		t.Fatal(err)
	}
	r.stdout, r.file = timeless(string(stdout)), read(t, made)
	if err := os.Remove(made); err != nil {
		t.Fatal(err)
	}
	return r
}

// names of files that shells, terminals and parsers of flags may take for something else.
func (s *surroundingsTest) names(*testing.T) (all []surrounded) {
	odd := []string{
		"-x", "--", "--data", "a b", " ", "line\nbreak", "tab\t", "\xff\xfe", "\x1b[31mred",
		"\u202eright to left", "%s%n%d",
		"$(touch owned)", "'\"`", "a=b", "a,b", "*", "é", strings.Repeat("n", 240), "😀", "\x7f", "a:1", "con", "#x",
	}
	for j, name := range odd {
		for i, line := range whole {
			words, made := wordsOf(line)
			for k, word := range words {
				input := slices.Contains(s.files, word)
				if (!input && word != made) || (i+j)%3 != 0 || !strings.HasPrefix(words[max(0, k-1)], "--") {
					continue
				}
				bad := name + filepath.Ext(word)
				prefix, may, after := "", right, func() error { return os.Remove(bad) }
				if input {
					prefix = "cp -- " + word + " ./" + shellWord(bad) + ";"
				}
				h := s.with(line, fmt.Sprintf("%q for %s", bad, word), prefix, may)
				h.args[k-1] += "=" + bad
				h.args = slices.Delete(h.args, k, k+1)
				h.unseen = true
				if h.after = after; !input {
					h.made, h.after = bad, nil
				}
				all = append(all, h)
				if input {
					h := s.with(line, fmt.Sprintf("no %q for %s", bad, word), "", refused)
					h.args[k-1] += "=" + bad
					h.args = slices.Delete(h.args, k, k+1)
					all = append(all, h)
				}
			}
		}
	}
	for _, n := range []int{1000, 20000} {
		for _, line := range whole {
			h := s.with(line, fmt.Sprintf("%d words behind it", n), "", either)
			h.args = append(h.args, slices.Repeat([]string{"d.csv"}, n)...)
			h.may = refused
			all = append(all, h)
		}
	}
	return all
}

// environment: variables that are missing, or junk.
func (s *surroundingsTest) environment(*testing.T) (all []surrounded) {
	for i, line := range whole {
		for j, prefix := range []string{
			"unset HOME;", "export HOME=/none;", "export HOME=/proc;", "export HOME=d.csv;", "export HOME=;",
			"export TMPDIR=/none;", "export TMPDIR=/proc;", "export TMPDIR=d.csv;", "export TMPDIR=;",
			"export XDG_CACHE_HOME=/none;", "export XDG_CACHE_HOME=relative;",
			"export LANG=xx_YY.junk LC_ALL=$(printf '\\377');",
			"export TERM=junk COLUMNS=-1;", "export COLUMNS=99999999999999999999;", "export COLUMNS=1;", "export TERM=;",
			"export GOMAXPROCS=0;", "export GOMAXPROCS=junk;", "export GOMAXPROCS=500;", "export GOGC=1;",
			"export GOGC=off;", "export GODEBUG=junk=1,;", "export TZ=Nowhere/None;", "unset PATH;", "export NO_COLOR=1;",
			"export POCL_CACHE_DIR=/proc;", "export OCL_ICD_VENDORS=/none;",
			"export JUNK=$(head -c 100000 /dev/zero | tr '\\0' x);",
			"mkdir away; cd away; rmdir ../away; cd ..;", `exec env -i "UMA_GPU_TEST_RUN=1" UMA_GPU_DEVICE=cpu "$0" "$@";`,
		} {
			if (i+j)%3 == 0 {
				all = append(all, s.with(line, prefix, prefix, right))
			}
		}
		h := s.with(line, "folder gone", "mkdir away; cd away; rmdir ../away;", refused)
		if !strings.Contains(line, "--") { // its file is not named by a flag, but it reads one all the same
			h.may = refused
		}
		all = append(all, h)
		for _, device := range []string{"junk", "opencl:99", "cpu:junk", "cpu+", "+", "\x1b[31m", "mpi"} {
			h := s.with(line, "device "+device, "export UMA_GPU_DEVICE="+shellWord(device)+";", either)
			all = append(all, h)
		}
	}
	return all
}

// roots: what a container may lack.
func (s *surroundingsTest) roots(t *testing.T) (all []surrounded) {
	mounts := exec.CommandContext(t.Context(), "unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt")
	if err := mounts.Run(); err != nil {
		t.Logf("not tried, for want of the right to mount: %v", err)
		return nil
	}
	for _, line := range whole {
		for _, lost := range []string{"/proc", "/sys", "/dev", "/etc", "/home", "/var"} {
			for _, size := range []string{"-o ro", ""} {
				mount := "mount -t tmpfs " + size + " none " + lost + ";"
				all = append(all, s.with(line, mount,
					`exec unshare -m sh -c `+shellWord(mount+` exec "$0" "$@"`)+` "$0" "$@";`, right))
			}
		}
	}
	return all
}

// signals at any moment.
func (s *surroundingsTest) signals(*testing.T) (all []surrounded) {
	for k, line := range whole {
		for _, signal := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGXCPU} {
			for _, ms := range []int{0, 8, 15, 25, 40, 60, 100} {
				h := s.with(line, fmt.Sprintf("%v after %d ms", signal, ms+k%5), "", stopped)
				h.during = func(p *os.Process) {
					time.Sleep(time.Duration(ms+k%5) * time.Millisecond)
					p.Signal(signal) // or it has ended
				}
				all = append(all, h)
			}
		}
		for _, signal := range []syscall.Signal{syscall.SIGPIPE, syscall.SIGWINCH, syscall.SIGCHLD, syscall.SIGURG,
			syscall.SIGCONT, syscall.SIGTSTP} {
			h := s.with(line, signal.String(), "", right)
			h.during = func(p *os.Process) {
				time.Sleep(15 * time.Millisecond)
				p.Signal(signal)
				time.Sleep(15 * time.Millisecond)
				p.Signal(syscall.SIGCONT)
			}
			all = append(all, h)
		}
	}
	for k, line := range []string{ // which would take longer than that
		"train --data BIG --model new.npz --kernel rbf",
		"train --data BIG --model new.npz --kernel rbf --gamma search", "train --data BIG --model new.npz --learner pa1 --max-steps 1000",
		"train --data BIG --model new.npz --learner kernelmean --kernel rbf --gamma search",
		"train --data BIG --model new.npz --learner softmax --correction em", "cv --data BIG --folds 10",
		"cv --data BIG --folds 5 --try --l2=search", "issues --data BIG --out new.csv", "info --data BIG",
		"convert --data BIG --out new.svm", "split --data BIG --fractions 0.5 --out new.csv",
		"confusion inject --data BIG --pairwise 0.4 --out new.csv",
		"confusion estimate --data BIG --out new.csv", "query --data BIG --no-labels --classes a,b --out new.csv",
		"synth --examples 1000000 --out new.csv",
		"query --data BIG --out new.csv",
	} {
		words := strings.Fields(strings.ReplaceAll(line, "BIG", s.big))
		made := ""
		if at := slices.IndexFunc(words, func(w string) bool { return strings.HasPrefix(w, "new.") }); at > 0 {
			made = words[at]
		}
		for _, ms := range []int{50, 130, 300, 700, 1500} {
			h := surrounded{name: fmt.Sprintf("SIGTERM after %d ms", ms), line: "long", args: words, made: made,
				may: stopped, unseen: true, during: func(p *os.Process) {
					time.Sleep(time.Duration(ms+k%5) * time.Millisecond)
					p.Signal(syscall.SIGTERM) // or it has ended
				}}
			all = append(all, h)
		}
	}
	return all
}
