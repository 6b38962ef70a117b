package systemtest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/api/v3/mvccpb"
	"google.golang.org/protobuf/proto"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kube-scheduler-simulator/simulator/testing/clustertest"
)

// damageTimeout is how long a start may take that ends with an error, on a machine that is not busy.
const damageTimeout = 10 * time.Second

// The files of a data directory that the table damages.
const (
	etcdDB        = "etcd/member/snap/db"
	etcdWAL       = "etcd/member/wal/0000000000000000-0000000000000000.wal"
	results       = "results/00000000.results"
	configuration = "scheduler-configuration/000002.json"
	inventory     = "inventory.json"
	resetMark     = "reset-under-way"
)

// moment says when the data directory was left that a row damages.
type moment int

const (
	// stopped: in order. The inventory then knows the content of the files.
	stopped moment = iota
	// killed: while it ran.
	killed
)

// damage is a row of the table.
type damage struct {
	name string
	left moment
	// do damages a data directory.
	do func(t *testing.T, dir string)
	// path is the file that the program names, want what it says; without want it starts.
	path, want string
	// advice is what the program says to do. Default: to restore or to remove something.
	advice string
	// loses are the parts of the data that a start may lose: "results".
	loses string
	// late: the program has started etcd before it finds the damage.
	late bool
	// short rows run in the first tier, too.
	short bool
}

