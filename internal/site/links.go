package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/net/html"
)

// check returns an error that names each link of a site that leads to no file of it, or to an anchor that its page has
// not. Links to other sites are not followed.
func check(out string) error {
	anchors := map[string]map[string]bool{} // of each file; nil for those that are no pages
	links := map[string][]string{}
	err := filepath.WalkDir(out, func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(out, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if anchors[name] = nil; path.Ext(name) == ".html" {
			anchors[name], links[name], err = read(file)
		}
		return err
	})
	var wrong []error
	for from, all := range links {
		for _, link := range all {
			if problem := follow(from, link, anchors); problem != "" {
				wrong = append(wrong, fmt.Errorf("%s links to %s: %s", from, link, problem))
			}
		}
	}
	return errors.Join(err, errors.Join(wrong...))
}

// follow says what is wrong with a link of a page, "" if nothing is.
func follow(from, link string, anchors map[string]map[string]bool) string {
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return err.Error()
	case u.Scheme == "https" || u.Scheme == "http" || u.Scheme == "mailto":
		return ""
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/"):
		return "wanted a way within the site"
	}
	to := from
	if u.Path != "" {
		to = path.Join(path.Dir(from), u.Path)
	}
	if found, ok := anchors[to]; !ok {
		return "there is no such file"
	} else if u.Fragment != "" && !found[u.Fragment] {
		return "the page has no such anchor"
	}
	return ""
}

// read returns the anchors of a page, and what it links to, shows or loads.
func read(file string) (anchors map[string]bool, links []string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	tree, err := html.Parse(f)
	if err != nil {
		return nil, nil, err
	}
	anchors = map[string]bool{}
	for n := range tree.Descendants() {
		for _, a := range n.Attr {
			switch a.Key {
			case "id":
				if anchors[a.Val] {
					return nil, nil, fmt.Errorf("%s has the anchor %s twice", file, a.Val)
				}
				anchors[a.Val] = true
			case "href", "src":
				links = append(links, a.Val)
			}
		}
	}
	return anchors, links, nil
}
