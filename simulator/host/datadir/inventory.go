package datadir

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

const inventoryFile = "inventory.json"

const inventoryFormat = 1

// Part is a file or a directory that a start expects once a program has put something there. Its
// path is relative to the data directory, with slashes.
type Part struct {
	Path string
	// MayBeEmpty: an empty directory is as good as one with files.
	MayBeEmpty bool
}

// Inventory says what a data directory holds, so that a start notices what has gone. A directory
// from a version without inventories has none, and then a start accepts what it finds.
type Inventory struct {
	Format int `json:"format"`
	// Parts have existed.
	Parts []string `json:"parts"`
	// Stopped describes the files after an orderly stop.
	Stopped *Stopped `json:"stopped,omitempty"`
}

// Stopped describes files as an orderly stop left them.
type Stopped struct {
	// Start identifies the start before that stop. If a later one has used the directory, even one
	// of a version that writes no inventory, the description is out of date.
	Start string `json:"start"`
	// Files are by path, relative to the data directory, with slashes.
	Files map[string]File `json:"files"`
}

// File describes the content of a file.
type File struct {
	Bytes int64 `json:"bytes"`
	// CRC32C is nil for a file that has its own checksums.
	CRC32C *uint32 `json:"crc32c,omitempty"`
}

// ReadInventory returns nil when there is none.
func ReadInventory(dir string) (*Inventory, error) {
	path := filepath.Join(dir, inventoryFile)
	damage := func(err error) error {
		return &Damage{Path: path, Err: err, Do: "if the data directory is complete, delete this file, and the next start makes a new one"}
	}
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, damage(err)
	}
	inventory := &Inventory{}
	if err := json.Unmarshal(data, inventory); err != nil {
		return nil, damage(fmt.Errorf("cannot be read: %w", err))
	}
	if inventory.Format != inventoryFormat {
		return nil, &Damage{
			Path: path, Err: fmt.Errorf("another version of the simulator wrote the data directory, in format %d; this version reads format %d", inventory.Format, inventoryFormat),
			Do: "use that version, or start with another data directory",
		}
	}
	return inventory, nil
}

// Check compares a data directory with its inventory, which may be nil. start identifies the latest
// start. The error is a *Damage.
func (inventory *Inventory) Check(ctx context.Context, dir, start string, parts []Part) error {
	if inventory == nil {
		return nil
	}
	for _, part := range parts {
		if !slices.Contains(inventory.Parts, part.Path) {
			continue
		}
		path := filepath.Join(dir, filepath.FromSlash(part.Path))
		there, err := part.exists(dir)
		if err == nil && !there {
			err = errors.New("is missing or empty, but has held data")
		}
		if err != nil {
			return &Damage{Path: path, Err: err, Do: unlessOnPurpose(dir)}
		}
	}
	if !inventory.Describes(start) {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(inventory.Stopped.Files)) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := inventory.Stopped.Files[name].check(ctx, path); err != nil {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return &Damage{Path: path, Err: err, Do: unlessOnPurpose(dir)}
		}
	}
	return nil
}

// Describes reports whether the inventory says what the files contain, because the latest start
// ended in order. The inventory may be nil.
func (inventory *Inventory) Describes(start string) bool {
	return inventory != nil && inventory.Stopped != nil && inventory.Stopped.Start == start
}

func unlessOnPurpose(dir string) string {
	return Restore + fmt.Sprintf("; after a change on purpose, delete %s", filepath.Join(dir, inventoryFile))
}

func (p Part) exists(dir string) (bool, error) {
	path := filepath.Join(dir, filepath.FromSlash(p.Path))
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil || !info.IsDir() || p.MayBeEmpty {
		return err == nil, err
	}
	entries, err := os.ReadDir(path)
	return len(entries) > 0, err
}

func (f File) check(ctx context.Context, path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("is missing, and was there when the simulator stopped")
	}
	if err != nil {
		return err
	}
	if info.Size() != f.Bytes {
		return fmt.Errorf("has %d bytes, and had %d when the simulator stopped", info.Size(), f.Bytes)
	}
	if f.CRC32C == nil {
		return nil
	}
	sum, err := checksum(ctx, path)
	if err == nil && sum != *f.CRC32C {
		err = errors.New("has changed since the simulator stopped")
	}
	return err
}

// Keep writes an inventory of the parts that exist, without a description of the files, unless the
// present one says the same. inventory may be nil.
func (inventory *Inventory) Keep(dir string, parts []Part) error {
	next := Inventory{Format: inventoryFormat, Parts: []string{}}
	for _, part := range parts {
		there, err := part.exists(dir)
		if err != nil {
			return err
		}
		if there {
			next.Parts = append(next.Parts, part.Path)
		}
	}
	if inventory != nil && inventory.Stopped == nil && slices.Equal(inventory.Parts, next.Parts) {
		return nil
	}
	return next.write(dir)
}

// Stop writes an inventory with a description of files. checked are patterns of the files that get
// a checksum, sized of those that do not, relative to the data directory.
func Stop(ctx context.Context, dir, start string, parts []Part, checked, sized []string) error {
	inventory := Inventory{Format: inventoryFormat, Parts: []string{}, Stopped: &Stopped{Start: start, Files: map[string]File{}}}
	for _, part := range parts {
		if there, err := part.exists(dir); err == nil && there {
			inventory.Parts = append(inventory.Parts, part.Path)
		}
	}
	for i, patterns := range [][]string{checked, sized} {
		for _, pattern := range patterns {
			paths, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
			if err != nil {
				return err
			}
			for _, path := range paths {
				if err := inventory.Stopped.add(ctx, dir, path, i == 0); err != nil {
					return err
				}
			}
		}
	}
	return inventory.write(dir)
}

func (s *Stopped) add(ctx context.Context, dir, path string, checked bool) error {
	name, err := filepath.Rel(dir, path)
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	file := File{Bytes: info.Size()}
	if checked {
		sum, err := checksum(ctx, path)
		if err != nil {
			return err
		}
		file.CRC32C = &sum
	}
	s.Files[filepath.ToSlash(name)] = file
	return nil
}

func (inventory *Inventory) write(dir string) error {
	data, err := json.MarshalIndent(inventory, "", "  ")
	if err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, inventoryFile), append(data, '\n'))
}

// The context is checked after each checksumStep.
const checksumStep = 4 << 20

func checksum(ctx context.Context, path string) (uint32, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	for {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		_, err := io.CopyN(sum, file, checksumStep)
		if errors.Is(err, io.EOF) {
			return sum.Sum32(), nil
		}
		if err != nil {
			return 0, err
		}
	}
}