var damages = []damage{
	{name: "none, after a stop", do: nothing},
	{name: "none, after a kill", left: killed, do: nothing, short: true},

	// etcd's directory.
	{name: "etcd is gone", do: gone("etcd"), path: etcdDB, want: "is missing or empty, but has held data", short: true},
	{name: "etcd is gone, after a kill", left: killed, do: gone("etcd"), path: etcdDB, want: "is missing or empty, but has held data"},
	{name: "etcd is gone, of a version without inventory", do: both(gone("etcd"), gone(inventory)), path: "etcd", want: "is missing, and the results of its cluster are there"},
	{name: "etcd is empty", do: both(gone("etcd"), directory("etcd")), path: etcdDB, want: "is missing or empty"},
	{name: "etcd is a file", do: both(gone("etcd"), text("etcd")), path: etcdDB, want: "not a directory"},
	{name: "the member is gone", left: killed, do: gone("etcd/member"), path: etcdDB, want: "is missing or empty"},
	{name: "foreign files beside etcd's", do: both(text("etcd/README"), text("etcd/member/wal/notes.txt"), text("etcd/member/snap/0000-0000.snap")), left: killed},

	// The log.
	{name: "the log is gone", do: gone("etcd/member/wal"), path: "etcd/member/wal", want: "is missing or empty"},
	{name: "the log is gone, of a version without inventory", do: both(gone("etcd/member/wal"), gone(inventory)), path: "etcd/member/wal", want: "etcd's log is missing, and its database is there"},
	{name: "the log's file is gone", left: killed, do: gone(etcdWAL), path: "etcd/member/wal", want: "is missing"},
	{name: "the log's file is gone, after a stop", do: both(gone(etcdWAL), text("etcd/member/wal/x")), path: etcdWAL, want: "is missing, and was there when the simulator stopped"},
	{name: "the log is empty", left: killed, do: cut(etcdWAL, 0), path: etcdWAL, want: "etcd's log is empty"},
	{name: "the log is empty, after a stop", do: cut(etcdWAL, 0), path: etcdWAL, want: "has 0 bytes, and had"},
	{name: "the log is cut off", left: killed, do: cut(etcdWAL, 5000), path: "etcd/member/wal", want: "the end of the log is missing", short: true},
	{name: "the log is cut off, after a stop", do: cut(etcdWAL, 5000), path: etcdWAL, want: "has 5000 bytes, and had"},
	{name: "the log begins with zeros", left: killed, do: zeros(etcdWAL, 0, 4096), path: etcdWAL, want: "etcd's log is empty"},
	{name: "the log has a hole", left: killed, do: zeros(etcdWAL, 20_000, 40_000), path: "etcd/member/wal", want: "etcd's log "},
	{name: "the log has noise", left: killed, do: noise(etcdWAL, 9_000, 500), path: etcdWAL, want: "etcd's log is damaged at byte"},
	{name: "the log is zeros", left: killed, do: zeros(etcdWAL, 0, 64<<20), path: etcdWAL, want: "etcd's log is empty"},
	{name: "the log is text", left: killed, do: text(etcdWAL), path: etcdWAL, want: "etcd's log"},
	{name: "the log is a directory", left: killed, do: both(gone(etcdWAL), directory(etcdWAL)), path: etcdWAL, want: "is not a regular file"},

	// The database.
	{name: "the database is gone", left: killed, do: gone(etcdDB), path: etcdDB, want: "is missing or empty"},
	{name: "the database is gone, of a version without inventory", do: both(gone(etcdDB), gone(inventory)), path: etcdDB, want: "etcd's database is missing, and its log is there"},
	{name: "the database is empty", left: killed, do: cut(etcdDB, 0), path: etcdDB, want: "etcd's database is empty"},
	{name: "the database has no beginning", left: killed, do: zeros(etcdDB, 0, 8192), path: etcdDB, want: "neither copy of its beginning can be read"},
	{name: "the database has no first copy of its beginning", left: killed, do: zeros(etcdDB, 0, 4096)},
	{name: "the database has no beginning, after a stop", do: zeros(etcdDB, 0, 8192), path: etcdDB, want: "has changed since the simulator stopped"},
	{name: "the database is cut off", left: killed, do: cut(etcdDB, 300_000), path: etcdDB, want: "it has 300000 bytes and should have"},
	{name: "the database has no keys", left: killed, do: cut(etcdDB, 8192), path: etcdDB, want: "it has 8192 bytes and should have"},
	{name: "the database has noise", left: killed, do: noiseOnPages(etcdDB), path: etcdDB, want: "etcd's database is damaged: "},
	{name: "the database has zeros", left: killed, do: zerosOnPages(etcdDB), path: etcdDB, want: "etcd's database is damaged: "},
	{name: "the database has one wrong bit, after a stop", do: flip(etcdDB, 60_000), path: etcdDB, want: "has changed since the simulator stopped"},
	{name: "the database is text", left: killed, do: text(etcdDB), path: etcdDB, want: "neither copy of its beginning"},
	{name: "the database is a directory", left: killed, do: both(gone(etcdDB), directory(etcdDB+"/x")), path: etcdDB, want: "is not a regular file"},
	{name: "the database is of a newer etcd", left: killed, do: inBucket("cluster", "clusterVersion", []byte("99.9.0")), path: etcdDB, want: "etcd 99.9 wrote it", advice: "use the version of the simulator that wrote it"},
	{name: "the database is of a cluster", left: killed, do: inBucket("members", "1234", []byte("{}")), path: etcdDB, want: "is of an etcd cluster with 2 members"},
	{name: "the database has a revision of noise", left: killed, do: inBucket("key", "\x00\x00\x00\x00\x00\x00\x00\x01_\x00\x00\x00\x00\x00\x00\x00\x09", []byte("\xff\xff\xff")), path: etcdDB, want: "revision 1 cannot be read"},
	{name: "an object is noise", left: killed, do: inObject("pods/default/kept"), path: etcdDB, want: "the object /registry/pods/default/kept cannot be read", short: true},
	{name: "the storage was full", left: killed, do: alarm(etcdserverpb.AlarmType_NOSPACE)},
	{name: "etcd's data are corrupt", left: killed, do: alarm(etcdserverpb.AlarmType_CORRUPT), path: "etcd", want: "etcd has raised the alarm that its data are corrupt", late: true},

	// The inventory.
	{name: "no inventory", do: gone(inventory)},
	{name: "the inventory is noise", do: text(inventory), path: inventory, want: "cannot be read", advice: "delete this file"},
	{name: "the inventory is empty", do: cut(inventory, 0), path: inventory, want: "cannot be read", advice: "delete this file"},
	{name: "the inventory is a directory", do: both(gone(inventory), directory(inventory)), path: inventory, want: "is a directory", advice: "delete this file"},
	{name: "the inventory is of a newer version", do: write(inventory, `{"format": 2}`), path: inventory, want: "another version of the simulator wrote the data directory, in format 2", advice: "use that version"},

	// Results.
	{name: "results of a newer version", left: killed, do: write(results, "kube-scheduler-simulator results 2\nand so on"), path: results, want: "another version of the simulator wrote it, in format 2", late: true},
	{name: "results are text", left: killed, do: text(results), path: results, want: "nothing in it can be read as results", late: true},
	{name: "results are zeros", left: killed, do: zeros(results, 0, 1<<20), path: results, want: "nothing in it can be read as results", late: true},
	{name: "results are a directory", left: killed, do: both(gone(results), directory(results)), path: results, want: "is not a regular file", late: true},
	{name: "results are gone", left: killed, do: gone("results"), path: "results", want: "is missing or empty, but has held data"},
	{name: "a file of results is gone, after a stop", do: gone(results), path: results, want: "is missing, and was there when the simulator stopped"},
	{name: "a file of results is empty, after a stop", do: cut(results, 0), path: results, want: "has 0 bytes, and had"},
	{name: "a file of results ends in an unfinished write", left: killed, do: appends(results, "\xb5kb1 and so on")},
	{name: "a file of results has noise at its end", left: killed, do: appends(results, strings.Repeat("noise", 100))},
	{name: "a file of results is cut off", left: killed, do: shorten(results, 1), loses: "results"},
	{name: "the directory of results is a file", left: killed, do: both(gone("results"), text("results")), path: "results", want: "not a directory", late: true},

	// The scheduler configuration.
	{name: "half a revision", left: killed, do: half(configuration), path: configuration, want: "unexpected end of JSON input", late: true},
	{name: "an empty revision", left: killed, do: cut(configuration, 0), path: configuration, want: "unexpected end of JSON input", late: true},
	{name: "a revision of noise", left: killed, do: text(configuration), path: configuration, want: "invalid character", late: true},
	{name: "another's revision", left: killed, do: write(configuration, `{"number": 7}`), path: configuration, want: "it is revision 7", late: true},
	{name: "a revision is a directory", left: killed, do: both(gone(configuration), directory(configuration)), path: configuration, want: "is a directory", late: true},
	{name: "a revision has changed, after a stop", do: flip(configuration, 20), path: configuration, want: "has changed since the simulator stopped"},
	{name: "a revision is gone, after a stop", do: gone(configuration), path: configuration, want: "is missing, and was there when the simulator stopped"},
	{name: "all revisions are gone", left: killed, do: gone("scheduler-configuration"), path: "scheduler-configuration", want: "is missing or empty, but has held data"},

	// Certificates and small files.
	{name: "no certificates", left: killed, do: gone("pki")},
	{name: "a client certificate of noise", left: killed, do: text("pki/admin.crt")},
	{name: "the authority's key is noise", left: killed, do: text("pki/ca.key"), path: "pki/ca.key", want: "cannot be read"},
	{name: "the authority is empty", left: killed, do: cut("pki/ca.crt", 0), path: "pki/ca.crt", want: "cannot be read"},
	{name: "the key of service accounts is noise", left: killed, do: text("pki/service-account.key"), path: "pki/service-account.key", want: "cannot be read"},
	{name: "the certificates are a file", left: killed, do: both(gone("pki"), text("pki")), path: "pki", want: "not a directory"},
	{name: "no kubeconfig", do: gone("kubeconfig")},
	{name: "a kubeconfig of noise", do: text("kubeconfig")},
	{name: "no note of the socket", do: gone("etcd-socket")},
	{name: "a note of noise", left: killed, do: text("etcd-socket")},
	{name: "the note is a directory", left: killed, do: both(gone("etcd-socket"), directory("etcd-socket")), path: "etcd-socket", want: "is a directory"},
	{name: "the lock is a directory", left: killed, do: both(gone("lock"), directory("lock")), path: "lock", want: "is a directory"},

	// The mark of a reset.
	{name: "the mark of a reset that could not begin", left: killed, do: write(resetMark, ""), short: true},
	{name: "a mark of noise", left: killed, do: text(resetMark), path: resetMark, want: "does not say what to reset"},
	{name: "a mark of a newer version", left: killed, do: write(resetMark, "results"), path: resetMark, want: "does not say what to reset"},
	{name: "the mark of an import that was interrupted", left: killed, do: text("import-under-way")},
	{name: "the mark of an import is a directory", left: killed, do: directory("import-under-way"), path: "import-under-way", want: "is a directory", late: true},
	{name: "inactive extenders of noise", left: killed, do: text("inactive-extenders.json")},
	{name: "a last import of noise", left: killed, do: text("last-import.json")},
	{name: "the mark is a directory", left: killed, do: directory(resetMark), path: resetMark, want: "is a directory"},
}

