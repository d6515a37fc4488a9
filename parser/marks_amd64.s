//go:build !purego

#include "textflag.h"

// Line feeds, slashes and CR of the 16 bytes at OFFSET go into the registers, from bit 0 on. X7 keeps the least of all
// bytes that are no line ends.
#define SIXTEEN(OFFSET, FEEDS, SLASHES, CARRIAGES) \
	MOVOU    OFFSET(SI), X0 \
	MOVOA    X0, X1         \
	PCMPEQB  X8, X1         \
	PMOVMSKB X1, FEEDS      \
	MOVOA    X0, X2         \
	PCMPEQB  X9, X2         \
	PMOVMSKB X2, SLASHES    \
	MOVOA    X0, X3         \
	PCMPEQB  X10, X3        \
	PMOVMSKB X3, CARRIAGES  \
	POR      X3, X1         \
	POR      X0, X1         \
	PMINUB   X1, X7

// The same of the next 16 bytes, from bit OFFSET on.
#define NEXT(OFFSET) \
	SIXTEEN(OFFSET, AX, BX, DX) \
	SHLQ $OFFSET, AX            \
	SHLQ $OFFSET, BX            \
	SHLQ $OFFSET, DX            \
	ORQ  AX, R8                 \
	ORQ  BX, R9                 \
	ORQ  DX, R10

// The marks of 64 bytes: line ends in R8, slashes in R9. R11 is CR of the block before, and then of this one, R12 that
// of all.
#define BLOCK \
	SIXTEEN(0, R8, R9, R10) \
	NEXT(16)                \
	NEXT(32)                \
	NEXT(48)                \
	SHRQ $63, R11           \
	LEAQ (R11)(R10*2), AX   \ // behind CR
	MOVQ R10, R11           \
	NOTQ AX                 \
	ANDQ AX, R8             \
	ORQ  R10, R8            \
	ORQ  R10, R12

#define BROADCAST(BYTES, X) \
	MOVQ       $BYTES, AX \
	MOVQ       AX, X      \
	PUNPCKLQDQ X, X

// func markBlocks(to *marks, text *byte, length int) (least byte, carriages uint64)
TEXT ·markBlocks(SB), NOSPLIT, $0-40
	MOVQ to+0(FP), DI
	MOVQ text+8(FP), SI
	MOVQ length+16(FP), R13
	BROADCAST(0x0a0a0a0a0a0a0a0a, X8)  // LF
	BROADCAST(0x2f2f2f2f2f2f2f2f, X9)  // slash
	BROADCAST(0x0d0d0d0d0d0d0d0d, X10) // CR
	PCMPEQB X7, X7
	XORL R11, R11
	XORL R12, R12

block:
	BLOCK
	MOVQ R8, 0(DI)
	MOVQ R9, 8(DI)
	ADDQ $64, SI
	ADDQ $16, DI
	SUBQ $64, R13
	CMPQ R13, $64
	JGE  block

	TESTQ R13, R13
	JEQ   done
	LEAQ -64(SI)(R13*1), SI // the last 64 bytes once more, of which the end is new
	BLOCK
	MOVQ $64, CX
	SUBQ R13, CX
	SHRQ CX, R8
	SHRQ CX, R9
	MOVQ R8, 0(DI)
	MOVQ R9, 8(DI)

done:
	MOVOA  X7, X0
	PSRLO  $8, X0
	PMINUB X0, X7
	MOVOA  X7, X0
	PSRLO  $4, X0
	PMINUB X0, X7
	MOVOA  X7, X0
	PSRLO  $2, X0
	PMINUB X0, X7
	MOVOA  X7, X0
	PSRLO  $1, X0
	PMINUB X0, X7
	MOVQ   X7, AX
	MOVB   AX, least+24(FP)
	MOVQ   R12, carriages+32(FP)
	RET
