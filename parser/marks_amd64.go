//go:build !purego

package parser

// markBlocks is markPortably for a text of 64 bytes or more, sixteen at a step.
//
//go:noescape
func markBlocks(to *marks, text *byte, length int) (least byte, carriages uint64)
