package app

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"time"

	"kube-scheduler-simulator/scheduler/examples/extender/reservation"
)

// The extender checks no token, so only this machine may reach its address.
func listenExampleExtender(address string) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("serving the example extender: %w", err)
	}
	if at, ok := listener.Addr().(*net.TCPAddr); !ok || !at.IP.IsLoopback() {
		return nil, errors.Join(fmt.Errorf("serving the example extender: %s is not a loopback address", address), listener.Close())
	}
	return listener, nil
}

// The scheduler calls the example extender when a configuration names it. The extender does not
// bind pods.
func (s *simulator) startExampleExtender() {
	if s.prepared.extender == nil {
		return
	}
	web := &http.Server{Handler: (&reservation.Extender{}).Handler(), ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := web.Serve(s.prepared.extender); !errors.Is(err, http.ErrServerClosed) {
			s.failed <- fmt.Errorf("serving the example extender: %w", err)
		}
	}()
	s.onStopOf("the example extender", 0, func(ctx context.Context) error {
		err := web.Close()
		return errors.Join(err, within(ctx, func() { <-done }))
	})
}
