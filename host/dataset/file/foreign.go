package file

import (
	"fmt"
	"io"
)

// recovered is to be deferred where a foreign library reads or writes a file: it makes an error of
// a panic, as libraries have on some damaged files. The error leaves the path to its caller.
func recovered(format string, err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("the %s data are corrupt (%v); fetch the file again", format, p)
	}
}

// unpacking reads what a library unpacks.
type unpacking struct {
	io.Reader
	packing string
}

func (u unpacking) Read(p []byte) (n int, err error) {
	defer recovered(u.packing, &err)
	return u.Reader.Read(p)
}
