package bagstore_test

import (
	"context"
	"fmt"
	"testing"

	"bagtrail/internal/bag"
	"bagtrail/internal/bagstore"
	"bagtrail/internal/redis/redistest"
	"bagtrail/internal/smallmap"
	"bagtrail/internal/trail"
)

// An operation is 500 messages.
func BenchmarkFile(b *testing.B) {
	for name, url := range backends(b) {
		b.Run(name, func(b *testing.B) {
			w, all := open(b, url, bagstore.Config{}).Writer(), feed(5, 2000)
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i % (len(all) / 500) * 500
				if _, err := w.File(context.Background(), all[at:at+500]); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N)*500/b.Elapsed().Seconds(), "messages/s")
		})
	}
}

// Reads the trails of one bag, and of 300.
func BenchmarkTrails(b *testing.B) {
	for name, url := range backends(b) {
		for _, n := range []int{1, 300} {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) {
				s := open(b, url, bagstore.Config{})
				all := feed(5, n)
				if _, err := s.Writer().File(context.Background(), all); err != nil {
					b.Fatal(err)
				}
				var plates []bag.Plate
				for _, f := range all {
					for _, e := range f.Entries {
						plates = append(plates, e.Plate)
					}
				}
				plates = smallmap.Distinct(plates)
				r := s.Reader()
				b.ReportAllocs()
				for b.Loop() {
					now, err := r.Read(context.Background(), trail.Wanted{PlateMessages: plates})
					if err != nil {
						b.Fatal(err)
					}
					for _, held := range now.PlateMessages {
						if all, whole := held.Messages(); !whole || len(all) == 0 {
							b.Fatal(all, whole)
						}
					}
				}
			})
		}
	}
}

func backends(b *testing.B) map[string]string {
	return map[string]string{"redis": redistest.StartServer(b).URL(""), "in-process": ""}
}
