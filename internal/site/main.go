// Command site makes the documentation a static site, of pages that need no scripts and ask nobody for anything:
// README.md and docs/, a page for each command as the program itself tells of it, and the API. It fails where a link
// leads nowhere.
//
//	go run ./internal/site PROGRAM OUT
//
// It is run in the root of the repository. PROGRAM is uma-gpu, which writes the pages of its commands; OUT is the
// folder of the site, which is made anew.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: site PROGRAM OUT")
		os.Exit(2)
	}
	pages, err := makeSite(".", os.Args[1], os.Args[2])
	if err != nil {
		fmt.Fprintf(os.Stderr, "site: %v\n", err)
		os.Exit(1)
	}
	fmt.Printf("%d pages, every link of which leads somewhere: %s\n", pages, filepath.Join(os.Args[2], "index.html"))
}

// makeSite makes the site of the repository at root in the folder out, and returns how many pages it has.
func makeSite(root, program, out string) (pages int, err error) {
	manual, err := os.MkdirTemp("", "uma-gpu-man")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(manual)
	if text, err := exec.Command(program, "man", "--markdown", "--dir", manual).CombinedOutput(); err != nil {
		return 0, fmt.Errorf("%s man: %w: %s", program, err, text)
	}
	s, err := collect(root, manual)
	if err != nil {
		return 0, err
	}
	if err := os.RemoveAll(out); err != nil {
		return 0, err
	}
	if err := s.write(out); err != nil {
		return 0, err
	}
	return len(s.pages), check(out)
}
