package web

import (
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/gin-gonic/gin"
)

// refusePublicName answers a request whose Host is a public name with status 421.
func (s *Site) refusePublicName(c *gin.Context) {
	host := (&url.URL{Host: c.Request.Host}).Hostname()
	name := strings.TrimSuffix(host, ".")
	if strings.Contains(name, ".") && net.ParseIP(host) == nil && !strings.HasSuffix(name, ".localhost") {
		s.servePage(c.Writer, c.Request, Page{Path: unmatchedRoute, Handler: http.HandlerFunc(misdirected)})
		c.Abort()
	}
}

func misdirected(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "While the development key is valid, the service answers only to addresses, and to names without a dot such as localhost. "+
		"With a key file (BAGTRAIL_KEYS_FILE) it answers to every name.", http.StatusMisdirectedRequest)
}
