package parser

import (
	"math/rand/v2"
	"testing"
)

// What mark finds is what a look at each byte finds, whatever the length of the text and wherever it ends; on every
// machine the same.
func TestMarks(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const letters = "\r\r\n\n//  \t\x00\x03\x04.AZ09\x7f\x80\xff"
	var memory []marks
	for length := range 400 {
		for range 20 {
			text := make([]byte, length)
			for i := range text {
				text[i] = letters[random.IntN(len(letters))]
			}
			if random.IntN(2) == 0 { // most texts have nothing odd
				for i := range text {
					text[i] = max(text[i], 'A')
				}
			}
			all, least, hasCR := mark(memory, string(text))
			memory = all
			checkMarks(t, string(text), all, least, hasCR)
			if length > 0 {
				portable := make([]marks, len(all))
				least, returns := markPortably(portable[:len(all)-1], string(text))
				checkMarks(t, string(text), portable, least, returns != 0)
			}
		}
	}
}

func checkMarks(t *testing.T, text string, all []marks, least byte, hasCR bool) {
	if len(all) != (len(text)+63)/64+1 || all[len(all)-1] != (marks{}) {
		t.Fatalf("%q: %d blocks, the last %v", text, len(all), all[len(all)-1])
	}
	wantLeast, wantCR := byte(0xff), false
	for i := range len(text) {
		c := text[i]
		end := c == '\r' || c == '\n' && (i == 0 || text[i-1] != '\r')
		m := all[i/64]
		if got := m.ends>>(i%64)&1 == 1; got != end {
			t.Errorf("%q: a line end at %d: %v", text, i, got)
		}
		if got := m.slashes>>(i%64)&1 == 1; got != (c == '/') {
			t.Errorf("%q: a slash at %d: %v", text, i, got)
		}
		if !lineEnd(c) {
			wantLeast = min(wantLeast, c)
		}
		wantCR = wantCR || c == '\r'
	}
	if rest := len(text) % 64; rest > 0 {
		if last := all[len(all)-2]; last.ends>>rest != 0 || last.slashes>>rest != 0 {
			t.Errorf("%q: marks behind the end: %v", text, last)
		}
	}
	if least != wantLeast && min(least, wantLeast) <= ' ' && text != "" || hasCR != wantCR {
		t.Errorf("%q: least %q and CR %v, want %q and %v", text, least, hasCR, wantLeast, wantCR)
	}
}

func TestLineEnds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var memory []int
	for length := range 400 {
		text := make([]byte, length)
		for i := range text {
			text[i] = "\r\n-----"[random.IntN(1+random.IntN(7))]
		}
		all, _, _ := mark(nil, string(text))
		memory = lineEnds(memory, all, string(text))
		var want []int
		for i := range text {
			if all[i/64].ends>>(i%64)&1 == 1 {
				want = append(want, i)
			}
		}
		if length > 0 && !lineEnd(text[length-1]) {
			want = append(want, length)
		}
		if len(memory) != len(want) {
			t.Fatalf("%q: %v, want %v", text, memory, want)
		}
		for i := range want {
			if memory[i] != want[i] {
				t.Fatalf("%q: %v, want %v", text, memory, want)
			}
		}
	}
}

func TestEachMonthHasASlotOfItsOwn(t *testing.T) {
	for i, name := range []string{"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"} {
		if d, ok := dateOf("01" + name); !ok || d != (Date{1, uint8(i + 1)}) {
			t.Errorf("01%s is %v, %v", name, d, ok)
		}
	}
}
