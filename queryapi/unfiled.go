package queryapi

import (
	"crypto/sha256"
	"sync"
	"time"

	"bagtrail/internal/wtr"
)

// unfiled remembers records that were created downstream but could not be filed. It lives as long as the process, which is the
// best that can be done while the log is away.
type unfiled struct {
	mutex   sync.Mutex
	records map[[sha256.Size]byte]creation
}

// creation is a record and when it was created.
type creation struct {
	reply wtr.Reply
	made  time.Time
}

// maxUnfiled bounds the memory. What comes beyond is not remembered.
const maxUnfiled = 10_000

func identity(key, document string) [sha256.Size]byte {
	return sha256.Sum256([]byte(key + "\x00" + document))
}

func (u *unfiled) find(key, document string) (creation, bool) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if len(u.records) == 0 {
		return creation{}, false
	}
	c, ok := u.records[identity(key, document)]
	return c, ok
}

func (u *unfiled) keep(key, document string, c creation) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if u.records == nil {
		u.records = make(map[[sha256.Size]byte]creation)
	}
	if len(u.records) < maxUnfiled {
		u.records[identity(key, document)] = c
	}
}

func (u *unfiled) forget(key, document string) {
	u.mutex.Lock()
	defer u.mutex.Unlock()
	if len(u.records) > 0 {
		delete(u.records, identity(key, document))
	}
}
