package redis_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"bagtrail/internal/redis"
	"bagtrail/test/service"
)

func TestAURLSaysWhereRedisIs(t *testing.T) {
	type options = goredis.UniversalOptions
	for url, want := range map[string]redis.Address{
		"redis://localhost":                      {UniversalOptions: options{Addrs: []string{"localhost:6379"}}},
		"redis://localhost/":                     {UniversalOptions: options{Addrs: []string{"localhost:6379"}}},
		"redis://127.0.0.1:7000/3":               {UniversalOptions: options{Addrs: []string{"127.0.0.1:7000"}, DB: 3}},
		"redis://[::1]:7000":                     {UniversalOptions: options{Addrs: []string{"[::1]:7000"}}},
		"redis://[::1]":                          {UniversalOptions: options{Addrs: []string{"[::1]:6379"}}},
		"redis://:p%40ss%2F@a":                   {UniversalOptions: options{Addrs: []string{"a:6379"}, Password: "p@ss/"}},
		"redis://user:p@ss:word@a:1?prefix=x%3A": {UniversalOptions: options{Addrs: []string{"a:1"}, Username: "user", Password: "p@ss:word"}, Prefix: "x:"},
		"redis+cluster://u:p@a,b:7001,c":         {UniversalOptions: options{IsClusterMode: true, Addrs: []string{"a:6379", "b:7001", "c:6379"}, Username: "u", Password: "p"}},
		"redis+cluster://a":                      {UniversalOptions: options{IsClusterMode: true, Addrs: []string{"a:6379"}}},
		"redis+sentinel://a,b:1,c/my%2Fmaster":   {UniversalOptions: options{Addrs: []string{"a:26379", "b:1", "c:26379"}, MasterName: "my/master"}},
		"redis://a/0?prefix=x@y":                 {UniversalOptions: options{Addrs: []string{"a:6379"}}, Prefix: "x@y"},
		"redis://a?prefix={}":                    {UniversalOptions: options{Addrs: []string{"a:6379"}}, Prefix: "{}"},
		"redis+sentinel://u:p@a/m/2?sentinel_user=s&sentinel_password=t": {UniversalOptions: options{
			Addrs: []string{"a:26379"}, Username: "u", Password: "p", MasterName: "m", DB: 2, SentinelUsername: "s", SentinelPassword: "t",
		}},
	} {
		got, err := redis.ParseURL(url)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s\ngot  %+v, %v\nwant %+v", url, got, err, want)
		}
		got, err = redis.ParseURL(strings.Replace(url, "redis", "rediss", 1))
		if err != nil || got.TLSConfig == nil {
			t.Errorf("%s with TLS: %+v, %v", url, got, err)
			continue
		}
		if got.TLSConfig = nil; !reflect.DeepEqual(got, want) {
			t.Errorf("%s with TLS: %+v", url, got)
		}
	}
}

func TestFaultsInAURLAreSaidTogetherAndWithoutThePassword(t *testing.T) {
	empty := service.WriteFile(t, "empty.pem", "")
	for url, want := range map[string][]string{
		"":                                   {"must begin with redis://"},
		"localhost:6379":                     {"must begin with redis://"},
		"http://u:hunter2@a":                 {"must begin with redis://"},
		"redis://":                           {"host is missing"},
		"redis://u:hunter2@":                 {"host is missing"},
		"redis://u:hunter2@a,b":              {"several hosts"},
		"redis://u:hunter2@a:port":           {`the port of "a" is not a number`},
		"redis://u:hunter2@a:70000":          {`the port of "a" is not a number`},
		"redis://u:hunter2%zz@a":             {"the password is not percent-encoded"},
		"redis://u:hunter2@a/x":              {`"x" is not the number of a database`},
		"redis://u:hunter2@a/-1":             {`"-1" is not the number of a database`},
		"redis+cluster://u:hunter2@a,,c/1":   {`"" is not a host`, "no database but 0"},
		"redis+sentinel://u:hunter2@a":       {"name of the master is missing"},
		"redis://u:hunter2@a?x=1&prefix=%zz": {"parameters are not percent-encoded"},
		"redis://u:hunter2@a?sentinel_user=": {`unknown parameter "sentinel_user"`},
		"redis://a?prefix=1&prefix=2":        {`parameter "prefix" is repeated`},
		"redis+cluster://a?prefix={}":        {"must not hold a brace"},
		"redis://a?ca=x":                     {"needs TLS"},
		"rediss://u:hunter2@a?ca=/not/there": {"/not/there"},
		"rediss://a?ca=" + empty:             {"holds no certificate"},
		"redis://u:hunter2@a:b/c?d=e":        {`"a"`, `"c"`, `"d"`},
		"redis://a/0?x=1@2":                  {"%40"},
		"redis://u:hunter2":                  {`the port of "u" is not a number`},
		"redis://u:hunter2/x@a/0":            {"%2F"},
		"redis://u:x/hunter2@a/0":            {"%2F"},
		"redis://u:hunter2?x@a":              {"%3F"},
		"redis://u:x@y/hunter2@a/0":          {"%2F"},
		"redis://u:x?hunter2@a":              {"%3F"},
	} {
		_, err := redis.ParseURL(url)
		if err == nil {
			t.Errorf("%s: no error", url)
			continue
		}
		for _, text := range want {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %q is missing in %q", url, text, err)
			}
		}
		if strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: the error %q holds the password", url, err)
		}
		_, err = redis.Open(redis.Config{URL: url, Now: time.Now})
		if url != "" && (err == nil || strings.Contains(err.Error(), "hunter2")) {
			t.Errorf("%s: Open says %v", url, err)
		}
	}
}