// TestDamage damages a data directory in many ways. The program either starts with the data, or
// ends soon with one line that names the file and says what to do, and then has changed nothing
// that it could not read.
func TestDamage(t *testing.T) {
	good := prepare(t)
	for _, row := range damages {
		t.Run(row.name, func(t *testing.T) {
			if testing.Short() && !row.short {
				t.Skip("make test-all runs every row")
			}
			t.Parallel()
			h := good.copy(t, row.left)
			row.do(t, h.data)
			if row.want != "" {
				row.refused(t, h, good.refusalTimeout())
				return
			}
			p := start(t, h)
			good.check(t, p, row)
			if strings.Count(p.stderr.String(), "\n") > 1 {
				t.Errorf("it said\n%s", p.stderr)
			}
			p.kill()
		})
	}
}

// refused checks that the program ends with the row's line, within the limit.
func (row damage) refused(t *testing.T, h home, limit time.Duration) {
	t.Helper()
	before := contents(t, h.data)
	begin := time.Now()
	line := launch(t, h).endsWithOneLine(t)
	if took := time.Since(begin); took > limit {
		t.Errorf("it took %v", took)
	}
	t.Log(line)
	advice := row.advice
	if advice == "" {
		advice = "remove it"
		for _, other := range []string{"restore the data directory from a backup", "restore it from a backup"} {
			if strings.Contains(line, other) {
				advice = other
			}
		}
	}
	for _, part := range []string{filepath.Join(h.data, row.path), row.want, advice} {
		if !strings.Contains(line, part) {
			t.Errorf("it does not say %q:\n%s", part, line)
		}
	}
	if diff := cmp.Diff(row.mustStay(before), row.mustStay(contents(t, h.data))); diff != "" {
		t.Errorf("files have changed:\n%s", diff)
	}
}

