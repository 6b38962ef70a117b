package connections

import (
	"net"
	"testing"
	"time"
)

// TestTheLongestWaitingGivesWay: a new connection takes the place of the one whose client has kept the
// server waiting the longest, and of none that the server works on.
func TestTheLongestWaitingGivesWay(t *testing.T) {
	l, dial := listen(t, 3, 0)
	now := time.Unix(0, 0)
	l.now = func() time.Time { now = now.Add(time.Second); return now }
	var ours []*Conn
	var theirs []net.Conn
	for range 3 {
		own, other := dial()
		own.Wait()
		ours, theirs = append(ours, own), append(theirs, other)
	}
	ours[0].Work()

	fourth, _ := dial()
	wantClosed(t, theirs[1], true)
	wantClosed(t, theirs[0], false)
	wantClosed(t, theirs[2], false)
	if l.Open() != 3 {
		t.Errorf("%d connections are open", l.Open())
	}

	// The server works on all: there is no room.
	ours[2].Work()
	fourth.Work()
	refused, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer refused.Close()
	go func() { _, _ = l.Accept() }()
	wantClosed(t, refused, true)

	// A connection that is closed makes room.
	fourth.Close()
	if l.Open() != 2 {
		t.Errorf("%d connections are open", l.Open())
	}
}

// TestAGreeting: until a client has sent its greeting, its connection gives way.
func TestAGreeting(t *testing.T) {
	l, dial := listen(t, 2, 4)
	now := time.Unix(0, 0)
	l.now = func() time.Time { now = now.Add(time.Second); return now }
	greeted, client := dial()
	if _, err := client.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if _, err := greeted.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	_, silent := dial()
	_, _ = dial()
	wantClosed(t, silent, true)
	wantClosed(t, client, false)
	l.CloseWaiting()
	wantClosed(t, client, false)
	l.CloseAll()
	wantClosed(t, client, true)
}

func TestLimit(t *testing.T) {
	for files, want := range map[uint64]int{0: 12, 256: 14, 1024: 206, 1 << 20: 4096, 1 << 63: 4096} {
		if got := limitOf(files); got != want {
			t.Errorf("with %d files: %d, not %d", files, got, want)
		}
	}
}

// listen returns a bounded listener, and a function that opens a connection and returns both ends.
func listen(t *testing.T, limit int, greeting int64) (*Listener, func() (*Conn, net.Conn)) {
	t.Helper()
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { inner.Close() })
	l := Bound(inner, limit, greeting)
	return l, func() (*Conn, net.Conn) {
		t.Helper()
		client, err := net.Dial("tcp", inner.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { client.Close() })
		own, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		return own.(*Conn), client
	}
}

// wantClosed checks whether the other end has closed the connection.
func wantClosed(t *testing.T, c net.Conn, want bool) {
	t.Helper()
	wait := 20 * time.Millisecond
	if want {
		wait = 5 * time.Second
	}
	if err := c.SetReadDeadline(time.Now().Add(wait)); err != nil {
		t.Fatal(err)
	}
	_, err := c.Read(make([]byte, 1))
	timeout, ok := err.(net.Error)
	if open := ok && timeout.Timeout(); open == want {
		t.Errorf("it is closed: %v, want %v (%v)", !open, want, err)
	}
}
