// Package inprocess starts a Redis inside the process of a test: for machines without a Redis, and for
// tests that stop it.
package inprocess

import (
	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// StartRedis starts a Redis at an address, host:port; the port 0 is a free one. The caller closes it.
func StartRedis(address string) (*miniredis.Miniredis, error) {
	redis := miniredis.NewMiniRedis()
	if err := redis.StartAddr(address); err != nil {
		return nil, err
	}
	redis.Server().SetPreHook(func(c *server.Peer, cmd string, _ ...string) bool {
		if cmd != "INFO" {
			return false
		}
		// Without a version no service would start with it, and without a run id each new connection
		// would make a consumer handle its records again.
		c.WriteBulk("# Server\r\nredis_version:7.0.15\r\nrun_id:b7a3c5d1\r\n")
		return true
	})
	return redis, nil
}