// endsWithOneLine returns the line with which a program ends that cannot start.
func (p *program) endsWithOneLine(t *testing.T) string {
	t.Helper()
	begin := time.Now()
	select {
	case <-p.exited:
	case <-time.After(patience):
		t.Fatal("it neither starts nor ends")
	}
	said := p.stderr.String()
	if time.Since(begin) > stopTimeout {
		// On a very busy machine it may give up stopping in order, and say so.
		said = stopTookTooLong.ReplaceAllString(said, "")
	}
	if code := p.cmd.ProcessState.ExitCode(); code != 1 || strings.Count(said, "\n") != 1 || !strings.HasPrefix(said, "simulator: ") {
		t.Fatalf("it ended with code %d and said\n%s", code, said)
	}
	return said
}

var stopTookTooLong = regexp.MustCompile(`(?m)^.*"Stopping" err=.*deadline exceeded.*\n`)

// mustStay leaves out what a start may change before it fails.
func (row damage) mustStay(files map[string]string) map[string]string {
	out := map[string]string{}
	for path, content := range files {
		rewritten := slices.Contains([]string{"lock", "kubeconfig", "etcd-socket", "crash.log", inventory}, path) && path != row.path
		// The time line follows etcd.
		etcdHasRun := row.late && (strings.HasPrefix(path, "etcd/") || strings.HasPrefix(path, "timeline/"))
		if !rewritten && !etcdHasRun {
			out[path] = content
		}
	}
	return out
}

