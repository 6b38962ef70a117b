package process

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

const (
	// A controller's error becomes a warning once it has come troubleTimes, over at least
	// troubleLasts. The warning ends when the error has not come for troubleOver: a controller
	// tries again at least once in that time.
	troubleTimes = 5
	troubleLasts = 10 * time.Second
	troubleOver  = time.Minute
	maxTroubles  = 100
)

// troubles are the errors that keep controllers in this process from going on, by cause.
// Kubernetes' controllers, ours and virtual nodes all report to Kubernetes'
// utilruntime.HandleError. It is safe for concurrent use.
type troubles struct {
	now func() time.Time

	mu     sync.Mutex
	causes map[string]*trouble
}

type trouble struct {
	text        string
	count       int
	first, last time.Time
}

// ours listens from the beginning, because the list of handlers has no lock.
var ours = func() *troubles {
	t := &troubles{now: time.Now, causes: map[string]*trouble{}}
	utilruntime.ErrorHandlers = append(utilruntime.ErrorHandlers, t.heard)
	return t
}()

// Troubles returns a sorted text for each cause that keeps a controller of this process from going
// on. Safe for concurrent use.
func Troubles() []string { return ours.warnings() }

// heard is a utilruntime.ErrorHandler. It leaves out conflicts and objects that are missing or
// exist already: another writer was faster, and the controller looks again. It also leaves out what
// the API server reports of a request: its client hears of that, or has gone.
func (t *troubles) heard(ctx context.Context, err error, msg string, keysAndValues ...any) {
	if err == nil || ctx.Err() != nil || errors.Is(err, context.Canceled) ||
		apierrors.IsConflict(err) || apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) || answersRequest() {
		return
	}
	var about []string
	for pair := range slices.Chunk(keysAndValues, 2) {
		if len(pair) == 2 {
			about = append(about, fmt.Sprintf("%v %v", pair[0], pair[1]))
		}
	}
	// Errors of the API server with one reason have one cause, whatever objects they name.
	cause := msg + ": " + cmp.Or(string(apierrors.ReasonForError(err)), err.Error())
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	maps.DeleteFunc(t.causes, func(_ string, known *trouble) bool { return now.Sub(known.last) > troubleOver })
	known := t.causes[cause]
	if known == nil {
		if len(t.causes) >= maxTroubles {
			return
		}
		known = &trouble{first: now, text: fmt.Sprintf("%s: %v", msg, err)}
		if len(about) > 0 {
			known.text = fmt.Sprintf("%s (%s): %v", msg, strings.Join(about, ", "), err)
		}
		t.causes[cause] = known
	}
	known.count++
	known.last = now
}

// answersRequest reports whether a handler of the API server called. Its error does not wrap the
// cause, and no context comes with it.
func answersRequest() bool {
	callers := make([]uintptr, 16)
	for frames := runtime.CallersFrames(callers[:runtime.Callers(2, callers)]); ; {
		frame, more := frames.Next()
		if strings.HasPrefix(frame.Function, "k8s.io/apiserver/pkg/endpoints/") {
			return true
		}
		if !more {
			return false
		}
	}
}

func (t *troubles) warnings() (out []string) {
	now := t.now()
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, known := range t.causes {
		if known.count >= troubleTimes && known.last.Sub(known.first) >= troubleLasts && now.Sub(known.last) <= troubleOver {
			out = append(out, fmt.Sprintf("A controller cannot go on, and tries again (%d times so far): %s", known.count, known.text))
		}
	}
	slices.Sort(out)
	return out
}
