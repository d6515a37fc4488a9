package wtr

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"strings"
	"time"

	"bagtrail/internal/pause"
)

// Client forwards requests to the downstream system. It is safe for concurrent use.
type Client struct {
	url     string
	limit   time.Duration
	http    *http.Client
	breaker breaker
}

const (
	maxReply       = 1 << 20                // bytes
	maxReplyHeader = 64 << 10               // bytes
	dialLimit      = 3 * time.Second        // for one attempt to connect
	dialPause      = 100 * time.Millisecond // before the second attempt
)

// NewClient returns a client for the system at address, an http or https URL, which package config
// has checked. limit is the timeout of one call of Create; clock is for the circuit breaker.
func NewClient(address string, limit time.Duration, clock func() time.Time) *Client {
	transport := &http.Transport{
		Proxy:                  http.ProxyFromEnvironment,
		DialContext:            (&net.Dialer{Timeout: dialLimit}).DialContext,
		MaxResponseHeaderBytes: maxReplyHeader,
		DisableKeepAlives:      true, // a failure on a kept connection does not tell whether the request was sent
	}
	return &Client{
		url: address, limit: limit, breaker: breaker{clock: clock},
		http: &http.Client{
			Transport:     transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
}

// Answers reports whether the circuit breaker is closed: the latest requests did not all fail.
func (c *Client) Answers() bool { return !c.breaker.open() }

// Create forwards a request. If the error is ErrNotSent, no record was created; after any other
// error, a record may have been created. No error repeats a part of the request.
func (c *Client) Create(ctx context.Context, document string) (Reply, error) {
	if !c.breaker.allow() {
		return Reply{}, ErrBreakerOpen
	}
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	reply, err := c.send(ctx, document)
	if errors.Is(err, ErrNotSent) && pause.For(ctx, dialPause) == nil {
		reply, err = c.send(ctx, document)
	}
	c.breaker.report(err == nil || errors.Is(err, errRefused))
	if err != nil {
		return Reply{}, fmt.Errorf("create delayed-bag report: %w", err)
	}
	return reply, nil
}

// redact returns the part of an error that may be logged: a fault of the network or the
// certificate, a timeout, an end of the connection. Any other error is reduced to its type, since
// it may repeat our URL, which may hold a password, or the reply, which may repeat the request.
func redact(err error) error {
	if network, ok := errors.AsType[*net.OpError](err); ok {
		return network
	}
	if certificate, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return certificate
	}
	for _, known := range []error{context.DeadlineExceeded, context.Canceled, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, known) {
			return known
		}
	}
	for errors.Unwrap(err) != nil {
		err = errors.Unwrap(err)
	}
	return fmt.Errorf("the answer is not valid HTTP (%T)", err)
}

// errRefused says that the system answers, but with a status of 400 to 499 and a body that is no reply. It
// may refuse what one caller sends, so the circuit breaker does not count it as a failure.
var errRefused = errors.New("the request was refused")

// send sends a request once. Its error is an ErrNotSent if there was no connection: neither to the
// system nor to a proxy before it, TLS included.
func (c *Client) send(ctx context.Context, document string) (Reply, error) {
	connected := false // net/http writes a request only after it calls GotConn
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { connected = true }})
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, strings.NewReader(document))
	if err != nil {
		return Reply{}, err
	}
	request.GetBody = nil // so that net/http never sends the request again
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "application/json")
	response, err := c.http.Do(request)
	switch {
	case err != nil && !connected:
		return Reply{}, fmt.Errorf("%w: %w", ErrNotSent, redact(err))
	case err != nil:
		return Reply{}, redact(err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode == http.StatusSwitchingProtocols { // the body is the connection itself, which no timeout ends
		return Reply{}, errors.New("status 101")
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	switch {
	case err != nil:
		return Reply{}, fmt.Errorf("read reply: %w", redact(err))
	case len(text) > maxReply:
		return Reply{}, errors.New("reply is longer than 1 MiB")
	}
	reply, err := ReadReply(text)
	notFound := response.StatusCode == http.StatusNotFound
	if err != nil && !notFound {
		if response.StatusCode/100 == 4 {
			err = errors.Join(errRefused, err)
		}
		return Reply{}, fmt.Errorf("status %d: %w", response.StatusCode, err)
	}
	reply.NotFound = notFound
	return reply, nil
}