// prepared are two copies of one data directory with some of everything.
type prepared struct {
	// started is how long a start takes on this machine, which may be very busy.
	started time.Duration
	dirs    map[moment]string
	pod     *v1.Pod
}

// refusalTimeout is how long a start with a copy may take that ends with an error.
func (p *prepared) refusalTimeout() time.Duration { return max(damageTimeout, 5*p.started) }

// copy returns a home with a copy of the directory.
func (g *prepared) copy(t *testing.T, left moment) home {
	t.Helper()
	h := newHome(t)
	copySparse(t, g.dirs[left], h.data)
	return h
}

func prepare(t *testing.T) *prepared {
	t.Helper()
	h := newHome(t)
	dir := filepath.Dir(h.data)
	g := &prepared{dirs: map[moment]string{killed: filepath.Join(dir, "killed"), stopped: filepath.Join(dir, "stopped")}}
	p := start(t, h)
	p.createNodes(t, "node", 2)
	if _, err := p.client.CoreV1().ConfigMaps(namespace).Create(t.Context(), &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Data: map[string]string{"filler": strings.Repeat("some data ", 5000)}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	if _, err := p.apply(configurationWith(3)); err != nil {
		t.Fatal(err)
	}
	p.schedules(t, "kept")
	var err error
	if g.pod, err = p.client.CoreV1().Pods(namespace).Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the results are on disk", func() error {
		info, err := os.Stat(filepath.Join(h.data, results))
		if err == nil && info.Size() < 200 {
			err = errors.New("there are none")
		}
		return err
	})
	g.started = p.started
	p.kill()
	copySparse(t, h.data, g.dirs[killed])
	p = start(t, h)
	p.stop(t)
	copySparse(t, h.data, g.dirs[stopped])
	return g
}

// check checks that the program has the data.
func (g *prepared) check(t *testing.T, p *program, row damage) {
	t.Helper()
	if _, err := p.client.CoreV1().ConfigMaps(namespace).Get(t.Context(), "kept", metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
	nodes, err := p.client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
	if err != nil || len(nodes.Items) != 2 {
		t.Errorf("there are %d nodes, %v", len(nodes.Items), err)
	}
	pod, err := p.client.CoreV1().Pods(namespace).Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil || pod.UID != g.pod.UID || pod.Spec.NodeName != g.pod.Spec.NodeName {
		t.Errorf("the pod is %v, %v", pod, err)
	}
	if _, has := p.decisions(t)[g.pod.UID]; !has && row.loses != "results" {
		t.Error("the pod's result is lost")
	}
	var revisions struct{ Items []revision }
	if err := p.get(configurationURL+"/revisions", &revisions); err != nil || len(revisions.Items) != 2 {
		t.Errorf("there are %d revisions, %v", len(revisions.Items), err)
	}
	if a, err := p.request(http.MethodGet, configurationURL, nil, nil); err != nil || !bytes.Contains(a.body, []byte("parallelism")) {
		t.Errorf("the configuration is %s, %v", a.body, err)
	}
	p.schedules(t, "after-the-damage")
}

// contents returns the content of every file below dir, by its path; files of zeros are short. It
// names directories and their contents, too.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err != nil || strings.HasSuffix(name, ".tmp") {
			return err
		}
		if !d.Type().IsRegular() {
			out[name] = d.Type().String()
			return nil
		}
		data, err := os.ReadFile(path)
		out[name] = fmt.Sprintf("%d bytes: %s", len(data), bytes.TrimRight(data, "\x00"))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// copySparse copies a directory. etcd preallocates 64 MiB for its log, so zeros become holes.
