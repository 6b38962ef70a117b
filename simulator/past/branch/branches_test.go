package branch

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// patience bounds every wait of the tests. It is a limit, not a delay.
const patience = 20 * time.Second

// behaviour is an environment variable that makes this test's executable a simulator, as far as a trunk sees one.
const behaviour = "FAKE_SIMULATOR"

func TestMain(m *testing.M) {
	if how := os.Getenv(behaviour); how != "" {
		os.Exit(simulate(how, os.Args[1:]))
	}
	os.Exit(m.Run())
}

// simulate is the fake. It keeps what it was asked to import in its data directory.
func simulate(how string, args []string) int {
	flag := func(name string) string { return args[slices.Index(args, name)+1] }
	token, err := os.ReadFile(flag("--token-file"))
	if err == nil {
		err = os.MkdirAll(flag("--data-dir"), 0o700)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(flag("--data-dir"), "args"), []byte(strings.Join(args, " ")), 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "simulator:", err)
		return 1
	}
	if how == "broken" {
		fmt.Fprintln(os.Stderr, "a line before")
		fmt.Fprintln(os.Stderr, "simulator: the disk is on fire")
		return 1
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 1
	}
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+strings.TrimSpace(string(token)) {
			http.Error(w, `{"message":"no token"}`, http.StatusUnauthorized)
			return
		}
		switch r.URL.Path {
		case "/api/v1/export":
			fmt.Fprint(w, `{"kind":"List","apiVersion":"v1","items":["of the branch"]}`)
		case "/api/v1/import":
			body, _ := io.ReadAll(r.Body)
			_ = os.WriteFile(filepath.Join(flag("--data-dir"), "imported"), body, 0o600)
			fmt.Fprintln(w, `{"progress":{"phase":"applying","done":1,"total":2}}`)
			switch how {
			case "refusing":
				fmt.Fprintln(w, `{"error":{"message":"this is no Kubernetes object"}}`)
			case "half":
				fmt.Fprintln(w, `{"report":{"read":2,"failedTotal":1,"failed":[{"kind":"Pod","name":"web","message":"spec.containers: Required value"}]}}`)
			default:
				fmt.Fprintln(w, `{"report":{"read":2,"failedTotal":0}}`)
			}
		case "/api/v1/play":
			body, _ := io.ReadAll(r.Body)
			_ = os.WriteFile(filepath.Join(flag("--data-dir"), "played"), body, 0o600)
			w.Header().Set("Content-Type", ndjson)
			fmt.Fprintln(w, `{"progress":{"step":"create nodes","done":0,"total":2}}`)
			if how == "unplayable" {
				fmt.Fprintln(w, `{"error":{"message":"line 3: wait: it did not settle"}}`)
			}
		case "/api/v1/kueue":
			w.WriteHeader(http.StatusNoContent)
		case "/crash":
			os.Exit(3)
		}
	}))
	fmt.Printf("ready: http://%s kubeconfig /none\n", l.Addr())
	_, _ = io.Copy(io.Discard, os.Stdin)
	if how == "hung" {
		select {}
	}
	return 0
}

// fake are the settings of a test.
type fake struct {
	how    string
	room   Room
	flags  []string
	past   Past
	data   string
	stderr bytes.Buffer
	// now is the clock; nil for one that stands still.
	now func() time.Time
}

func (f *fake) open(t *testing.T, dir string) *Branches {
	t.Helper()
	if f.room == (Room{}) {
		f.room = Room{Disk: 100 << 30, DiskTotal: 200 << 30, Memory: 8 << 30}
	}
	if f.now == nil {
		f.now = func() time.Time { return time.Date(2026, 5, 4, 10, 16, 20, 0, time.UTC) }
	}
	b := New(Options{
		Dir: dir, Flags: f.flags, Past: f.past, Stderr: &f.stderr, DataDir: f.data, Inherited: []string{"settings.json", "more.json"},
		Present: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, "the present")
			return err
		},
		Lesson: func(id string) (Start, error) {
			if id != "filter" {
				return Start{}, fmt.Errorf("lesson %s: %w", id, fs.ErrNotExist)
			}
			return Start{Objects: []json.RawMessage{[]byte(`{"kind":"Node"}`)}, Flags: []string{"--kueue"}}, nil
		},
		Command: func(args []string) *exec.Cmd {
			cmd := exec.Command(os.Args[0], args...)
			cmd.Env = append(os.Environ(), behaviour+"="+f.how)
			return cmd
		},
		CheckVersion: func(minor string) error {
			if minor == "1.2" {
				return errors.New("too old")
			}
			return nil
		},
		Room: func(string) (Room, error) { return f.room, nil },
		Now:  f.now,
	})
	if err := b.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, b) })
	return b
}

