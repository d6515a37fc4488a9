package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"bagtrail/enricher/airport"
	"bagtrail/parser"
)

// parseLine measures line 1: the strict parse of the simulator's mix, against a loop over every byte. Both are pure
// computation, so it measures processor time, which other load on the machine changes least.
func parseLine(_ context.Context, b *bench) ([]row, error) {
	messages, _ := feed(200)
	size := 0
	texts := make([]string, len(messages))
	for i, m := range messages {
		texts[i] = m.Text
		size += len(m.Text)
	}
	lib := airport.New()
	var m parser.Message
	rounds := b.size(500)
	perMessage := func(took time.Duration) float64 {
		return float64(took.Nanoseconds()) / float64(rounds*len(texts))
	}
	refused := 0
	ours := func() (float64, error) {
		began := ownTime()
		for range rounds {
			for _, t := range texts {
				m.Parse(t, lib)
				if !m.Accepted() {
					refused++
				}
			}
		}
		return perMessage(ownTime() - began), nil
	}
	reference := func() (float64, error) {
		began := ownTime()
		for range rounds {
			for _, t := range texts {
				lines, sum := lookAtEveryByte(t)
				refused += lines&0 + sum&0 // the results are used
			}
		}
		return perMessage(ownTime() - began), nil
	}
	p, err := b.alternate(ours, reference)
	if err != nil {
		return nil, err
	}
	allocations := testing.AllocsPerRun(1, func() {
		for _, t := range texts {
			m.Parse(t, lib)
		}
	})
	return []row{{
		"1", fmt.Sprintf("strict parse, ns a message of %d B", size/len(texts)),
		fmt.Sprintf("%.0f ns, %.0f allocations", p.ours.median(), allocations), fmt.Sprintf("%.0f ns", p.reference.median()),
		p.ratio(), "≤ 6 ×, 0 allocations", verdictOf(p.ratios().median() <= 6 && allocations == 0),
	}}, nil
}

// lookAtEveryByte is the reference: it counts line feeds and sums every byte.
//
//go:noinline
func lookAtEveryByte(text string) (lines, sum int) {
	for _, c := range []byte(text) {
		if c == '\n' {
			lines++
		}
		sum += int(c)
	}
	return lines, sum
}
