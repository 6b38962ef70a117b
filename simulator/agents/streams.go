package agents

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"kube-scheduler-simulator/scheduler/yamlsource"
)

// MaxMessage bounds a message of an agent, in bytes, in every transport.
const MaxMessage = 1 << 20

// streams is a transport whose messages are lines. The SDK's own ends the session with the first line
// that is wrong or too long; this one answers it and goes on.
type streams struct {
	in  io.Reader
	out io.Writer
}

func (s streams) Connect(context.Context) (mcp.Connection, error) {
	c := &lines{out: s.out, arrived: make(chan jsonrpc.Message), closed: make(chan struct{}), open: map[jsonrpc.ID]struct{}{}, answered: make(chan struct{}, 1)}
	go c.receive(bufio.NewReaderSize(s.in, 64<<10))
	return c, nil
}

// lines is the connection of streams.
type lines struct {
	arrived chan jsonrpc.Message // closed at the end of the input
	// err says why arrived is closed.
	err error

	writing sync.Mutex
	out     io.Writer

	once   sync.Once
	closed chan struct{}

	// open are the calls without an answer yet. answered tells that there is one less.
	mu       sync.Mutex
	open     map[jsonrpc.ID]struct{}
	answered chan struct{}
}

// maxOpen bounds the calls without an answer. The server refuses most of them long before.
const maxOpen = 1000

// receive reads until the input ends. A Read of a standard stream cannot be interrupted, so that the
// goroutine may outlive the connection until then.
func (c *lines) receive(in *bufio.Reader) {
	defer close(c.arrived)
	for {
		line, long, err := readLine(in)
		if message := c.decode(line, long); message != nil {
			select {
			case c.arrived <- message:
			case <-c.closed:
				return
			}
		}
		if err != nil {
			c.err = err
			c.finish()
			return
		}
	}
}

// finish waits for the answers to what has been asked, because the end of the input ends the calls: an
// agent may close its end after the last question.
func (c *lines) finish() {
	patience := time.NewTimer(callTime)
	defer patience.Stop()
	for {
		c.mu.Lock()
		open := len(c.open)
		c.mu.Unlock()
		if open == 0 {
			return
		}
		select {
		case <-c.answered:
		case <-c.closed:
			return
		case <-patience.C:
			return
		}
	}
}

// begin notes a call. It returns what is wrong with another one of that ID, or with one too many.
func (c *lines) begin(id jsonrpc.ID) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, used := c.open[id]; used {
		return "the ID is that of a call that has no answer yet"
	}
	if len(c.open) == maxOpen {
		return fmt.Sprintf("%d calls have no answer yet; wait for some", maxOpen)
	}
	c.open[id] = struct{}{}
	return ""
}

func (c *lines) ended(id jsonrpc.ID) {
	c.mu.Lock()
	delete(c.open, id)
	c.mu.Unlock()
	select {
	case c.answered <- struct{}{}:
	default:
	}
}

// readLine returns the next line, or says that it is too long, which it then has skipped.
func readLine(in *bufio.Reader) (line []byte, long bool, err error) {
	for {
		part, err := in.ReadSlice('\n')
		if long = long || len(line)+len(part) > MaxMessage; long {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return bytes.TrimSpace(line), long, err
		}
	}
}

// decode returns nil for a line without a message, and answers one that is wrong.
func (c *lines) decode(line []byte, long bool) jsonrpc.Message {
	switch {
	case long:
		c.refuse(nil, jsonrpc.CodeInvalidRequest, fmt.Sprintf("the message is larger than %d bytes", MaxMessage))
		return nil
	case len(line) == 0:
		return nil
	case line[0] == '[':
		c.refuse(nil, jsonrpc.CodeInvalidRequest, "messages come one by one, not in batches")
		return nil
	}
	switch wrong := yamlsource.Settings.JSON(line); {
	case wrong != nil && wrong.Reason.Exceeds():
		c.refuse(nil, jsonrpc.CodeInvalidRequest, "the message is too large: "+wrong.Error())
		return nil
	case wrong != nil:
		c.refuse(nil, jsonrpc.CodeParseError, "the line is not a message in JSON")
		return nil
	}
	message, err := jsonrpc.DecodeMessage(line)
	if err != nil {
		c.refuse(nil, jsonrpc.CodeInvalidRequest, "the line is not a message of JSON-RPC 2.0")
		return nil
	}
	if call, ok := message.(*jsonrpc.Request); ok && call.IsCall() {
		if wrong := c.begin(call.ID); wrong != "" {
			c.refuse(call.ID.Raw(), jsonrpc.CodeInvalidRequest, wrong)
			return nil
		}
	}
	return message
}

// refuse answers a message. id is nil if it cannot be told.
func (c *lines) refuse(id any, code int64, message string) {
	answer, _ := json.Marshal(map[string]any{ // which can be encoded
		"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": code, "message": message},
	})
	_ = c.write(answer) // an agent that has gone is noticed by the next Read
}

func (c *lines) write(message []byte) error {
	c.writing.Lock()
	defer c.writing.Unlock()
	_, err := c.out.Write(append(message, '\n'))
	return err
}

func (c *lines) Read(ctx context.Context) (jsonrpc.Message, error) {
	select {
	case message, more := <-c.arrived:
		if more {
			return message, nil
		}
		return nil, c.err
	case <-c.closed:
		return nil, io.EOF
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *lines) Write(_ context.Context, message jsonrpc.Message) error {
	data, err := jsonrpc.EncodeMessage(message)
	if err != nil {
		return err
	}
	err = c.write(data)
	if answer, ok := message.(*jsonrpc.Response); ok {
		c.ended(answer.ID)
	}
	return err
}

func (c *lines) Close() error {
	c.once.Do(func() { close(c.closed) })
	return nil
}

// SessionID: a program's streams are one session.
func (c *lines) SessionID() string { return "" }
