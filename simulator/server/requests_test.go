package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// quick is a pace at which tests need not wait.
var quick = pace{body: 50 * time.Millisecond, bodyRate: 1 << 20, write: 100 * time.Millisecond, hangUp: 50 * time.Millisecond, grace: 50 * time.Millisecond}

// open sends the beginning of a request and leaves the connection open.
func (h *harness) open(format string, args ...any) net.Conn {
	h.t.Helper()
	conn, err := net.Dial("tcp", h.host)
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		h.t.Fatal(err)
	}
	if _, err := fmt.Fprintf(conn, strings.ReplaceAll(format, "\n", "\r\n"), args...); err != nil {
		h.t.Fatal(err)
	}
	return conn
}

// answerOn reads an answer.
func answerOn(t *testing.T, conn net.Conn) answer {
	t.Helper()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{response, string(body)}
}

// closes checks that the server closes the connection.
func closes(t *testing.T, conn net.Conn) {
	t.Helper()
	if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset by peer") {
		t.Errorf("the connection stays open: %v", err)
	}
}

const halfConfiguration = "PUT /api/v1/schedulerconfiguration HTTP/1.1\nHost: %s\nContent-Length: 1000\n\nhalf"

// TestHalfABodyIsGivenUp: a body that stops arriving is refused, and one that arrives too slowly, too.
func TestHalfABodyIsGivenUp(t *testing.T) {
	h := serve(t, Options{pace: quick})
	h.attach(newDrain(t), nil)
	for name, format := range map[string]string{
		"of known length":   halfConfiguration,
		"of unknown length": "PUT /api/v1/schedulerconfiguration HTTP/1.1\nHost: %s\nTransfer-Encoding: chunked\n\nff\nhalf",
		"of an object":      "POST /kubernetes/api/v1/pods HTTP/1.1\nHost: %s\nContent-Length: 1000\n\nhalf",
		"of a reset":        "PUT /api/v1/reset HTTP/1.1\nHost: %s\nContent-Length: 1000\n\nhalf",
	} {
		t.Run(name, func(t *testing.T) {
			conn := h.open(format, h.host)
			a := answerOn(t, conn)
			want(t, "status", a.StatusCode, http.StatusRequestTimeout)
			if !strings.Contains(a.message(t), "did not arrive in time") {
				t.Errorf("it says %s", a.body)
			}
			closes(t, conn)
		})
	}
	t.Run("slowly", func(t *testing.T) {
		conn := h.open(halfConfiguration, h.host)
		stop := make(chan struct{})
		var sending sync.WaitGroup
		sending.Go(func() {
			for {
				select {
				case <-stop:
					return
				case <-time.After(quick.body / 5):
					_, _ = conn.Write([]byte("x")) // it fails once the server has given up
				}
			}
		})
		a := answerOn(t, conn)
		close(stop)
		sending.Wait()
		want(t, "status", a.StatusCode, http.StatusRequestTimeout)
	})
}

// TestABodyThatArrivesMayTakeLong: the deadline moves with progress.
func TestABodyThatArrivesMayTakeLong(t *testing.T) {
	// On a busy machine a part can be late by far more than quick.body.
	patient := quick
	patient.body, patient.bodyRate = 500*time.Millisecond, 1
	h := serve(t, Options{pace: patient})
	h.attach(nil, nil)
	body, client := io.Pipe()
	go func() {
		for range 6 {
			time.Sleep(patient.body / 5) // longer than patient.body altogether
			_, _ = io.WriteString(client, "# a comment\n")
		}
		client.Close()
	}()
	r, err := http.NewRequest(http.MethodPut, h.url+configurationPath, body)
	if err != nil {
		t.Fatal(err)
	}
	if a := h.send(r); a.StatusCode != http.StatusOK {
		t.Errorf("%d: %s", a.StatusCode, a.body)
	}
}

// TestRefusedClientsAreDisconnected: a client without the token, or of another site, cannot keep the server
// busy with the rest of its request.
func TestRefusedClientsAreDisconnected(t *testing.T) {
	h := serve(t, Options{pace: quick, Token: "sesame"})
	for code, headers := range map[int]string{http.StatusUnauthorized: "", http.StatusForbidden: "Origin: http://evil.example\n"} {
		conn := h.open("PUT /api/v1/reset HTTP/1.1\nHost: %s\n"+headers+"Content-Length: 1000\n\nhalf", h.host)
		a := answerOn(t, conn)
		want(t, "status", a.StatusCode, code)
		want(t, "Connection", a.Close, true)
		closes(t, conn)
	}
}

// TestAClientThatReadsNothingIsCutOff: it does not keep its answer in memory for ever.
func TestAClientThatReadsNothingIsCutOff(t *testing.T) {
	h, f := serveTransferWith(t, Options{pace: quick})
	ended := make(chan error, 1)
	f.export = func(w io.Writer) error {
		block := []byte(strings.Repeat("x", 1<<20))
		for {
			if _, err := w.Write(block); err != nil {
				ended <- err
				return err
			}
		}
	}
	h.open("GET %s HTTP/1.1\nHost: %s\n\n", exportPath, h.host)
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatal("the server goes on writing")
	}
}

