package branch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"kube-scheduler-simulator/simulator/host/datadir"
)

// setupFile holds the calls of a new branch until they have been made.
const setupFile = "setup.json"

const calledPrefix = "/api/v1/"

func checkSetup(calls []Call) error {
	if len(calls) > maxSetup {
		return refuse(Invalid, "setup: want at most %d calls, not %d", maxSetup, len(calls))
	}
	for i, c := range calls {
		if !slices.Contains([]string{http.MethodPost, http.MethodPut, http.MethodPatch}, c.Method) {
			return refuse(Invalid, "setup[%d].method: want POST, PUT or PATCH, not %q", i, c.Method)
		}
		if !strings.HasPrefix(c.Path, calledPrefix) || path.Clean(c.Path) != c.Path || strings.ContainsAny(c.Path, "?#%") {
			return refuse(Invalid, "setup[%d].path: want a path below %s, not %q", i, calledPrefix, c.Path)
		}
	}
	return nil
}

func writeSetup(dir string, calls []Call) error {
	if len(calls) == 0 {
		return nil
	}
	content, err := json.Marshal(calls)
	if err != nil {
		return err
	}
	return datadir.WriteFile(filepath.Join(dir, setupFile), content)
}

// setUp makes the calls of a new branch, unless an earlier start did.
func (b *Branches) setUp(ctx context.Context, k *kept, to Target) error {
	file := filepath.Join(b.dirOf(k.name), setupFile)
	content, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var calls []Call
	if err == nil {
		err = json.Unmarshal(content, &calls)
	}
	if err != nil {
		return fmt.Errorf("setting up the branch: %w", err)
	}
	for _, c := range calls {
		if err := b.call(ctx, k, to, c); err != nil {
			return fmt.Errorf("setting up the branch: %s %s: %w", c.Method, c.Path, err)
		}
	}
	return datadir.Remove(file)
}

func (b *Branches) call(ctx context.Context, k *kept, to Target, c Call) error {
	body, mediaType := []byte(c.Body), "application/json"
	var text string
	if json.Unmarshal(c.Body, &text) == nil {
		body, mediaType = []byte(text), "application/yaml"
	}
	r, err := http.NewRequestWithContext(ctx, c.Method, to.URL.JoinPath(c.Path).String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", mediaType)
	r.Header.Set("User-Agent", loader)
	answer, err := b.do(to, r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.Header.Get("Content-Type") != ndjson {
		_, err := io.Copy(io.Discard, answer.Body)
		return err
	}
	return lines(answer.Body, func(line streamed) bool {
		if p := line.Progress; p != nil && p.Step != "" {
			b.tell(k, fmt.Sprintf("step %d of %d: %s", p.Done+1, p.Total, p.Step))
		}
		return false
	})
}
