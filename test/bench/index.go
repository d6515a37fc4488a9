package main

import (
	"time"

	"bagtrail/internal/bagstore"
	"bagtrail/internal/redis"
)

// index is a store with a client of its own.
type index struct {
	*bagstore.Store
	client *redis.Client
}

// openIndex opens the index in the Redis at a URL, or in a new one inside this process if the URL is "".
func openIndex(url string) (*index, error) {
	client, err := redis.Open(redis.Config{URL: url, Now: time.Now})
	if err != nil {
		return nil, err
	}
	// Retention is so long that no clock makes simulated journeys end.
	store, err := bagstore.Open(client, bagstore.Config{Retention: 20 * 365 * 24 * time.Hour, Now: time.Now})
	return &index{store, client}, err
}

func (i *index) Close() error {
	i.Store.Close()
	return i.client.Close()
}