func copySparse(t *testing.T, from, to string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), "cp", "-a", "--sparse=always", from, to).CombinedOutput(); err != nil {
		t.Fatalf("copying %s: %v\n%s", from, err, out)
	}
	spare, err := filepath.Glob(filepath.Join(to, "etcd/member/wal/*.tmp"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range spare {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	}
}

func nothing(*testing.T, string) {}

func both(all ...func(*testing.T, string)) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		for _, do := range all {
			do(t, dir)
		}
	}
}

func succeed(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func gone(path string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		if _, err := os.Lstat(filepath.Join(dir, path)); err != nil {
			t.Fatal(err)
		}
		succeed(t, os.RemoveAll(filepath.Join(dir, path)))
	}
}

func directory(path string) func(*testing.T, string) {
	return func(t *testing.T, dir string) { succeed(t, os.MkdirAll(filepath.Join(dir, path), 0o700)) }
}

func write(path, content string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		succeed(t, os.WriteFile(filepath.Join(dir, path), []byte(content), 0o600))
	}
}

func text(path string) func(*testing.T, string) {
	return write(path, "This is a file of another program.\n")
}

func cut(path string, size int64) func(*testing.T, string) {
	return func(t *testing.T, dir string) { succeed(t, os.Truncate(filepath.Join(dir, path), size)) }
}

func half(path string) func(*testing.T, string) {
	return changed(path, func(data []byte) []byte { return data[:len(data)/2] })
}

func shorten(path string, by int) func(*testing.T, string) {
	return changed(path, func(data []byte) []byte { return data[:len(data)-by] })
}

func appends(path, content string) func(*testing.T, string) {
	return changed(path, func(data []byte) []byte { return append(data, content...) })
}

func zeros(path string, at, n int) func(*testing.T, string) {
	return changed(path, func(data []byte) []byte {
		clear(data[at:min(len(data), at+n)])
		return data
	})
}

func flip(path string, at int) func(*testing.T, string) {
	return changed(path, func(data []byte) []byte {
		data[at] ^= 1
		return data
	})
}

func noise(path string, at, n int) func(*testing.T, string) {
	return changed(path, func(data []byte) []byte {
		random := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			data[at+i] = byte(random.Uint32())
		}
		return data
	})
}

// noiseOnPages damages the beginning of every page but the first two.
func noiseOnPages(path string) func(*testing.T, string) {
	return changed(path, func(data []byte) []byte {
		random := rand.New(rand.NewPCG(1, 2))
		for at := 8192; at < len(data); at += 4096 {
			for i := range 64 {
				data[at+i] = byte(random.Uint32())
			}
		}
		return data
	})
}

func zerosOnPages(path string) func(*testing.T, string) {
	return changed(path, func(data []byte) []byte {
		clear(data[8192 : len(data)*3/4])
		return data
	})
}

func changed(path string, change func([]byte) []byte) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		data, err := os.ReadFile(filepath.Join(dir, path))
		succeed(t, err)
		succeed(t, os.WriteFile(filepath.Join(dir, path), change(data), 0o600))
	}
}

// inBucket writes a key of etcd's database.
func inBucket(bucket, key string, value []byte) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		db, err := bbolt.Open(filepath.Join(dir, etcdDB), 0o600, &bbolt.Options{NoFreelistSync: true})
		succeed(t, err)
		defer db.Close()
		succeed(t, db.Update(func(tx *bbolt.Tx) error {
			return tx.Bucket([]byte(bucket)).Put([]byte(key), value)
		}))
	}
}

