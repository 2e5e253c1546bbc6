package app

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// DataFiles returns the files that --data names: one, or the parts of one set, as a pattern or a
// list with commas, where no file has that very name. Those of a pattern come in the order of
// their names.
func DataFiles(text string) ([]string, error) {
	if _, err := os.Lstat(text); err == nil || text == "-" {
		return []string{text}, nil
	}
	if strings.ContainsAny(text, "*?[") {
		found, err := filepath.Glob(text)
		if err != nil {
			return nil, fmt.Errorf("%s: no pattern of file names: %w; a [ needs a ] behind it", text, err)
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: found no file whose name fits this pattern, wanted the parts of "+
				"a data set", text)
		}
		slices.Sort(found)
		return found, nil
	}
	if list := strings.Split(text, ","); len(list) > 1 && !slices.ContainsFunc(list, missing) {
		return list, nil
	}
	return []string{text}, nil
}

// missing reports whether there is no such file.
func missing(path string) bool {
	_, err := os.Lstat(path)
	return err != nil
}
