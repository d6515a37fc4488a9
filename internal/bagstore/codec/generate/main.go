// Command generate makes the dictionary of the codec: the phrases with which invented and simulated
// messages become shortest.
//
//	go run ./internal/bagstore/codec/generate > internal/bagstore/codec/dictionary-1.txt
//
// The result depends on the code of this repository alone. A dictionary with which values were
// written must never change: a better one gets the next number, and the old file stays.
package main

import (
	"bufio"
	"cmp"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"time"

	"bagtrail/internal/bagstore/codec/invent"
	"bagtrail/internal/simulate"
)

const (
	short   = 252         // phrases with a code of one byte
	size    = short + 768 // all phrases; the others have a code of two bytes
	longest = 15          // bytes of a phrase with line ends of CR LF
	pool    = 12000       // candidates at first
)

// always holds the characters that have a code of one byte, however rare they are.
const always = "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/.- \n" + plate

// plate stands for the plate under which a message is stored.
const plate = "\x00"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run() error {
	out := bufio.NewWriter(os.Stdout)
	for _, p := range train(corpus()) {
		fmt.Fprintf(out, "%q\n", p)
	}
	return out.Flush()
}

// corpus returns messages of many timetables, so that no airline and no airport gets a phrase, and
// disguised messages of the simulator.
func corpus() []string {
	texts := []string{strings.Repeat(" ", 400)}
	start := time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)
	for seed := range uint64(365) {
		bag := invent.NewFeed(seed, start.AddDate(0, 0, int(seed))).Bag()
		for _, text := range bag.Messages {
			texts = append(texts, strings.Replace(oneLineEnd(text), bag.Plate, plate, 1))
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	for m := range simulate.Generate(simulate.Options{Seed: 1, Start: start, Bags: 365, Interval: 24 * time.Hour}, nil) {
		text := disguise(random, oneLineEnd(m.Text))
		texts = append(texts, strings.Replace(text, cmp.Or(m.Plate, "no plate"), plate, 1))
	}
	return texts
}

func oneLineEnd(text string) string {
	return strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n")
}

// personal lists the fields that tell who travels and where, by element: the number of the field,
// and the range of its bytes.
var personal = map[string][]struct{ field, from, to int }{
	".P": {{1, 0, 99}, {2, 0, 99}},
	".L": {{1, 0, 99}},
	".V": {{1, 2, 5}},
	".F": {{1, 0, 99}, {3, 0, 3}},
	".I": {{1, 0, 99}, {3, 0, 3}},
	".O": {{1, 0, 99}, {3, 0, 3}},
	".J": {{6, 0, 3}},
	".H": {{1, 0, 3}},
}

// disguise replaces every letter and digit of the personal fields by a random one.
func disguise(random *rand.Rand, text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		fields := strings.Split(line, "/")
		for _, d := range personal[strings.TrimSpace(fields[0])] {
			if d.field < len(fields) {
				f := fields[d.field]
				from, to := min(d.from, len(f)), min(d.to, len(f))
				fields[d.field] = f[:from] + strings.Map(another(random), f[from:to]) + f[to:]
			}
		}
		lines[i] = strings.Join(fields, "/")
	}
	return strings.Join(lines, "\n")
}

func another(random *rand.Rand) func(rune) rune {
	return func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return 'A' + random.Int32N(26)
		case r >= '0' && r <= '9':
			return '0' + random.Int32N(10)
		}
		return r
	}
}

// train begins with every frequent text. In each round it drops the fifth of the phrases that
// shorten the corpus least. Then it gives the short codes to the phrases that are used most, which
// changes how often each is used; so it repeats that.
func train(texts []string) []string {
	phrases := candidates(texts)
	for len(phrases) > size {
		b := newBook(phrases, len(phrases))
		used := count(b, texts)
		worth := map[string]int{}
		for _, p := range phrases {
			worth[p] = used[p] * (b.parse(p, p, nil) - 1)
		}
		sortBy(phrases, func(p string) int { return worth[p] })
		phrases = phrases[:max(size, len(phrases)*4/5)]
	}
	used := count(newBook(phrases, size), texts)
	for range 8 {
		sortBy(phrases, func(p string) int { return used[p] })
		used = count(newBook(phrases, short), texts)
	}
	return phrases
}

func candidates(texts []string) []string {
	seen := map[string]int{}
	for _, text := range texts {
		for i := range len(text) {
			for n := 2; n <= longest && i+n <= len(text); n++ {
				if p := text[i : i+n]; n+strings.Count(p, "\n") <= longest {
					seen[p]++
				}
			}
		}
	}
	var all []string
	for p, n := range seen {
		if n >= 15 {
			all = append(all, p)
		}
	}
	sortBy(all, func(p string) int { return seen[p] * (len(p) - 1) })
	all = all[:min(pool, len(all))]
	for i := range len(always) {
		all = append(all, always[i:i+1])
	}
	return all
}

// sortBy sorts phrases by falling worth, after those of always. The result does not depend on their
// order.
func sortBy(phrases []string, worth func(string) int) {
	of := func(p string) int {
		if len(p) == 1 && strings.Contains(always, p) {
			return 1 << 40
		}
		return worth(p)
	}
	slices.SortFunc(phrases, func(a, b string) int { return cmp.Or(of(b)-of(a), strings.Compare(a, b)) })
}

// count returns how often each phrase is used in the shortest encoding of texts.
func count(b *book, texts []string) map[string]int {
	used := map[string]int{}
	for _, text := range texts {
		b.parse(text, "", func(phrase string) { used[phrase]++ })
	}
	return used
}

// book is a list of phrases with the lengths of their codes.
type book struct {
	byFirst [256][]string
	cost    map[string]int
}

func newBook(phrases []string, short int) *book {
	b := &book{cost: map[string]int{}}
	for i, p := range phrases {
		b.byFirst[p[0]] = append(b.byFirst[p[0]], p)
		if b.cost[p] = 2; i < short {
			b.cost[p] = 1
		}
	}
	return b
}

// parse cuts text into phrases other than skip so that it takes the fewest bytes, and returns how
// many. A byte without a phrase takes two. It calls use, unless that is nil, with each phrase.
func (b *book) parse(text, skip string, use func(string)) int {
	cost, step := make([]int, len(text)+1), make([]int, len(text))
	for i := len(text) - 1; i >= 0; i-- {
		cost[i], step[i] = cost[i+1]+2, 0
		for _, p := range b.byFirst[text[i]] {
			if p == skip || !strings.HasPrefix(text[i:], p) {
				continue
			}
			if c := b.cost[p] + cost[i+len(p)]; c < cost[i] {
				cost[i], step[i] = c, len(p)
			}
		}
	}
	for i := 0; use != nil && i < len(text); i += max(1, step[i]) {
		use(text[i : i+step[i]])
	}
	return cost[0]
}
