//go:build !unix

package main

// groupThatMay returns "": groups of files are Unix's.
func groupThatMay(string) string { return "" }
