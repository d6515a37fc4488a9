package cache

import (
	"testing"
	"unsafe"
)

func TestCacheForgetsWhatWasNotAskedForLately(t *testing.T) {
	c := New[int, string](100)
	for i := range 10_000 {
		c.Put(i, "", 0) // what was not found
		if n := len(c.young) + len(c.old); n > 200 {
			t.Fatalf("%d values after %d", n, i+1)
		}
		if _, have := c.Get(0); !have {
			t.Fatalf("what is asked for all the time is gone after %d", i+1)
		}
	}
	if _, have := c.Get(5000); have {
		t.Error("what was never asked for is still there")
	}
}

func TestCacheCountsWhatItHolds(t *testing.T) {
	c := New[int, string](100)
	for range 1000 {
		c.Put(1, "again", 40)
		c.Put(2, "light", 10)
	}
	c.Put(3, "too heavy", 51)
	if _, have := c.Get(3); have || c.weight != 50 || len(c.young) != 2 || len(c.old) != 0 {
		t.Errorf("young %v, old %v, weight %d", c.young, c.old, c.weight)
	}
	c.Put(4, "heavy", 50)
	c.Put(5, "the one that is too much", 50)
	if value, have := c.Get(4); !have || value != "heavy" || c.weight != 100 {
		t.Errorf("young %v, old %v, weight %d", c.young, c.old, c.weight)
	}
	c.Put(6, "the next that is too much", 50)
	if _, have := c.Get(1); have {
		t.Error("a generation that was not asked for twice is still there")
	}
}

// What is asked for with a key in memory that is used again stays under its own.
func TestCacheKeepsItsOwnKeys(t *testing.T) {
	c := New[string, int](10)
	c.Put("AKE1", 1, 5)
	c.Put("AKE2", 2, 5)
	c.Put("AKE3", 3, 5) // the others are old now
	text := []byte("AKE1")
	if value, have := c.Get(unsafe.String(&text[0], len(text))); !have || value != 1 {
		t.Errorf("%d, %v", value, have)
	}
	clear(text)
	if value, have := c.Get("AKE1"); !have || value != 1 || len(c.young) != 2 {
		t.Errorf("%d, %v of %v", value, have, c.young)
	}
}

func TestWhatIsRemovedFromACacheWeighsNothing(t *testing.T) {
	c := New[int, string](10)
	c.Put(1, "old", 5)
	c.Put(2, "old", 5)
	c.Put(3, "young", 5)
	c.Remove(1)
	c.Remove(3)
	c.Remove(4)
	for key, want := range map[int]bool{1: false, 2: true, 3: false} {
		if _, have := c.Get(key); have != want {
			t.Errorf("key %d: %t, want %t", key, have, want)
		}
	}
	if c.weight != 5 {
		t.Errorf("weight %d, want 5", c.weight)
	}
}
