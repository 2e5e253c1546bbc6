//go:build unix

package main

import (
	"fmt"
	"os"
	"os/user"
	"syscall"
)

// groupThatMay returns the group whose members may read and write a file, "" if its group may not.
func groupThatMay(path string) string {
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o060 != 0o060 {
		return ""
	}
	of, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	group := fmt.Sprint(of.Gid)
	if g, err := user.LookupGroupId(group); err == nil {
		group = g.Name
	}
	return group
}
