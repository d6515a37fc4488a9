package parser

import (
	"iter"
	"slices"
)

// Plates returns the licence plates of the group, each once and in ascending order, as numbers of
// ten digits, with their status code: that of the first .B that names the plate, "" if only an .N
// does.
func (g *Group) Plates() iter.Seq2[uint64, string] {
	return func(yield func(plate uint64, status string) bool) {
		for _, run := range disjoint(g.Tags) {
			for n := range run.Count {
				if !yield(run.First+uint64(n), run.Status) {
					return
				}
			}
		}
	}
}

// disjoint returns runs of the same plates that do not overlap, in ascending order. It takes O(n
// log n) time for n runs: it cuts the plates where a run begins or ends, and gives each piece to
// the first run that claims it.
func disjoint(tags []Tags) []Tags {
	if len(tags) <= 1 {
		return tags
	}
	p := piecesOf(tags)
	for i := range tags {
		if tags[i].Status != "" {
			p.claim(&tags[i])
		}
	}
	for i := range tags {
		if tags[i].Status == "" {
			p.claim(&tags[i])
		}
	}
	var runs []Tags
	for i, owner := range p.owner {
		if owner != nil {
			runs = append(runs, Tags{p.cuts[i], int(p.cuts[i+1] - p.cuts[i]), owner.Status})
		}
	}
	return runs
}

// pieces are the plates between neighbouring cuts: piece i begins at cuts[i].
type pieces struct {
	cuts  []uint64
	owner []*Tags
	free  []int // free[i] is i if piece i is free, else a later piece, none free between them
}

func piecesOf(tags []Tags) *pieces {
	var p pieces
	for _, t := range tags {
		p.cuts = append(p.cuts, t.First, t.First+uint64(t.Count))
	}
	slices.Sort(p.cuts)
	p.cuts = slices.Compact(p.cuts)
	p.owner = make([]*Tags, len(p.cuts))
	p.free = make([]int, len(p.cuts))
	for i := range p.free {
		p.free[i] = i
	}
	return &p
}

// claim makes t the owner of its free pieces.
func (p *pieces) claim(t *Tags) {
	first, _ := slices.BinarySearch(p.cuts, t.First)
	end, _ := slices.BinarySearch(p.cuts, t.First+uint64(t.Count))
	for i := p.nextFree(first); i < end; i = p.nextFree(i) {
		p.owner[i] = t
		p.free[i] = i + 1
	}
}

// nextFree returns the first free piece from i on. It shortens the path for later calls.
func (p *pieces) nextFree(i int) int {
	for p.free[i] != i {
		p.free[i] = p.free[p.free[i]]
		i = p.free[i]
	}
	return i
}
