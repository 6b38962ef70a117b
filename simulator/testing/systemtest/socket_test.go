package systemtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"

	"github.com/gorilla/websocket"
)

// socket is a WebSocket to the program.
type socket struct {
	*websocket.Conn
	buffer bytes.Buffer
}

func (p *program) dial(ctx context.Context) (*socket, error) {
	return p.dialWith(ctx, &websocket.Dialer{})
}

// dialSmall opens a connection with a tiny receive buffer.
func (p *program) dialSmall(ctx context.Context) (*socket, error) {
	return p.dialWith(ctx, &websocket.Dialer{NetDialContext: dialSmall})
}

func dialSmall(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return conn, conn.(*net.TCPConn).SetReadBuffer(4 << 10)
}

func (p *program) dialWith(ctx context.Context, dialer *websocket.Dialer) (*socket, error) {
	ws, _, err := dialer.DialContext(ctx, "ws"+strings.TrimPrefix(p.url, "http")+"/api/v1/watch", http.Header{"Origin": {p.url}})
	if err != nil {
		return nil, err
	}
	return &socket{Conn: ws}, nil
}

// subscribe subscribes to a resource of the core group.
func (s *socket) subscribe(id, resource string) error {
	return s.WriteJSON(map[string]any{
		"type": "subscribe", "id": id,
		"resource": map[string]string{"group": "", "version": "v1", "resource": resource},
	})
}

// next returns a frame, which is valid until the next call.
func (s *socket) next() ([]byte, error) {
	_, r, err := s.NextReader()
	if err != nil {
		return nil, err
	}
	s.buffer.Reset()
	_, err = io.Copy(&s.buffer, r)
	return s.buffer.Bytes(), err
}

// mirror is a client's view of the cluster: resource versions by subscription and name.
type mirror map[string]map[string]string

type watched struct {
	Metadata struct{ Name, ResourceVersion string }
}

// apply applies the change in a frame.
func (m mirror) apply(data []byte) error {
	var frame struct {
		Type, ID, Message string
		First             bool
		Items             []watched
		Events            []struct {
			Type   string
			Object watched
		}
	}
	if err := json.Unmarshal(data, &frame); err != nil {
		return err
	}
	if frame.Type == "error" {
		return fmt.Errorf("%s: %s", frame.ID, frame.Message)
	}
	if frame.First || m[frame.ID] == nil {
		m[frame.ID] = map[string]string{}
	}
	for _, o := range frame.Items {
		m[frame.ID][o.Metadata.Name] = o.Metadata.ResourceVersion
	}
	for _, e := range frame.Events {
		if e.Type == "DELETED" {
			delete(m[frame.ID], e.Object.Metadata.Name)
		} else {
			m[frame.ID][e.Object.Metadata.Name] = e.Object.Metadata.ResourceVersion
		}
	}
	return nil
}
