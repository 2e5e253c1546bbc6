package memory

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
)

// files makes a root of pairs of name and content.
func files(pairs ...string) fstest.MapFS {
	root := fstest.MapFS{}
	for k := 0; k < len(pairs); k += 2 {
		root[pairs[k]] = &fstest.MapFile{Data: []byte(pairs[k+1])}
	}
	return root
}

func TestMachineLimits(t *testing.T) {
	for text, want := range map[string]string{
		"MemTotal:       16 kB\nMemFree: 1 kB\nMemAvailable:   12 kB\nCached: 3 kB\n": "12288 the " +
			"machine (MemAvailable)",
		"MemTotal:       16 kB\nMemFree: 1 kB\n": "", // before Linux 3.14
		"MemAvailable: many kB\n":                "",
		"MemAvailable: 9223372036854775807 kB\n": "",
		"":                                       "",
	} {
		if got := show(machineLimits(files("proc/meminfo", text))); got != want {
			t.Errorf("%q: found %q, want %q", text, got, want)
		}
	}
	if got := machineLimits(files()); got != nil {
		t.Errorf("without meminfo: %v", got)
	}
}

func TestField(t *testing.T) {
	root := files("proc/self/status", "Name:\tx\nVmPeak:\t 9 kB\nVmSize:\t 7 kB\nVmData:\t 5 kB\n")
	for word, want := range map[string]int64{"VmSize:": 7 << 10, "VmData:": 5 << 10} {
		if got, ok := field(root, "proc/self/status", word); !ok || got != want {
			t.Errorf("%s found %d, %v, want %d", word, got, ok, want)
		}
	}
}

const mount2 = "25 30 0:23 / /proc rw - proc proc rw\n29 22 0:26 / /sys/fs/cgroup rw,nosuid " +
	"shared:4 - cgroup2 cgroup2 rw,nsdelegate\n"

func TestGroupLimits(t *testing.T) {
	for _, c := range []struct {
		name string
		root fstest.MapFS
		want string
	}{
		{"none", files(), ""},
		{"no mounts", files("proc/self/cgroup", "0::/a\n"), ""},
		{"version 2, with parents", files("proc/self/cgroup", "0::/a/b\n", "proc/self/mountinfo", mount2,
			"sys/fs/cgroup/a/b/memory.max", "max\n", "sys/fs/cgroup/a/b/memory.high", "900\n",
			"sys/fs/cgroup/a/b/memory.current", "100\n",
			"sys/fs/cgroup/a/b/memory.stat", "anon 70\nfile 30\ninactive_file 20\nactive_file 10\n",
			"sys/fs/cgroup/a/memory.max", "500\n", "sys/fs/cgroup/a/memory.current", "450\n"),
			"830 the control group /a/b, 50 the control group /a"},
		{"version 2, of a container", files("proc/self/cgroup", "0::/\n", "proc/self/mountinfo", mount2,
			"sys/fs/cgroup/memory.max", "1000\n", "sys/fs/cgroup/memory.current", "2000\n"),
			"-1000 the control group /"},
		{"version 2, outside of the name space", files("proc/self/cgroup", "0::/../../x\n",
			"proc/self/mountinfo", mount2,
			"sys/fs/cgroup/memory.max", "1000\n", "sys/fs/cgroup/memory.current", "1\n"),
			"999 the control group /"},
		{"version 2, unlimited", files("proc/self/cgroup", "0::/a\n", "proc/self/mountinfo", mount2,
			"sys/fs/cgroup/a/memory.max", "max\n", "sys/fs/cgroup/a/memory.current", "7\n"), ""},
		{"version 1", files("proc/self/cgroup",
			"9:cpu,cpuacct:/c\n4:hugetlb,memory:/docker/id/in\n0::/\n", "proc/self/mountinfo",
			"31 22 0:28 /docker/id /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu,cpuacct\n36 22 0:28 "+
				"/docker/id /sys/fs/cgroup/my\\040memory ro master:9 - cgroup cgroup rw,memory\n",
			"sys/fs/cgroup/my memory/in/memory.limit_in_bytes", "4096\n",
			"sys/fs/cgroup/my memory/in/memory.usage_in_bytes", "96\n",
			"sys/fs/cgroup/my memory/in/memory.stat",
			"inactive_file 1\ntotal_inactive_file 50\ntotal_active_file 6\n",
			"sys/fs/cgroup/my memory/memory.limit_in_bytes", "9223372036854771712\n",
			"sys/fs/cgroup/my memory/memory.usage_in_bytes", "96\n"), "4056 the control group /in"},
		{"version 1, mounted elsewhere", files("proc/self/cgroup", "4:memory:/docker/id\n",
			"proc/self/mountinfo", "36 22 0:28 /docker/idle /m ro - cgroup cgroup rw,memory\n",
			"m/memory.limit_in_bytes", "4096\n", "m/memory.usage_in_bytes", "96\n"),
			"4000 the control group /"},
		{"nonsense", files("proc/self/cgroup", "\n::\n0::\nx", "proc/self/mountinfo", "- \n - cgroup2\n"),
			""},
	} {
		if got := show(groupLimits(c.root)); got != c.want {
			t.Errorf("%s: found %q, want %q", c.name, got, c.want)
		}
	}
}

func show(limits []limit) string {
	var list []string
	for _, l := range limits {
		list = append(list, fmt.Sprintf("%d %s", l.left, l.name))
	}
	return strings.Join(list, ", ")
}
