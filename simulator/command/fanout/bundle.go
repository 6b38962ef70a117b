package fanout

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"kube-scheduler-simulator/simulator/scenarios/scenario"
)

// Bounds of what travels to the cluster. Kubernetes limits the data of a ConfigMap to 1 MiB.
const (
	// chunkBytes is what one ConfigMap carries of the files.
	chunkBytes = 900 << 10
	// maxChunks bounds the files, compressed, to 18 MiB. The pods of a Job read all of it.
	maxChunks = 20
	// maxUnpacked bounds what a pod takes into its memory.
	maxUnpacked = 512 << 20
)

// chunkName is the name of a chunk's key in its ConfigMap, and of its file in the pod.
func chunkName(i int) string { return fmt.Sprintf("sweep-%03d", i) }

// bundle is what a pod needs to know of the sweep.
type bundle struct {
	// File is the name of the sweep file in errors.
	File string `json:"file"`
	// Seeds are those of the sweep file or of the command.
	Seeds []int64 `json:"seeds"`
	// Runs are the numbers of the runs to do, as ranges. Share i of Shares does every Shares-th of them, from the i-th on.
	Runs   string `json:"runs"`
	Shares int    `json:"shares"`
	// Names are the names of files, by their names in the archive.
	Names map[string]string `json:"names"`

	text  []byte
	files map[string][]byte
}

const (
	bundleFile = "bundle.json"
	sweepFile  = "sweep"
)

func newBundle(l *scenario.Sweep, runs []int, shares int) *bundle {
	b := &bundle{File: filepath.Base(l.File), Seeds: l.Seeds, Runs: writeRanges(runs), Shares: shares, Names: map[string]string{}, text: l.Text, files: l.Files}
	for i, name := range slices.Sorted(maps.Keys(l.Files)) {
		b.Names["file-"+strconv.Itoa(i)] = name
	}
	return b
}

// pack returns the bundle in chunks that fit a ConfigMap each.
func (b *bundle) pack() ([][]byte, error) {
	var out bytes.Buffer
	compressed := gzip.NewWriter(&out)
	archive := tar.NewWriter(compressed)
	add := func(name string, data []byte) error {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o600, Size: int64(len(data))}); err != nil {
			return err
		}
		_, err := archive.Write(data)
		return err
	}
	head, err := json.Marshal(b)
	err = errors.Join(err, add(bundleFile, head), add(sweepFile, b.text))
	for _, key := range slices.Sorted(maps.Keys(b.Names)) {
		err = errors.Join(err, add(key, b.files[b.Names[key]]))
	}
	if err := errors.Join(err, archive.Close(), compressed.Close()); err != nil {
		return nil, fmt.Errorf("packing the files of the sweep: %w", err)
	}
	if chunks := (out.Len() + chunkBytes - 1) / chunkBytes; chunks > maxChunks {
		name, size := b.largest()
		return nil, fmt.Errorf("the files of the sweep take %d MiB when compressed, and %d MiB is the limit of what travels to a cluster; the largest is %s with %d MiB",
			out.Len()>>20, maxChunks*chunkBytes>>20, name, size>>20)
	}
	return slices.Collect(slices.Chunk(out.Bytes(), chunkBytes)), nil
}

func (b *bundle) largest() (name string, size int) {
	name, size = b.File, len(b.text)
	for _, other := range slices.Sorted(maps.Keys(b.files)) {
		if len(b.files[other]) > size {
			name, size = other, len(b.files[other])
		}
	}
	return name, size
}

// unpack reads the chunks in a directory.
func unpack(dir string) (*bundle, error) {
	var chunks []io.Reader
	for i := 0; ; i++ {
		data, err := os.ReadFile(filepath.Join(dir, chunkName(i)))
		if errors.Is(err, fs.ErrNotExist) && i > 0 {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("reading the files of the sweep: %w", err)
		}
		chunks = append(chunks, bytes.NewReader(data))
	}
	b, err := unpackFrom(io.MultiReader(chunks...))
	if err != nil {
		return nil, fmt.Errorf("reading the files of the sweep: %w", err)
	}
	return b, nil
}

func unpackFrom(in io.Reader) (*bundle, error) {
	compressed, err := gzip.NewReader(in)
	if err != nil {
		return nil, err
	}
	limited := &io.LimitedReader{R: compressed, N: maxUnpacked}
	archive := tar.NewReader(limited)
	data := map[string][]byte{}
	for {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil {
			data[header.Name], err = io.ReadAll(archive)
		}
		if err != nil && limited.N <= 0 {
			return nil, fmt.Errorf("they take more than %d MiB, the limit", maxUnpacked>>20)
		}
		if err != nil {
			return nil, err
		}
	}
	b := &bundle{text: data[sweepFile], files: map[string][]byte{}}
	if err := json.Unmarshal(data[bundleFile], b); err != nil {
		return nil, fmt.Errorf("%s: %w", bundleFile, err)
	}
	for key, name := range b.Names {
		b.files[name] = data[key]
	}
	return b, nil
}

func (b *bundle) read(name string) ([]byte, error) {
	if data, ok := b.files[name]; ok {
		return data, nil
	}
	return nil, fmt.Errorf("%s: %w in the files of the sweep", name, fs.ErrNotExist)
}

func (b *bundle) share(index int) ([]int, error) {
	all, err := readRanges(b.Runs)
	if err != nil {
		return nil, fmt.Errorf("the runs of the sweep: %w", err)
	}
	if index < 0 || index >= b.Shares {
		return nil, fmt.Errorf("there is no share %d of %d", index, b.Shares)
	}
	var out []int
	for i := index; i < len(all); i += b.Shares {
		out = append(out, all[i])
	}
	return out, nil
}
