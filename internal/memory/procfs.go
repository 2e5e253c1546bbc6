package memory

import (
	"io/fs"
	"math"
	"path"
	"strconv"
	"strings"
)

// The functions of this file read the kernel's files below root, which is / but in
// tests. What they cannot read or understand they leave out: a limit that is not
// known must stop no work.

// machineLimits returns what the machine has available.
func machineLimits(root fs.FS) []limit {
	left, ok := field(root, "proc/meminfo", "MemAvailable:")
	if !ok {
		return nil
	}
	const advice = "end other programs, take a machine with more memory or give smaller sizes"
	return []limit{{left, "the machine (MemAvailable)", advice}}
}

// groupLimits returns what the control groups of the process leave, each of them with
// all that it lies in.
func groupLimits(root fs.FS) []limit {
	groups, _ := fs.ReadFile(root, "proc/self/cgroup")
	mounts, _ := fs.ReadFile(root, "proc/self/mountinfo")
	const advice = "raise the memory limit of the container or service, or give smaller sizes"
	var limits []limit
	for line := range strings.Lines(string(groups)) {
		// hierarchy:controllers:path; version 2 has no controllers.
		f := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(f) < 3 || !(f[0] == "0" && f[1] == "" || listed(f[1], "memory")) {
			continue
		}
		version2 := f[1] == ""
		mount, at, ok := groupMount(string(mounts), version2)
		if !ok {
			continue
		}
		below := "/"
		if rest, ok := strings.CutPrefix(f[2], strings.TrimSuffix(at, "/")); ok && (rest == "" ||
			rest[0] == '/') {
			below = path.Join("/", rest)
		} // else the group is outside what this process sees, which is its own part
		for inner := ""; inner != below; inner, below = below, path.Dir(below) {
			folder := strings.TrimPrefix(path.Join(mount, below), "/")
			if left, ok := groupLeft(root, folder, version2); ok {
				limits = append(limits, limit{left, "the control group " + below, advice})
			}
		}
	}
	return limits
}

// groupMount returns where the tree of control groups is mounted that limits memory,
// and which of its groups lies there.
func groupMount(mounts string, version2 bool) (mount, at string, ok bool) {
	for line := range strings.Lines(mounts) {
		// id parent device root mount options [tags...] - type source super-options
		mine, super, found := strings.Cut(strings.TrimSpace(line), " - ")
		f, s := strings.Fields(mine), strings.Fields(super)
		if !found || len(f) < 5 || len(s) < 3 {
			continue
		}
		if version2 && s[0] == "cgroup2" || !version2 && s[0] == "cgroup" && listed(s[2], "memory") {
			return unescape(f[4]), unescape(f[3]), true
		}
	}
	return "", "", false
}

// groupLeft returns what the limits of one control group leave of it. Pages of files
// can be dropped and do not count as used.
func groupLeft(root fs.FS, folder string, version2 bool) (left int64, ok bool) {
	limitFiles, used, prefix := []string{"memory.max", "memory.high"}, "memory.current", ""
	if !version2 {
		limitFiles, used, prefix = []string{"memory.limit_in_bytes"}, "memory.usage_in_bytes", "total_"
	}
	most := int64(math.MaxInt64)
	for _, name := range limitFiles {
		if n, ok := field(root, path.Join(folder, name), ""); ok {
			most = min(most, n)
		}
	}
	now, known := field(root, path.Join(folder, used), "")
	if most >= unlimited || !known {
		return 0, false
	}
	for _, kind := range []string{"inactive_file", "active_file"} {
		cached, _ := field(root, path.Join(folder, "memory.stat"), prefix+kind)
		now -= cached
	}
	return most - max(0, now), true
}

// unlimited is where limits begin that are none: version 1 says so by the largest
// number of whole pages.
const unlimited = math.MaxInt64 - 1<<20

// field reads the number after a word at the beginning of a line, in bytes; "" is for a file of a
// single number. The word max is none.
func field(root fs.FS, name, word string) (int64, bool) {
	text, err := fs.ReadFile(root, name)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if word == "" {
			f = append([]string{""}, f...)
		}
		if len(f) < 2 || f[0] != word {
			continue
		}
		n, err := strconv.ParseInt(f[1], 10, 64)
		if len(f) == 3 && f[2] == "kB" {
			return n << 10, err == nil && n >= 0 && n < unlimited>>10
		}
		return n, err == nil && n >= 0
	}
	return 0, false
}

// listed reports whether a comma list has a word.
func listed(list, word string) bool {
	return strings.Contains(","+list+",", ","+word+",")
}

// unescape replaces the octal escapes of mountinfo.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}