func stop(t *testing.T, b *Branches) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := b.Stop(ctx); err != nil || ctx.Err() != nil {
		t.Errorf("stopping: %v, %v", err, ctx.Err())
	}
}

// await returns a branch once it is in a state.
func await(t *testing.T, b *Branches, name string, state State) Branch {
	t.Helper()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		if got, err := b.Get(name); err == nil && got.State == state {
			return got
		}
	}
	got, err := b.Get(name)
	t.Fatalf("%s is not %s: %+v, %v", name, state, got, err)
	return got
}

func create(t *testing.T, b *Branches, q Request) Branch {
	t.Helper()
	created, err := b.Create(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

// imported is what the fake was asked to import.
func imported(t *testing.T, dir, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(dir, name, dataName, "imported"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(content))
}

type past struct{}

func (past) WriteState(_ context.Context, moment string, w io.Writer) (int64, time.Time, error) {
	if moment != "17" {
		return 0, time.Time{}, fmt.Errorf("moment %s is not recorded any more: %w", moment, fs.ErrNotExist)
	}
	_, err := io.WriteString(w, "the past")
	return 17, time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC), err
}

func TestStarts(t *testing.T) {
	created := time.Date(2026, 5, 4, 10, 16, 20, 0, time.UTC)
	moment := &Moment{time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC), 17}
	for _, tc := range []struct {
		name string
		q    Request
		want Branch
		// imported is what the branch loads.
		imported string
		// args are among those of the command line.
		args string
	}{
		{"of the present", Request{Name: "a"}, Branch{Name: "a", Purpose: Ordinary, Path: "/branches/a/"}, "the present", "--branch a --listen 127.0.0.1:0 --data-dir"},
		{"of a past moment", Request{Name: "a", At: "17"}, Branch{Name: "a", Purpose: Ordinary, From: moment, Path: "/branches/a/"}, "the past", "--numa=f"},
		{"of objects", Request{Name: "a", Objects: []json.RawMessage{[]byte(`{"kind":"Pod"}`)}, Configuration: "kind: KubeSchedulerConfiguration"}, Branch{Name: "a", Purpose: Ordinary, Path: "/branches/a/"},
			`{"apiVersion":"v1","kind":"List","items":[{"kind":"Pod"}],"schedulerConfiguration":{"kind":"KubeSchedulerConfiguration"}}`, ""},
		{"empty", Request{Name: "a", Objects: []json.RawMessage{}}, Branch{Name: "a", Purpose: Ordinary, Path: "/branches/a/"}, "", ""},
		{"without a name", Request{Objects: []json.RawMessage{}}, Branch{Name: "branch-1", Purpose: Ordinary, Path: "/branches/branch-1/"}, "", ""},
		{"with a title", Request{Title: "Try: bin packing!", Purpose: Preset, Objects: []json.RawMessage{}}, Branch{Name: "try-bin-packing", Title: "Try: bin packing!", Purpose: Preset, Path: "/branches/try-bin-packing/"}, "", ""},
		{"with a title of other letters", Request{Title: "試す", Purpose: Import, Objects: []json.RawMessage{}}, Branch{Name: "import-1", Title: "試す", Purpose: Import, Path: "/branches/import-1/"}, "", ""},
		{"of a lesson", Request{Lesson: "filter"}, Branch{Name: "lesson-filter", Purpose: Lesson, Lesson: "filter", Path: "/branches/lesson-filter/"},
			`{"apiVersion":"v1","kind":"List","items":[{"kind":"Node"}]}`, "--numa=f --kueue"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			b := (&fake{how: "well", flags: []string{"--numa=f"}, past: past{}}).open(t, dir)
			first := create(t, b, tc.q)
			if first.State != Starting {
				t.Errorf("it is %s at once", first.State)
			}
			got := await(t, b, tc.want.Name, Running)
			tc.want.State, tc.want.CreatedAt, tc.want.UsedAt = Running, created, &created
			tc.want.Kubeconfig = filepath.Join(dir, tc.want.Name, dataName, "kubeconfig")
			if diff := cmp.Diff(tc.want, got, cmpopts.IgnoreFields(Branch{}, "Bytes", "MemoryBytes"), cmpopts.IgnoreUnexported(Branch{})); diff != "" {
				t.Error(diff)
			}
			if got.Bytes == 0 {
				t.Error("it takes no bytes")
			}
			if got := imported(t, dir, tc.want.Name); got != tc.imported {
				t.Errorf("it loaded %s, want %s", got, tc.imported)
			}
			args, err := os.ReadFile(filepath.Join(dir, tc.want.Name, dataName, "args"))
			if err != nil || !strings.Contains(string(args), tc.args) {
				t.Errorf("it ran with %s, %v, want %s", args, err, tc.args)
			}
			if _, err := os.Lstat(filepath.Join(dir, tc.want.Name, startFile)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("the state that was loaded is still there: %v", err)
			}
		})
	}
}

