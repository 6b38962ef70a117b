package server

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"
)

// wsClient speaks to the hub and writes down what it hears.
type wsClient struct {
	t  *testing.T
	ws *websocket.Conn
}

func (h *harness) dial() *wsClient {
	h.t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial("ws://"+h.host+watchPath, http.Header{"Origin": {h.url}})
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { ws.Close() })
	return &wsClient{h.t, ws}
}

func (c *wsClient) send(frame string) {
	c.t.Helper()
	if err := c.ws.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *wsClient) subscribe(id string) {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"type":"subscribe","id":%q,"resource":{"group":"","version":"v1","resource":"configmaps"}}`, id))
}

func (c *wsClient) topic(topic string) {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"type":"subscribe","id":"t","topic":%q}`, topic))
}

func (c *wsClient) read() ([]byte, error) {
	c.ws.SetReadDeadline(time.Now().Add(patience))
	_, data, err := c.ws.ReadMessage()
	return data, err
}

// next reads a frame and returns it in a line.
func (c *wsClient) next() string {
	c.t.Helper()
	data, err := c.read()
	if err != nil {
		c.t.Fatalf("reading a frame: %v", err)
	}
	return describe(c.t, data)
}

// events reads frames until n events have come, however they were batched.
func (c *wsClient) events(n int) []string {
	c.t.Helper()
	var all []string
	for len(all) < n {
		line := c.next()
		rest, ok := strings.CutPrefix(line, "events ")
		if !ok {
			c.t.Fatalf("after %d events of %d: %s", len(all), n, line)
		}
		_, rest, _ = strings.Cut(rest, ": ")
		all = append(all, strings.Split(rest, ", ")...)
	}
	return all
}

// closed reads to the end and returns the close code.
func (c *wsClient) closed() int {
	c.t.Helper()
	for {
		_, err := c.read()
		if err == nil {
			continue
		}
		if closed, ok := errors.AsType[*websocket.CloseError](err); ok {
			return closed.Code
		}
		c.t.Fatalf("the connection ended with %v, not with a close frame", err)
	}
}

func describe(t *testing.T, data []byte) string {
	t.Helper()
	var f struct {
		Type, ID, Message string
		Code              int
		First, More       bool
		Items             []json.RawMessage
		Events            []struct {
			Type   string
			Object json.RawMessage
		}
	}
	if err := json.Unmarshal(data, &f); err != nil {
		t.Fatalf("a frame that is not JSON: %v\n%s", err, data)
	}
	var parts []string
	head := f.Type + " " + f.ID
	switch f.Type {
	case "list":
		if f.First {
			head += " first"
		}
		if f.More {
			head += " more"
		}
		for _, item := range f.Items {
			parts = append(parts, describeObject(t, item))
		}
	case "events":
		for _, e := range f.Events {
			parts = append(parts, e.Type+" "+describeObject(t, e.Object))
		}
	case "error":
		return fmt.Sprintf("error %s %d: %s", f.ID, f.Code, f.Message)
	}
	return head + ": " + strings.Join(parts, ", ")
}

func describeObject(t *testing.T, data []byte) string {
	t.Helper()
	var o struct {
		Kind     string
		Metadata *struct {
			Name          string
			Annotations   map[string]string
			ManagedFields []any
		}
		Data map[string]string

		Pod     *struct{ UID string }
		Attempt int
		Outcome string

		Ready bool
		Phase string
	}
	if err := json.Unmarshal(data, &o); err != nil {
		t.Fatalf("an object that is not JSON: %v\n%s", err, data)
	}
	switch {
	case o.Pod != nil:
		return fmt.Sprintf("%s/%d=%s", o.Pod.UID, o.Attempt, o.Outcome)
	case o.Metadata == nil:
		return fmt.Sprintf("%s ready=%t", o.Phase, o.Ready)
	}
	if o.Kind != "ConfigMap" || len(o.Metadata.Annotations) != 1 || o.Metadata.ManagedFields != nil {
		t.Fatalf("want a kind, one annotation and no managed fields: %s", data)
	}
	return o.Metadata.Name + "=" + o.Data["v"]
}

// eventually waits for a condition; changed is closed when it is worth
// looking again.
func eventually(t *testing.T, what string, condition func() (bool, <-chan struct{})) {
	t.Helper()
	timeout := time.After(patience)
	for {
		ok, changed := condition()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-timeout:
			t.Fatalf("waited in vain for: %s", what)
		}
	}
}
