package trail

import (
	"testing"
	"unsafe"
)

func TestCacheForgetsWhatWasNotAskedForLately(t *testing.T) {
	c := newCache[int, string](100)
	for i := range 10_000 {
		c.put(i, "", 0) // what was not found
		if n := len(c.young) + len(c.old); n > 200 {
			t.Fatalf("%d values after %d", n, i+1)
		}
		if _, have := c.get(0); !have {
			t.Fatalf("what is asked for all the time is gone after %d", i+1)
		}
	}
	if _, have := c.get(5000); have {
		t.Error("what was never asked for is still there")
	}
}

func TestCacheCountsWhatItHolds(t *testing.T) {
	c := newCache[int, string](100)
	for range 1000 {
		c.put(1, "again", 40)
		c.put(2, "light", 10)
	}
	c.put(3, "too heavy", 51)
	if _, have := c.get(3); have || c.weight != 50 || len(c.young) != 2 || len(c.old) != 0 {
		t.Errorf("young %v, old %v, weight %d", c.young, c.old, c.weight)
	}
	c.put(4, "heavy", 50)
	c.put(5, "the one that is too much", 50)
	if value, have := c.get(4); !have || value != "heavy" || c.weight != 100 {
		t.Errorf("young %v, old %v, weight %d", c.young, c.old, c.weight)
	}
	c.put(6, "the next that is too much", 50)
	if _, have := c.get(1); have {
		t.Error("a generation that was not asked for twice is still there")
	}
}

// What is asked for with a key in memory that is used again stays under its own.
func TestCacheKeepsItsOwnKeys(t *testing.T) {
	c := newCache[string, int](10)
	c.put("AKE1", 1, 5)
	c.put("AKE2", 2, 5)
	c.put("AKE3", 3, 5) // the others are old now
	text := []byte("AKE1")
	if value, have := c.get(unsafe.String(&text[0], len(text))); !have || value != 1 {
		t.Errorf("%d, %v", value, have)
	}
	clear(text)
	if value, have := c.get("AKE1"); !have || value != 1 || len(c.young) != 2 {
		t.Errorf("%d, %v of %v", value, have, c.young)
	}
}
