// Package watchtest has what tests of package watch and of the server share: a WebSocket client that
// turns frames into lines to compare, and a store of results. It is not for production code, and may
// import scheduler/result.
package watchtest

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

// Client is a client of the hub. Its methods fail the test on errors.
type Client struct {
	t *testing.T
	// WS is the connection.
	WS *websocket.Conn
}

// patience bounds every wait. It is a limit, not a delay.
const patience = time.Minute

// Dial connects to the hub at path on the server at url.
func Dial(t *testing.T, url, path string) *Client {
	t.Helper()
	ws, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(url, "http")+path, http.Header{"Origin": {url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ws.Close() })
	return &Client{t: t, WS: ws}
}

// Send sends a text frame.
func (c *Client) Send(frame string) {
	c.t.Helper()
	if err := c.WS.WriteMessage(websocket.TextMessage, []byte(frame)); err != nil {
		c.t.Fatal(err)
	}
}

// Subscribe subscribes to config maps in all namespaces.
func (c *Client) Subscribe(id string) {
	c.t.Helper()
	c.Send(fmt.Sprintf(`{"type":"subscribe","id":%q,"resource":{"group":"","version":"v1","resource":"configmaps"}}`, id))
}

// Topic subscribes to a topic with the id t.
func (c *Client) Topic(topic string) {
	c.t.Helper()
	c.Send(fmt.Sprintf(`{"type":"subscribe","id":"t","topic":%q}`, topic))
}

// Read reads a frame. Unlike the other methods, it returns errors.
func (c *Client) Read() ([]byte, error) {
	c.WS.SetReadDeadline(time.Now().Add(patience))
	_, data, err := c.WS.ReadMessage()
	return data, err
}

// NextRaw reads a frame and returns it unchanged.
func (c *Client) NextRaw() string {
	c.t.Helper()
	data, err := c.Read()
	if err != nil {
		c.t.Fatalf("reading a frame: %v", err)
	}
	return string(data)
}

// Next reads a frame and returns it as a line.
func (c *Client) Next() string {
	c.t.Helper()
	data, err := c.Read()
	if err != nil {
		c.t.Fatalf("reading a frame: %v", err)
	}
	return describe(c.t, data)
}

// Events reads frames until it has n events, however the hub batched them.
func (c *Client) Events(n int) []string {
	c.t.Helper()
	var all []string
	for len(all) < n {
		line := c.Next()
		rest, ok := strings.CutPrefix(line, "events ")
		if !ok {
			c.t.Fatalf("after %d events of %d: %s", len(all), n, line)
		}
		_, rest, _ = strings.Cut(rest, ": ")
		all = append(all, strings.Split(rest, ", ")...)
	}
	return all
}

// Closed reads until the connection ends and returns the close code.
func (c *Client) Closed() int {
	c.t.Helper()
	for {
		_, err := c.Read()
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
