package command

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"bagtrail/enricher"
	"bagtrail/enricher/airline"
	"bagtrail/enricher/airport"
	"bagtrail/ingestor"
	"bagtrail/internal/apikey"
	"bagtrail/internal/bag"
	"bagtrail/internal/config"
	"bagtrail/internal/flightref"
)

// readLibraries returns the airports that are compiled in, with those in the operator's file, and
// the pairs of airline codes in the operator's file.
func readLibraries(c *config.Config) (*airport.Library, []airline.Pair, error) {
	extra, err := readFile("airports-file", c.Files.Airports, airport.ReadExtra)
	pairs, err2 := readFile("airlines-file", c.Files.Airlines, airline.ReadPairs)
	if err := errors.Join(err, err2); err != nil {
		return nil, nil, err
	}
	return airport.New(extra), pairs, nil
}

// filesOf returns a check that reads the files that a service with these doors needs. Each of its
// errors has an exit code. The check leaves out named pipes, since a pipe can be read only once,
// and the service reads it when it starts.
func filesOf(doors []string) config.Check {
	return func(named *config.Config, faults *config.Faults) {
		c := *named // a copy without the pipes
		for _, name := range []*string{&c.Files.Airports, &c.Files.Airlines, &c.Files.Flights, &c.Files.Keys, &c.HTTP.TLSCert, &c.HTTP.TLSKey} {
			if info, err := os.Stat(*name); err == nil && info.Mode()&os.ModeNamedPipe != 0 {
				*name = ""
			}
		}
		_, pairs, err := readLibraries(&c)
		_, err2 := readFile(flightsSetting, c.Files.Flights, func(text []byte) ([]*flightref.Reference, error) {
			return flightref.Parse(text, airline.New(pairs...))
		})
		faults.Add(errors.Join(err, err2))
		if slices.Contains(doors, httpDoor) {
			_, err := readFile(keysSetting, c.Files.Keys, apikey.Parse)
			_, err2 := readCertificates(c.HTTP)
			faults.Add(errors.Join(err, err2))
		}
	}
}

// readCertificates returns the certificate for TLS with its key, or none if TLS is off.
func readCertificates(h config.HTTP) ([]tls.Certificate, error) {
	if h.TLSCert == "" || h.TLSKey == "" {
		return nil, nil
	}
	pair, err := tls.LoadX509KeyPair(h.TLSCert, h.TLSKey)
	if err != nil {
		return nil, fileError(fmt.Errorf("BAGTRAIL_HTTP_TLS_CERT, BAGTRAIL_HTTP_TLS_KEY: %w", err))
	}
	return []tls.Certificate{pair}, nil
}

// readFile reads the file that a setting names; if there is no name, it returns the zero value.
func readFile[T any](setting, name string, read func(text []byte) (T, error)) (value T, err error) {
	if name == "" {
		return value, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return value, wrongFile(setting, err)
	}
	if value, err = read(text); err != nil {
		return value, wrongFile(setting, fmt.Errorf("%s: %w", name, err))
	}
	return value, nil
}

// wrongFile is fileError for the file of a setting, which the error names.
func wrongFile(setting string, err error) error {
	return fileError(fmt.Errorf("%s: %w", config.Names(setting), err))
}

// openLibraries reads the airports and airlines, and makes the enricher and the judge with them.
func (s *service) openLibraries(context.Context) error {
	library, pairs, err := readLibraries(s.conf)
	if err != nil {
		return err
	}
	s.library, s.airlines, s.enricher = library, airline.New(pairs...), enricher.New(library, pairs...)
	s.judge = ingestor.NewJudge(s.library, s.enricher)
	return nil
}

// openFlights reads the flight reference, and watches its file.
func (s *service) openFlights(context.Context) (err error) {
	if s.opens(demoDoor) {
		if err := s.openDemoFlights(); err != nil {
			return fmt.Errorf("flights of the demo: %w", err)
		}
	}
	if path := s.conf.Files.Flights; path != "" {
		if s.flights, err = flightref.Open(path, s.library.SamePlace, s.airlines); err != nil {
			return wrongFile(flightsSetting, err)
		}
		s.watch(flightsSetting, func(ctx context.Context, ticks <-chan time.Time, report func(error)) {
			s.flights.Watch(ctx, ticks, func(changed []bag.Flight, err error) {
				s.reloads.Add(s.clock(), changed)
				report(err)
			})
		})
	}
	return nil
}
