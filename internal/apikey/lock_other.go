//go:build !unix

package apikey

import "os"

// lock does nothing: without flock, the operator must not edit a file from two processes at once.
func lock(string) (unlock func(), err error) { return func() {}, nil }

func keepOwner(*os.File, os.FileInfo) {}
