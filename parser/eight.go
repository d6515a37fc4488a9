package parser

import "math/bits"

// Eight characters at once: the first of them in the lowest byte of a word. Where a test has an answer for each
// character, that is the highest bit of its byte.

const (
	ones  = 0x0101010101010101 // times a byte: that byte eight times
	highs = 0x80 * ones
)

// eightBytes returns the first eight bytes of s.
func eightBytes(s string) uint64 {
	s = s[:8]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

// fourBytes returns the first four bytes of s.
func fourBytes(s string) uint32 {
	s = s[:4]
	return uint32(s[0]) | uint32(s[1])<<8 | uint32(s[2])<<16 | uint32(s[3])<<24
}

// fewBytes returns the bytes of s, of which there are 4 to 8, and NUL behind them.
func fewBytes(s string) uint64 {
	behind := len(s) - 4
	return uint64(fourBytes(s)) | uint64(fourBytes(s[behind:]))<<(8*behind&63)
}

// within tells which of eight ASCII characters are between low and high.
func within(word uint64, low, high byte) uint64 {
	return (word + uint64(0x80-low)*ones) &^ (word + uint64(0x7f-high)*ones) & highs
}

// equal tells which of eight bytes are c.
func equal(word uint64, c byte) uint64 {
	const low = 0x7f * ones
	word ^= uint64(c) * ones
	return ^(word&low + low | word) & highs
}

// upTo tells which of eight bytes are at most c, which is ASCII.
func upTo(word uint64, c byte) uint64 {
	const low = 0x7f * ones
	return ^(word&low + uint64(0x7f-c)*ones | word) & highs
}

// together returns the highest bits of eight bytes as one byte, the first in bit 0.
func together(word uint64) uint64 { return word >> 7 * 0x0102040810204080 >> 56 }

// leading returns how many of the bytes from the first on have the highest bit set.
func leading(word uint64) int { return bits.TrailingZeros64(^word&highs) / 8 }

// eightDigits reads eight digits as a number.
func eightDigits(word uint64) (n uint64, ok bool) {
	const tens, sixes = 0xf0 * ones, 6 * ones
	ok = word&tens|(word+sixes)&tens>>4 == 0x33*ones
	word -= '0' * ones
	word = 10*word + word>>8 // each second byte is a pair of digits
	const pairs = 0x000000ff000000ff
	n = (word&pairs*(100+1000000<<32) + word>>16&pairs*(1+10000<<32)) >> 32
	return n, ok
}