// TestExportsTakeTurns: two at a time, and a client that has left makes room.
func TestExportsTakeTurns(t *testing.T) {
	h, f := serveTransfer(t, &willing{})
	begun, release := make(chan struct{}, 3), make(chan struct{})
	f.export = func(io.Writer) error {
		begun <- struct{}{}
		<-release
		return nil
	}
	var reading sync.WaitGroup
	for range maxExports {
		reading.Go(func() { h.get(exportPath) })
		<-begun
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := h.beginExport(ctx); err == nil {
		t.Error("a third export begins")
	}
	close(release)
	reading.Wait()
	if a := h.get(exportPath); a.StatusCode != http.StatusOK {
		t.Errorf("later: %d", a.StatusCode)
	}
}

// TestOneUploadAtATime: a second one is refused at once, and half an upload does not keep others out for
// ever.
func TestOneUploadAtATime(t *testing.T) {
	paced := quick
	paced.body = time.Second
	h, _ := serveTransferWith(t, Options{pace: paced})
	half := h.open("POST %s HTTP/1.1\nHost: %s\nContent-Length: 1000\n\nhalf", importPath, h.host)
	clustertest.EventuallyTrue(t, "the server receives it", h.isReceiving)
	a := h.do(http.MethodPost, importPath, named("a"))
	want(t, "status", a.StatusCode, http.StatusConflict)
	want(t, "message", a.message(t), "another file is being uploaded; try again when that has ended")
	want(t, "the half one", answerOn(t, half).StatusCode, http.StatusRequestTimeout)
	if a := h.do(http.MethodPost, importPath, named("a")); a.StatusCode != http.StatusOK {
		t.Errorf("later: %d: %s", a.StatusCode, a.body)
	}
}

// isReceiving reports whether the server waits for a body.
func (h *harness) isReceiving() bool {
	for _, q := range h.requests.all() {
		q.mu.Lock()
		receiving := q.receiving
		q.mu.Unlock()
		if receiving {
			return true
		}
	}
	return false
}

// TestQuiesce: requests under way end, further ones are refused, and the status is still served.
func TestQuiesce(t *testing.T) {
	waiting := make(chan struct{}, 1)
	api := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		waiting <- struct{}{}
		<-r.Context().Done()
	}))
	t.Cleanup(api.Close)
	h := serve(t, Options{pace: pace{body: time.Hour, bodyRate: 1, write: time.Hour, hangUp: time.Hour, grace: 50 * time.Millisecond}})
	h.attach(api, nil)
	half := h.open(halfConfiguration, h.host)
	hanging := h.open("GET /kubernetes/api HTTP/1.1\nHost: %s\n\n", h.host)
	<-waiting
	clustertest.EventuallyTrue(t, "the server receives the half one", h.isReceiving)
	begin := time.Now()
	h.Quiesce(t.Context())
	if took := time.Since(begin); took > patience/2 {
		t.Errorf("it took %v", took)
	}
	closes(t, half)
	closes(t, hanging)
	a := h.get("/api/v1/results")
	want(t, "status", a.StatusCode, http.StatusServiceUnavailable)
	want(t, "message", a.message(t), "the simulator is stopping")
	want(t, "the status", h.get("/api/v1/status").StatusCode, http.StatusOK)
}

// TestBodiesInMemoryAreBounded: together they have a bound, and what is released can be used again.
func TestBodiesInMemoryAreBounded(t *testing.T) {
	s := New(Options{})
	var releases []func()
	for {
		_, release, err := s.readBody(strings.NewReader(strings.Repeat("x", 3<<20)))
		if err != nil {
			if len(releases) < 10 || len(releases) > maxBodies>>20 {
				t.Errorf("after %d bodies: %v", len(releases), err)
			}
			break
		}
		releases = append(releases, release)
	}
	for _, release := range releases {
		release()
	}
	data, release, err := s.readBody(strings.NewReader("again"))
	if err != nil || string(data) != "again" {
		t.Fatalf("%q, %v", data, err)
	}
	release()
	if !s.turns.bodies.TryAcquire(maxBodies) {
		t.Error("something was not released")
	}
}

// TestValuesAreBounded: what would become a large object in the API server does not get there.
func TestValuesAreBounded(t *testing.T) {
	h := serve(t, Options{})
	h.attach(newDrain(t), nil)
	bomb := "[" + strings.Repeat("[],", maxValues) + "[]]"
	for _, contentType := range []string{"application/json", "application/yaml", "application/apply-patch+yaml"} {
		a := h.do(http.MethodPost, "/kubernetes/api/v1/pods", bomb, "Content-Type: "+contentType)
		want(t, contentType, a.StatusCode, http.StatusRequestEntityTooLarge)
	}
	if a := h.do(http.MethodPost, "/kubernetes/api/v1/pods", bomb, "Content-Type: application/vnd.kubernetes.protobuf"); a.StatusCode != http.StatusOK {
		t.Errorf("binary data: %d", a.StatusCode)
	}
}