// TestSettingsAreInherited: a branch has the settings of what it continues, as they are when it is made, and others have none.
func TestSettingsAreInherited(t *testing.T) {
	dir, trunk := t.TempDir(), t.TempDir()
	settings := filepath.Join(trunk, "settings.json")
	write := func(path, content string) {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(settings, "on")
	b := (&fake{how: "well", past: past{}, data: trunk}).open(t, dir)
	of := func(name string) string { return filepath.Join(dir, name, dataName, "settings.json") }
	for _, tc := range []struct {
		q    Request
		want string
	}{
		{Request{Name: "present"}, "on"},
		{Request{Name: "past", At: "17"}, "on"},
		{Request{Name: "objects", Objects: []json.RawMessage{}}, ""},
		{Request{Name: "lesson", Lesson: "filter"}, ""},
	} {
		create(t, b, tc.q)
		await(t, b, tc.q.Name, Running)
		if content, _ := os.ReadFile(of(tc.q.Name)); string(content) != tc.want {
			t.Errorf("%s has the settings %q, want %q", tc.q.Name, content, tc.want)
		}
	}
	write(settings, "off")
	if content, err := os.ReadFile(of("present")); err != nil || string(content) != "on" {
		t.Errorf("after the trunk's change, the branch has %q, %v", content, err)
	}
}

func TestRefusalsChangeNothing(t *testing.T) {
	none := []json.RawMessage{}
	for _, tc := range []struct {
		name   string
		q      Request
		room   Room
		reason Reason
		want   string
	}{
		{name: "a name with capitals", q: Request{Name: "A"}, reason: Invalid, want: `"A" cannot name a branch`},
		{name: "a name that is a path", q: Request{Name: "../a"}, reason: Invalid, want: "cannot name a branch"},
		{name: "a long name", q: Request{Name: strings.Repeat("a", 64)}, reason: Invalid, want: "no more than 63"},
		{name: "a taken name", q: Request{Name: "taken"}, reason: Taken, want: `there is a branch "taken" already`},
		{name: "an unknown purpose", q: Request{Purpose: "fun"}, reason: Invalid, want: "want one of [branch lesson preset import replay]"},
		{name: "an old version", q: Request{KubernetesVersion: "1.2"}, reason: Invalid, want: "kubernetesVersion: too old"},
		{name: "a long title", q: Request{Title: strings.Repeat("a", maxTitle+1)}, reason: Invalid, want: "title: want at most 100 characters"},
		{name: "a setup that reads", q: Request{Setup: []Call{{Method: "GET", Path: "/api/v1/export"}}}, reason: Invalid, want: "setup[0].method: want POST, PUT or PATCH"},
		{name: "a setup of another place", q: Request{Setup: []Call{{Method: "PUT", Path: "/api/v1/../../kubernetes"}}}, reason: Invalid, want: "setup[0].path: want a path below /api/v1/"},
		{name: "a long setup", q: Request{Setup: make([]Call, maxSetup+1)}, reason: Invalid, want: "at most 16 calls"},
		{name: "a purpose without a lesson", q: Request{Purpose: Lesson}, reason: Invalid, want: "names the lesson"},
		{name: "a lesson with objects", q: Request{Lesson: "filter", Objects: none}, reason: Invalid, want: "brings its own state"},
		{name: "an unknown lesson", q: Request{Lesson: "x"}, reason: Unknown, want: `there is no lesson "x"`},
		{name: "two states", q: Request{At: "1", Objects: none}, reason: Invalid, want: "not both"},
		{name: "a configuration for another state", q: Request{Configuration: "{}"}, reason: Invalid, want: "needs objects"},
		{name: "a moment that is gone", q: Request{At: "3"}, reason: Unknown, want: "moment 3 is not recorded any more"},
		{name: "of an unknown branch", q: Request{Of: "x"}, reason: Unknown, want: `there is no branch "x"`},
		{name: "too little disk", q: Request{}, room: Room{Disk: 300 << 20, DiskTotal: 10 << 30, Memory: 8 << 30}, reason: NoRoom, want: "of which 300 MiB are free and 1024 MiB stay reserved"},
		{name: "too little memory", q: Request{}, room: Room{Disk: 100 << 30, DiskTotal: 200 << 30, Memory: 50 << 20}, reason: NoRoom, want: "and 50 MiB are free"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			f := &fake{how: "well", past: past{}}
			b := f.open(t, dir)
			create(t, b, Request{Name: "taken", Objects: none})
			await(t, b, "taken", Running)
			if tc.room != (Room{}) {
				f.room = tc.room
			}
			_, err := b.Create(t.Context(), tc.q)
			var refusal *Refusal
			if !errors.As(err, &refusal) || refusal.Reason != tc.reason || !strings.Contains(refusal.Message, tc.want) {
				t.Errorf("it said %v", err)
			}
			if diff := cmp.Diff([]string{"taken"}, namesIn(t, dir)); diff != "" {
				t.Error(diff)
			}
			if got := b.List(); len(got) != 1 {
				t.Errorf("there are %+v", got)
			}
		})
	}
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestTooMany: the only branch without clients makes place for another, and nothing does while all have clients.
func TestTooMany(t *testing.T) {
	b := (&fake{how: "well"}).open(t, t.TempDir())
	var ends []func()
	for range MaxRunning {
		made := create(t, b, Request{Objects: []json.RawMessage{}})
		ends = append(ends, b.Use(made.Name))
	}
	refused := func(err error) {
		t.Helper()
		var refusal *Refusal
		if !errors.As(err, &refusal) || refusal.Reason != TooMany {
			t.Errorf("it said %v", err)
		}
	}
	_, err := b.Create(t.Context(), Request{Name: "more"})
	refused(err)
	await(t, b, "branch-2", Running)
	ends[1]()
	create(t, b, Request{Name: "more", Objects: []json.RawMessage{}})
	b.Use("more")
	await(t, b, "branch-2", Stopped)
	_, err = b.Start("branch-2")
	refused(err)
}

// A branch that continues another one reads its state from it.
func TestOfABranch(t *testing.T) {
	dir := t.TempDir()
	b := (&fake{how: "well"}).open(t, dir)
	create(t, b, Request{Name: "a", Objects: []json.RawMessage{}})
	await(t, b, "a", Running)
	create(t, b, Request{Name: "b", Of: "a"})
	if got := await(t, b, "b", Running); got.Of != "a" || got.From != nil {
		t.Errorf("it is %+v", got)
	}
	if got, want := imported(t, dir, "b"), `{"kind":"List","apiVersion":"v1","items":["of the branch"]}`; got != want {
		t.Errorf("it loaded %s", got)
	}
}

func TestStopStartDelete(t *testing.T) {
	dir := t.TempDir()
	b := (&fake{how: "well"}).open(t, dir)
	create(t, b, Request{Name: "a", Objects: []json.RawMessage{}})
	running := await(t, b, "a", Running)
	if running.MemoryBytes == 0 {
		t.Error("it takes no memory")
	}
	before, err := b.Target("a")
	if err != nil {
		t.Fatal(err)
	}
	stopped, err := b.StopBranch("a")
	if err != nil || stopped.State != Stopped || stopped.MemoryBytes != 0 {
		t.Fatalf("%+v, %v", stopped, err)
	}
	var refusal *Refusal
	if _, err := b.Target("a"); !errors.As(err, &refusal) || refusal.Reason != NotNow {
		t.Errorf("it said %v", err)
	}
	if _, err := b.Start("a"); err != nil {
		t.Fatal(err)
	}
	await(t, b, "a", Running)
	if after, err := b.Target("a"); err != nil || after.Token == before.Token {
		t.Errorf("each start has a token of its own: %v", err)
	}
	if err := b.Delete("a"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get("a"); !errors.As(err, &refusal) || refusal.Reason != Unknown {
		t.Errorf("it said %v", err)
	}
	stop(t, b)
	if names := namesIn(t, dir); len(names) > 0 {
		t.Errorf("left are %v", names)
	}
}

// TestSetup: a branch runs when all its calls have succeeded. A start after one that failed makes them again.
func TestSetup(t *testing.T) {
	dir := t.TempDir()
	f := &fake{how: "unplayable"}
	b := f.open(t, dir)
	calls := []Call{{Method: "PUT", Path: "/api/v1/kueue"}, {Method: "POST", Path: "/api/v1/play", Body: []byte(`{"kind":"Scenario"}`)}}
	create(t, b, Request{Name: "a", Objects: []json.RawMessage{}, Setup: calls})
	failed := await(t, b, "a", Failed)
	if want := "setting up the branch: POST /api/v1/play: line 3: wait: it did not settle"; failed.Message != want {
		t.Errorf("it said %q, want %q", failed.Message, want)
	}
	f.how = "well"
	if _, err := b.Start("a"); err != nil {
		t.Fatal(err)
	}
	await(t, b, "a", Running)
	played, err := os.ReadFile(filepath.Join(dir, "a", dataName, "played"))
	if err != nil || string(played) != `{"kind":"Scenario"}` {
		t.Errorf("it played %s, %v", played, err)
	}
	if _, err := os.Lstat(filepath.Join(dir, "a", setupFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the calls that were made are still there: %v", err)
	}
}

// TestSleep: a branch that no client uses falls asleep after SleepAfter, and one that a client uses does not.
func TestSleep(t *testing.T) {
	var now atomic.Pointer[time.Time]
	begun := time.Date(2026, 5, 4, 10, 16, 20, 0, time.UTC)
	now.Store(&begun)
	b := (&fake{how: "well", now: func() time.Time { return *now.Load() }}).open(t, t.TempDir())
	pass := func(d time.Duration) {
		later := now.Load().Add(d)
		now.Store(&later)
		b.sleepUnused()
	}
	asleep := create(t, b, Request{Name: "later", Objects: []json.RawMessage{}, Asleep: true})
	if asleep.State != Stopped {
		t.Errorf("it is %s, although it is to sleep", asleep.State)
	}
	create(t, b, Request{Name: "a", Objects: []json.RawMessage{}})
	await(t, b, "a", Running)
	end := b.Use("a")
	pass(SleepAfter)
	await(t, b, "a", Running)
	end()
	pass(SleepAfter - time.Second)
	await(t, b, "a", Running)
	pass(time.Second)
	await(t, b, "a", Stopped)
	if _, err := b.Start("a"); err != nil {
		t.Fatal(err)
	}
	await(t, b, "a", Running)
	pass(0) // a start is a use
	await(t, b, "a", Running)
}

func TestRetitle(t *testing.T) {
	dir := t.TempDir()
	f := &fake{how: "well"}
	b := f.open(t, dir)
	create(t, b, Request{Name: "a", Objects: []json.RawMessage{}, Asleep: true})
	if got, err := b.Retitle("a", "openb"); err != nil || got.Title != "openb" || got.Name != "a" {
		t.Errorf("it is %+v, %v", got, err)
	}
	if _, err := b.Retitle("a", strings.Repeat("a", maxTitle+1)); err == nil {
		t.Error("a long title is accepted")
	}
	if _, err := b.Retitle("x", "y"); err == nil {
		t.Error("an unknown branch has a title")
	}
	stop(t, b)
	if got, err := f.open(t, dir).Get("a"); err != nil || got.Title != "openb" {
		t.Errorf("after a restart it is %+v, %v", got, err)
	}
}

// TestRename: a branch that runs goes on under its new name, with what it has, and branches that continue it follow.
func TestRename(t *testing.T) {
	dir := t.TempDir()
	f := &fake{how: "well"}
	b := f.open(t, dir)
	create(t, b, Request{Name: "a"})
	await(t, b, "a", Running)
	create(t, b, Request{Name: "of-a", Of: "a"})
	await(t, b, "of-a", Running)
	create(t, b, Request{Lesson: "filter"})
	for _, tc := range []struct {
		name, to string
		reason   Reason
		want     string
	}{
		{"a", "A", Invalid, "cannot name a branch"},
		{"a", "of-a", Taken, `there is a branch "of-a" already`},
		{"x", "y", Unknown, `there is no branch "x"`},
		{"lesson-filter", "mine", NotNow, "the sandbox of a lesson"},
	} {
		var refusal *Refusal
		if _, err := b.Rename(tc.name, tc.to); !errors.As(err, &refusal) || refusal.Reason != tc.reason || !strings.Contains(refusal.Message, tc.want) {
			t.Errorf("%s to %s: it said %v", tc.name, tc.to, err)
		}
	}
	if got, err := b.Rename("a", "a"); err != nil || got.State != Running {
		t.Errorf("its own name: %+v, %v", got, err)
	}
	got, err := b.Rename("a", "better")
	if err != nil || got.Name != "better" || got.Path != "/branches/better/" {
		t.Fatalf("%+v, %v", got, err)
	}
	await(t, b, "better", Running)
	if got := imported(t, dir, "better"); got != "the present" {
		t.Errorf("it has %q", got)
	}
	if got, err := b.Get("of-a"); err != nil || got.Of != "better" {
		t.Errorf("the branch of it continues %q, %v", got.Of, err)
	}
	if _, err := b.StopBranch("better"); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Rename("better", "best"); err != nil || got.State != Stopped {
		t.Fatalf("a stopped one: %+v, %v", got, err)
	}
	// The names are those of the next start.
	stop(t, b)
	again := f.open(t, dir)
	var names []string
	for _, one := range again.List() {
		names = append(names, one.Name+" of "+one.Of)
	}
	if diff := cmp.Diff([]string{"best of ", "of-a of best"}, names); diff != "" {
		t.Error(diff)
	}
}

// TestListDuringRenames: a list of branches shows one that is renamed meanwhile under either name. The race detector sees a name that is
// read without its lock.
func TestListDuringRenames(t *testing.T) {
	// Each reading of the clock makes the next measure of a directory due.
	var seconds atomic.Int64
	fake := &fake{how: "well", now: func() time.Time {
		return time.Date(2026, 5, 4, 10, 16, 20, 0, time.UTC).Add(time.Duration(seconds.Add(1)) * measuresEvery)
	}}
	b := fake.open(t, t.TempDir())
	create(t, b, Request{Name: "a", Objects: []json.RawMessage{}})
	await(t, b, "a", Running)
	if _, err := b.StopBranch("a"); err != nil {
		t.Fatal(err)
	}
	listed, done := make(chan struct{}), make(chan struct{})
	var lists sync.WaitGroup
	lists.Go(func() {
		for {
			if items := b.List(); len(items) != 1 || items[0].Name != "a" && items[0].Name != "b" {
				t.Errorf("the list is %+v", items)
			}
			select {
			case listed <- struct{}{}:
			case <-done:
				return
			}
		}
	})
	for range 20 {
		for _, names := range [][2]string{{"a", "b"}, {"b", "a"}} {
			<-listed // and lists again now
			if _, err := b.Rename(names[0], names[1]); err != nil {
				t.Error(err)
			}
		}
	}
	close(done)
	lists.Wait()
}

func TestFailures(t *testing.T) {
	for _, tc := range []struct {
		how, want string
	}{
		{"broken", "the disk is on fire"},
		{"refusing", "loading the state of the branch: this is no Kubernetes object"},
	} {
		t.Run(tc.how, func(t *testing.T) {
			f := &fake{how: tc.how}
			b := f.open(t, t.TempDir())
			create(t, b, Request{Name: "a"})
			if got := await(t, b, "a", Failed); got.Message != tc.want {
				t.Errorf("it says %s", got.Message)
			}
			f.how = "well"
			if _, err := b.Start("a"); err != nil {
				t.Fatal(err)
			}
			if got := await(t, b, "a", Running); got.Message != "" {
				t.Errorf("it still says %s", got.Message)
			}
		})
	}
}

func TestACrashIsReported(t *testing.T) {
	b := (&fake{how: "well"}).open(t, t.TempDir())
	create(t, b, Request{Name: "a", Objects: []json.RawMessage{}})
	create(t, b, Request{Name: "b", Objects: []json.RawMessage{}})
	await(t, b, "a", Running)
	await(t, b, "b", Running)
	to, err := b.Target("a")
	if err != nil {
		t.Fatal(err)
	}
	if err := b.fetch(t.Context(), to, to.URL.JoinPath("/crash").String(), func(io.Reader) error { return nil }); err == nil {
		t.Error("it did not crash")
	}
	if got := await(t, b, "a", Failed); got.Message != "its process ended: exit status 3" {
		t.Errorf("it says %s", got.Message)
	}
	if got, err := b.Get("b"); err != nil || got.State != Running {
		t.Errorf("another branch is %+v, %v", got, err)
	}
}

// What could not be loaded is still known after a restart, and is not loaded again.
func TestRemarksAreKept(t *testing.T) {
	const want = "1 of 2 objects could not be loaded; the first is Pod web: spec.containers: Required value"
	dir := t.TempDir()
	b := (&fake{how: "half"}).open(t, dir)
	create(t, b, Request{Name: "a"})
	if got := await(t, b, "a", Running); got.Message != want {
		t.Errorf("it says %s", got.Message)
	}
	stop(t, b)
	b = (&fake{how: "well"}).open(t, dir)
	if got := await(t, b, "a", Stopped); got.Message != want {
		t.Errorf("it says %s", got.Message)
	}
	if err := os.Remove(filepath.Join(dir, "a", dataName, "imported")); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Start("a"); err != nil {
		t.Fatal(err)
	}
	await(t, b, "a", Running)
	if got := imported(t, dir, "a"); got != "" {
		t.Errorf("it loaded %s again", got)
	}
}

func TestAChildThatHangsIsKilled(t *testing.T) {
	b := (&fake{how: "hung"}).open(t, t.TempDir())
	create(t, b, Request{Name: "a", Objects: []json.RawMessage{}})
	await(t, b, "a", Running)
	ctx, cancel := context.WithCancel(t.Context())
	cancel() // the time is over
	if err := b.Stop(ctx); err != nil {
		t.Error(err)
	}
	if got, err := b.Get("a"); err != nil || got.State != Stopped {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	b := (&fake{how: "well"}).open(t, dir)
	create(t, b, Request{Name: "kept", Objects: []json.RawMessage{}})
	create(t, b, Request{Lesson: "filter"})
	await(t, b, "kept", Running)
	await(t, b, "lesson-filter", Running)
	stop(t, b)
	for _, made := range []string{".new-123", ".gone-123", "no-note"} {
		if err := os.Mkdir(filepath.Join(dir, made), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for path, content := range map[string]string{"bad": "{", "newer": `{"format":2}`} {
		if err := errors.Join(os.Mkdir(filepath.Join(dir, path), 0o700), os.WriteFile(filepath.Join(dir, path, noteFile), []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "README"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	b = (&fake{how: "well"}).open(t, dir)
	got := map[string]string{}
	for _, item := range b.List() {
		got[item.Name] = string(item.State) + " " + strings.ReplaceAll(item.Message, dir, "DIR")
	}
	want := map[string]string{
		"kept":    "stopped ",
		"bad":     "failed DIR/bad/branch.json: cannot be read: unexpected end of JSON input; restore it from a backup, or delete the branch",
		"newer":   "failed DIR/newer/branch.json: is in format 2; this version reads format 1; use that version, or delete the branch",
		"no-note": "failed DIR/no-note/branch.json: " + syscall.ENOENT.Error() + "; restore it from a backup, or delete the branch",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := b.Start("bad"); err == nil || !strings.Contains(err.Error(), "cannot be read") {
		t.Errorf("it said %v", err)
	}
	if err := b.Delete("bad"); err != nil {
		t.Error(err)
	}
	stop(t, b)
	if diff := cmp.Diff([]string{"README", "kept", "newer", "no-note"}, namesIn(t, dir)); diff != "" {
		t.Error(diff)
	}
}

func TestMemoryLeft(t *testing.T) {
	dir := t.TempDir()
	meminfo := filepath.Join(dir, "meminfo")
	put := func(name, content string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got := memoryLeft(meminfo, dir); got != 0 {
		t.Errorf("unknown: %d", got)
	}
	put("meminfo", "MemTotal:       8000 kB\nMemAvailable:   2000 kB\n")
	if got := memoryLeft(meminfo, dir); got != 2000<<10 {
		t.Errorf("of the machine: %d", got)
	}
	put("memory.current", "1000\n")
	put("memory.max", "max\n")
	if got := memoryLeft(meminfo, dir); got != 2000<<10 {
		t.Errorf("of a group without a limit: %d", got)
	}
	put("memory.max", "1500\n")
	if got := memoryLeft(meminfo, dir); got != 500 {
		t.Errorf("of a group: %d", got)
	}
}