// inObject damages the last revision of an object, but not the way in which etcd keeps it.
func inObject(name string) func(*testing.T, string) {
	return func(t *testing.T, dir string) {
		db, err := bbolt.Open(filepath.Join(dir, etcdDB), 0o600, &bbolt.Options{NoFreelistSync: true})
		succeed(t, err)
		defer db.Close()
		succeed(t, db.Update(func(tx *bbolt.Tx) error {
			cursor := tx.Bucket([]byte("key")).Cursor()
			for k, v := cursor.Last(); k != nil; k, v = cursor.Prev() {
				var kv mvccpb.KeyValue
				if err := proto.Unmarshal(v, &kv); err != nil || !strings.HasSuffix(string(kv.GetKey()), name) {
					continue
				}
				middle := kv.Value[len(kv.Value)/4 : len(kv.Value)*3/4]
				copy(middle, bytes.Repeat([]byte{0xff}, len(middle)))
				changed, err := proto.Marshal(&kv)
				if err != nil {
					return err
				}
				return tx.Bucket([]byte("key")).Put(bytes.Clone(k), changed)
			}
			return errors.New("there is no such object")
		}))
	}
}

// alarm raises an alarm of etcd.
func alarm(kind etcdserverpb.AlarmType) func(*testing.T, string) {
	key, err := proto.Marshal(&etcdserverpb.AlarmMember{MemberID: 1, Alarm: kind})
	if err != nil {
		panic(err)
	}
	return inBucket("alarm", string(key), nil)
}

// TestDamageAnotherUserCannotRead starts the program as a user who may not read one file.
func TestDamageAnotherUserCannotRead(t *testing.T) {
	clustertest.Slow(t)
	if os.Getuid() != 0 {
		t.Skip("only root can start the program as another user")
	}
	good := prepare(t)
	for _, path := range []string{etcdDB, etcdWAL, "etcd/member", results, configuration, "pki/ca.key", inventory, "scheduler-configuration", resetMark} {
		t.Run(path, func(t *testing.T) {
			h := good.copy(t, killed)
			if path == resetMark {
				write(resetMark, "everything")(t, h.data)
			}
			giveToNobody(t, filepath.Dir(h.data))
			locked := filepath.Join(h.data, path)
			succeed(t, os.Chown(locked, 0, 0))
			before := contents(t, h.data)
			p := launchAsUser(t, h, nobody)
			begin := time.Now()
			line := p.endsWithOneLine(t)
			if took := time.Since(begin); took > good.refusalTimeout() {
				t.Errorf("it took %v", took)
			}
			t.Log(line)
			for _, part := range []string{"permission denied", h.data + "/", "; "} {
				if !strings.Contains(line, part) {
					t.Errorf("it does not say %q:\n%s", part, line)
				}
			}
			row := damage{late: true, path: path}
			if diff := cmp.Diff(row.mustStay(before), row.mustStay(contents(t, h.data))); diff != "" {
				t.Errorf("files have changed:\n%s", diff)
			}
		})
	}
}

// giveToNobody hands everything below dir to the unprivileged user, and denies access to all others.
func giveToNobody(t *testing.T, dir string) {
	t.Helper()
	succeed(t, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Lchown(path, nobody, nobody)
	}))
}

// launchAsUser is launch for a program of another user.
func launchAsUser(t *testing.T, h home, user uint32) *program {
	t.Helper()
	program := filepath.Join(filepath.Dir(h.data), "simulator")
	copySparse(t, clustertest.Program(), program)
	succeed(t, os.Chmod(program, 0o755))
	h.environment = append(h.environment, "HOME="+h.tmp)
	return launchAs(t, h, func(args []string) *exec.Cmd {
		command := exec.Command(program, args...)
		command.Dir = h.tmp
		command.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		return command
	})
}
