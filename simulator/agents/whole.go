package agents

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

const (
	// wholeURI, followed by a number, names a whole answer.
	wholeURI = "simulator://answers/"
	// keptWholes is how many are kept, and maxWhole bounds one that is read, in bytes.
	keptWholes = 16
	maxWhole   = 1 << 20
)

// wholes keeps what the latest answers were made of. Its methods are safe for concurrent use.
type wholes struct {
	mu   sync.Mutex
	last int
	of   map[int]any
}

func newWholes() *wholes { return &wholes{of: map[int]any{}} }

// keep stores a whole answer and returns its URI. The caller must not change the answer afterwards.
func (w *wholes) keep(answer any) string {
	if answer == nil {
		return "this text"
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last++
	w.of[w.last] = answer
	delete(w.of, w.last-keptWholes)
	return fmt.Sprintf("resource %s%d", wholeURI, w.last)
}

func (s *Server) readWhole(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := r.Params.URI
	number, err := strconv.Atoi(strings.TrimPrefix(uri, wholeURI))
	s.whole.mu.Lock()
	answer, kept := s.whole.of[number]
	s.whole.mu.Unlock()
	if err != nil || !kept {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	all, err := harmless(answer)
	if err != nil {
		return nil, err
	}
	if len(all) > maxWhole {
		return nil, fmt.Errorf("the whole answer has %d bytes, more than the %d that an agent can read; ask for less, or ask with a command and -o json", len(all), maxWhole)
	}
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: uri, MIMEType: "application/json", Text: all}}}, nil
}
