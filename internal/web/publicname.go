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
	http.Error(w, "With the development key the service is asked as localhost, or by an address. With a key file "+
		"(BAGTRAIL_KEYS_FILE) it has any name.", http.StatusMisdirectedRequest)
}
