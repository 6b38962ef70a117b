package etcddata

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
)

// database with buckets of all shapes: inline, one leaf, branches, values with overflow pages,
// and free pages in between.
func written(t testing.TB, options *bbolt.Options) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "db")
	db, err := bbolt.Open(path, 0o600, options)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 3 {
		err := db.Update(func(tx *bbolt.Tx) error {
			for name, n := range map[string]int{"empty": 0, "inline": 2, "leaf": 40, "tree": 5000, "overflow": 30} {
				bucket, err := tx.CreateBucketIfNotExists([]byte(name))
				if err != nil {
					return err
				}
				for range n {
					key := fmt.Appendf(nil, "%08d", random.IntN(4*n+1))
					size := 20
					if name == "overflow" {
						size = random.IntN(50_000)
					}
					if err := bucket.Put(key, make([]byte, size)); err != nil {
						return err
					}
					if round > 0 {
						if err := bucket.Delete(fmt.Appendf(nil, "%08d", random.IntN(4*n+1))); err != nil {
							return err
						}
					}
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return path
}

func keysByBbolt(t *testing.T, path string) []string {
	t.Helper()
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var keys []string
	err = db.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, bucket *bbolt.Bucket) error {
			return bucket.ForEach(func(k, v []byte) error {
				keys = append(keys, fmt.Sprintf("%s %s %d", name, k, len(v)))
				return nil
			})
		})
	})
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func keysHere(path string) (keys []string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	err = readPages(context.Background(), file, info.Size(), func(bucket, key, value []byte) error {
		keys = append(keys, fmt.Sprintf("%s %s %d", bucket, key, len(value)))
		return nil
	})
	return keys, err
}

func TestReadsWhatBboltWrites(t *testing.T) {
	for name, options := range map[string]*bbolt.Options{
		"as etcd":              {NoFreelistSync: true},
		"with free pages":      {},
		"with many free pages": {FreelistType: bbolt.FreelistMapType},
		"with pages of 16 KiB": {PageSize: 16 << 10},
		"with pages of 1 KiB":  {PageSize: 1 << 10, NoFreelistSync: true},
	} {
		t.Run(name, func(t *testing.T) {
			path := written(t, options)
			got, err := keysHere(path)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(keysByBbolt(t, path), got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// One copy of the meta data is enough for bbolt, and here.
func TestReadsTheOtherCopyOfTheMetaData(t *testing.T) {
	path := written(t, &bbolt.Options{NoFreelistSync: true})
	for _, at := range []int64{0, 4096} {
		damaged := copyOf(t, path)
		overwrite(t, damaged, at, make([]byte, 100))
		got, err := keysHere(damaged)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(keysByBbolt(t, damaged), got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestDamagedPagesAreFound(t *testing.T) {
	path := written(t, &bbolt.Options{})
	root := rootPage(t, path)
	for name, damage := range map[string]func(path string){
		"cut in the middle":     func(path string) { truncate(t, path, 300_000) },
		"cut after the start":   func(path string) { truncate(t, path, 8192) },
		"cut in the first page": func(path string) { truncate(t, path, 100) },
		"no meta data":          func(path string) { overwrite(t, path, 0, make([]byte, 8192)) },
		"zeros":                 func(path string) { overwrite(t, path, root, make([]byte, 4096)) },
		"another page's id":     func(path string) { overwrite(t, path, root, bytes.Repeat([]byte{0xff}, 8)) },
		"no page of keys":       func(path string) { overwrite(t, path, root+8, []byte{0x40}) },
		"too many keys":         func(path string) { overwrite(t, path, root+10, []byte{0xff, 0xff}) },
		"endless overflow":      func(path string) { overwrite(t, path, root+12, []byte{0xff, 0xff, 0xff, 0x7f}) },
		"a key elsewhere":       func(path string) { overwrite(t, path, root+pageHeader+4, []byte{0xff, 0xff, 0xff, 0xff}) },
	} {
		t.Run(name, func(t *testing.T) {
			damaged := copyOf(t, path)
			damage(damaged)
			if _, err := keysHere(damaged); err == nil {
				t.Error("no error")
			}
		})
	}
}

// Whatever the bytes, reading ends and does not panic.
func TestAnyDamageEnds(t *testing.T) {
	path := written(t, &bbolt.Options{})
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	found := 0
	damaged := copyOf(t, path)
	for range 300 {
		at := random.Int64N(info.Size() - 64)
		if random.IntN(2) == 0 {
			at = at&^4095 + random.Int64N(64) // in the header of a page
		}
		noise := make([]byte, 1+random.IntN(64))
		for i := range noise {
			noise[i] = byte(random.Uint32())
		}
		before := overwrite(t, damaged, at, noise)
		if _, err := keysHere(damaged); err != nil {
			found++
		}
		overwrite(t, damaged, at, before)
	}
	// Most of the file is free pages and values, in which no damage shows.
	if found < 10 {
		t.Errorf("%d of 300 were found", found)
	}
}

func rootPage(t *testing.T, path string) int64 {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	m, err := readMeta(file, info.Size())
	if err != nil {
		t.Fatal(err)
	}
	return int64(m.root) * int64(m.pageSize)
}

func copyOf(t testing.TB, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), filepath.Base(path))
	if err := os.WriteFile(to, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return to
}

func truncate(t testing.TB, path string, size int64) {
	t.Helper()
	if err := os.Truncate(path, size); err != nil {
		t.Fatal(err)
	}
}

// overwrite returns the bytes that were there.
func overwrite(t testing.TB, path string, at int64, data []byte) []byte {
	t.Helper()
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before := make([]byte, len(data))
	if _, err := file.ReadAt(before, at); err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt(data, at); err != nil {
		t.Fatal(err)
	}
	return before
}
