package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadme runs the commands of the README, in their order, in a folder that has real
// data by the names they use.
func TestReadme(t *testing.T) {
	text := string(read(t, "../../README.md"))
	lines := regexp.MustCompile(`(?m)^    uma-gpu (.*)$`).FindAllStringSubmatch(text, -1)
	if len(lines) < 15 {
		t.Fatalf("README.md has %d commands, want more", len(lines))
	}
	dir := t.TempDir()
	succeed(t, "convert", "--data", digits, "--out", filepath.Join(dir, "all.csv"))
	succeed(t, "convert", "--data", digits, "--out", filepath.Join(dir, "big.csv"))
	write(t, dir, "shop.csv", shop(84))
	t.Chdir(dir)
	for _, line := range lines {
		args := regexp.MustCompile(`"[^"]*"|\S+`).FindAllString(line[1], -1)
		for k, word := range args {
			args[k] = strings.Trim(word, `"`)
		}
		switch args[0] {
		case "tune": // minutes, and only on OpenCL; make tuner runs it
			continue
		case "bench":
			args = append(args, "--repeat", "1", "--steps", "20")
		}
		if slices.Contains(args, "search") && testing.Short() {
			continue
		}
		succeed(t, args...)
	}
}
