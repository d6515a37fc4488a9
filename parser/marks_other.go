//go:build !amd64 || purego

package parser

import "unsafe"

// markBlocks is markPortably for a text of 64 bytes or more.
func markBlocks(to *marks, text *byte, length int) (least byte, carriages uint64) {
	return markPortably(unsafe.Slice(to, blocksOf(length)), unsafe.String(text, length))
}
