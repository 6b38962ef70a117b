package blockfile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Dir is a directory of files of blocks. It appends to the newest file, and removes the oldest ones
// as a whole: that frees space at once and rewrites nothing, and a kill leaves at worst a torn block
// at the end of the newest file. As every block has a checksum, Load finds all damage, which costs
// no more than its block. B is what Read returns of a block.
//
// One goroutine at a time may call the methods.
type Dir[B any] struct {
	// Path is the directory. The first file creates it.
	Path string
	// Suffix ends the names of the files, whose beginning are their numbers.
	Suffix string
	// Holds names what the files hold, for errors: "results".
	Holds string
	// Header begins each file; its last word is the version of the format. Optional.
	Header string
	Format Format
	// Size returns a block's size by its header, and false for a damaged header.
	Size func(header []byte) (size int64, ok bool)
	// Read reads what Load returns of a block. A block is damaged if it fails with anything but an
	// *fs.PathError.
	Read func(f *File, at int64, header []byte) (B, error)
	// Keep returns how many of a file's readable blocks are of use, from the first one on. Default:
	// all.
	Keep func(*Loaded[B]) int
	// Strict refuses a file without a readable block. Default: Load sets it aside.
	Strict bool
	// Repaired is called for each file that Load has cut or set aside.
	Repaired func(*Loaded[B])
	// MaxBytes bounds the files, and FileBytes is the size from which on Append begins another one.
	// 0 means no bound.
	MaxBytes, FileBytes int64
	// Durable waits for the disk after each write.
	Durable bool
	// Open opens files. Default: os.OpenFile.
	Open func(path string, flag int) (Handle, error)

	files []*File
	bytes int64
	next  uint64
}

// Handle is an open file.
type Handle interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// File is a file of a Dir. It may be read at any time.
type File struct {
	Handle
	Path string
	Size int64

	number uint64
	// full: no more blocks are appended, because the file may end with a partial one.
	full bool
}

// Loaded is a file as Load has found it.
type Loaded[B any] struct {
	*File
	Blocks []Block[B]
	// Sound is the number of blocks before the first damage.
	Sound int
	// Torn: an unfinished write at the end was cut off.
	Torn bool
	// Damage says what was wrong with the file, which is now at SetAside.
	Damage   error
	SetAside string
}

// Block is a block of a file.
type Block[B any] struct {
	At, Size int64
	Value    B
}

// UnreadableError says that a file, or the directory, cannot be used. Nothing has changed.
type UnreadableError struct {
	Path string
	Err  error
}

func (e *UnreadableError) Error() string { return fmt.Sprintf("%s cannot be read: %v", e.Path, e.Err) }

func (e *UnreadableError) Unwrap() error { return e.Err }

func unreadable(path string, err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return &UnreadableError{Path: path, Err: err}
}

// Load opens the files and returns those with blocks, oldest first. It reads all of them before it
// changes any: an *UnreadableError means that it has changed none, because it cannot read one or
// another version wrote it. Then it cuts off unfinished writes, and replaces each damaged file by a
// new one of its readable blocks; the damaged one stays as PATH.corrupt-N. It removes files without
// a block.
func (d *Dir[B]) Load(ctx context.Context) (all []*Loaded[B], err error) {
	defer func() {
		if err != nil {
			closeAll(all)
		}
	}()
	if all, err = d.read(ctx); err != nil {
		return all, err
	}
	for _, l := range all {
		if err := d.repair(l); err != nil {
			return all, fmt.Errorf("repairing %s: %w", l.Path, err)
		}
	}
	var out []*Loaded[B]
	for _, l := range all {
		d.next = l.number + 1
		if len(l.Blocks) == 0 {
			_ = d.Discard(l.File)
			continue
		}
		d.files = append(d.files, l.File)
		d.bytes += l.Size
		out = append(out, l)
	}
	return out, nil
}

// Check returns the *UnreadableError with which Load would fail, and changes nothing.
func (d *Dir[B]) Check(ctx context.Context) error {
	all, err := d.read(ctx)
	closeAll(all)
	return err
}

func closeAll[B any](all []*Loaded[B]) {
	for _, l := range all {
		if l.Handle != nil {
			_ = l.Close()
		}
	}
}

// read opens and reads the files. It returns those that it has opened, also with an error.
func (d *Dir[B]) read(ctx context.Context) ([]*Loaded[B], error) {
	entries, err := os.ReadDir(d.Path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, unreadable(d.Path, err)
	}
	var all []*Loaded[B]
	for _, e := range entries {
		digits, ours := strings.CutSuffix(e.Name(), d.Suffix)
		number, err := strconv.ParseUint(digits, 10, 64)
		if ours && err == nil && len(digits) >= minDigits {
			all = append(all, &Loaded[B]{File: &File{number: number, Path: filepath.Join(d.Path, e.Name())}})
		}
	}
	slices.SortFunc(all, func(a, b *Loaded[B]) int { return cmp.Compare(a.number, b.number) })
	for i, l := range all {
		if ctx.Err() != nil {
			return all, fmt.Errorf("reading %s: %w", d.Holds, context.Cause(ctx))
		}
		if err := d.readFile(l, i == len(all)-1); err != nil {
			return all, unreadable(l.Path, err)
		}
	}
	return all, nil
}

const minDigits = 8

func (d *Dir[B]) path(number uint64) string {
	return filepath.Join(d.Path, fmt.Sprintf("%0*d%s", minDigits, number, d.Suffix))
}

func (d *Dir[B]) open(path string, flag int) (Handle, error) {
	if d.Open != nil {
		return d.Open(path, flag)
	}
	return os.OpenFile(path, flag, 0o600)
}

// readFile fails when the file cannot be read or has nothing of ours. newest: it was written last.
func (d *Dir[B]) readFile(l *Loaded[B], newest bool) error {
	info, err := os.Lstat(l.Path)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return errors.New("it is not a regular file")
	}
	if l.Handle, err = d.open(l.Path, os.O_RDWR); err != nil {
		return err
	}
	l.Size = info.Size()
	if err := d.readBlocks(l, newest); err != nil {
		return err
	}
	if l.Damage == nil {
		l.Sound = len(l.Blocks)
	}
	if d.Keep != nil {
		l.Blocks = l.Blocks[:d.Keep(l)]
	}
	if l.Damage != nil && len(l.Blocks) == 0 && d.Strict {
		return fmt.Errorf("nothing in it can be read as %s: %w", d.Holds, l.Damage)
	}
	return nil
}

func (d *Dir[B]) readBlocks(l *Loaded[B], newest bool) error {
	at, err := d.readHeader(l, newest)
	for err == nil && at < l.Size && !l.Torn {
		b, damage := d.block(l.File, at)
		if damage == nil {
			l.Blocks = append(l.Blocks, b)
			at += b.Size
			continue
		}
		if readFailed(damage) {
			return damage
		}
		var next int64
		next, err = d.nextBlock(l.File, at+1)
		if l.Torn = next == l.Size && l.Damage == nil && d.isTorn(l.File, at); l.Torn {
			l.Size = at
		} else {
			l.damaged(fmt.Errorf("at byte %d: %w", at, damage))
		}
		at = next
	}
	return err
}

func (l *Loaded[B]) damaged(err error) {
	if l.Damage == nil {
		l.Damage, l.Sound = err, len(l.Blocks)
	}
}

// maxVersionDigits bounds the version in the header of a file of another version.
const maxVersionDigits = 8

// readHeader returns where the first block should start. It fails when another version wrote the
// file.
func (d *Dir[B]) readHeader(l *Loaded[B], newest bool) (at int64, err error) {
	start := make([]byte, min(l.Size, int64(len(d.Header)+maxVersionDigits)))
	if _, err := l.ReadAt(start, 0); err != nil {
		return 0, err
	}
	said := string(start)
	if strings.HasPrefix(said, d.Header) {
		return int64(len(d.Header)), nil
	}
	if newest && strings.HasPrefix(d.Header, said) {
		// The program ended right after it created the file.
		l.Torn, l.Size = l.Size > 0, 0
		return 0, nil
	}
	title := d.Header[:strings.LastIndexByte(d.Header, ' ')+1]
	rest, ours := strings.CutPrefix(said, title)
	version, _, ended := strings.Cut(rest, "\n")
	if _, err := strconv.ParseUint(version, 10, 64); ours && ended && err == nil {
		return 0, fmt.Errorf("another version of the simulator wrote it, in format %s; this version reads format %s", version, strings.TrimSpace(d.Header[len(title):]))
	}
	l.damaged(fmt.Errorf("it does not start like a file of %s", d.Holds))
	return 0, nil
}

// block returns the block that starts at a byte.
func (d *Dir[B]) block(f *File, at int64) (Block[B], error) {
	header, err := d.Format.ReadHeader(f, at, f.Size)
	if err != nil {
		return Block[B]{}, err
	}
	size, ok := d.Size(header)
	if !ok || at+size > f.Size {
		return Block[B]{}, ErrNoBlock
	}
	value, err := d.Read(f, at, header)
	return Block[B]{At: at, Size: size, Value: value}, err
}

// readFailed reports whether the file could not be read, as opposed to being damaged.
func readFailed(err error) bool {
	_, failed := errors.AsType[*fs.PathError](err)
	return failed
}

// isTorn reports whether the bytes from at to the end are what an unfinished write leaves: the
// beginning of a block, or zeros.
func (d *Dir[B]) isTorn(f *File, at int64) bool {
	rest := make([]byte, f.Size-at)
	if _, err := f.ReadAt(rest, at); err != nil {
		return false
	}
	if d.Format.starts(rest) {
		size, ok := d.Size(rest[:d.Format.HeaderSize()])
		return ok && at+size > f.Size
	}
	n := min(len(rest), len(d.Format.Magic))
	begins := len(rest) < d.Format.HeaderSize() && string(rest[:n]) == d.Format.Magic[:n]
	return begins || !slices.ContainsFunc(rest, func(b byte) bool { return b != 0 })
}

// nextBlock returns where the next block starts that can be read; the file's size when none does.
func (d *Dir[B]) nextBlock(f *File, from int64) (int64, error) {
	data := make([]byte, f.Size-from)
	if _, err := f.ReadAt(data, from); err != nil {
		return 0, err
	}
	for at := 0; ; at++ {
		i := d.Format.Next(data[at:])
		if i < 0 {
			return f.Size, nil
		}
		at += i
		if _, err := d.block(f, from+int64(at)); err == nil || readFailed(err) {
			return from + int64(at), err
		}
	}
}

func (d *Dir[B]) repair(l *Loaded[B]) (err error) {
	switch {
	case l.Torn:
		err = l.Truncate(l.Size)
	case l.Damage != nil:
		err = d.salvage(l)
	default:
		return nil
	}
	if err == nil && d.Repaired != nil {
		d.Repaired(l)
	}
	return err
}

// A number follows setAsideMark in the name of a file that was set aside. A Dir never removes it.
const setAsideMark, salvageSuffix = ".corrupt-", ".salvage"

// salvage replaces a damaged file by a new one of its blocks, and keeps the damaged one under
// another name. A file of the path exists at every moment.
func (d *Dir[B]) salvage(l *Loaded[B]) error {
	handle, err := d.open(l.Path+salvageSuffix, os.O_RDWR|os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	saved := &File{Handle: handle}
	if err = d.copyBlocks(l, saved); err == nil {
		l.SetAside, err = setAside(l.Path)
	}
	if err == nil {
		err = os.Rename(l.Path+salvageSuffix, l.Path)
	}
	if err == nil {
		err = syncDir(d.Path)
	}
	if err != nil {
		_, _ = saved.Close(), os.Remove(l.Path+salvageSuffix)
		return err
	}
	_ = l.Close()
	l.Handle, l.Size = handle, saved.Size
	return nil
}

func setAside(path string) (string, error) {
	for n := 1; ; n++ {
		name := path + setAsideMark + strconv.Itoa(n)
		if err := os.Link(path, name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
}

// copyBlocks waits for the disk.
func (d *Dir[B]) copyBlocks(from *Loaded[B], to *File) error {
	if err := to.append([]byte(d.Header)); err != nil {
		return err
	}
	for i, b := range from.Blocks {
		data := make([]byte, b.Size)
		if _, err := from.ReadAt(data, b.At); err != nil {
			return err
		}
		from.Blocks[i].At = to.Size
		if err := to.append(data); err != nil {
			return err
		}
	}
	return to.Sync()
}

// If the write fails, append truncates the file to its earlier size, or else marks it full.
func (f *File) append(data []byte) error {
	if _, err := f.WriteAt(data, f.Size); err != nil {
		f.full = f.Truncate(f.Size) != nil
		return err
	}
	f.Size += int64(len(data))
	return nil
}

// Append appends a block to the newest file, or begins another one if that is full. It returns
// where the block is.
func (d *Dir[B]) Append(data []byte) (f *File, at int64, err error) {
	if n := len(d.files); n > 0 {
		f = d.files[n-1]
	}
	if f == nil || f.full || d.FileBytes > 0 && f.Size >= d.FileBytes {
		if f, err = d.Begin(); err != nil {
			return nil, 0, err
		}
	}
	at = f.Size
	if err := f.append(data); err != nil {
		return nil, 0, err
	}
	d.bytes += int64(len(data))
	if d.Durable {
		err = f.Sync()
	}
	return f, at, err
}

// Begin begins a file.
func (d *Dir[B]) Begin() (*File, error) {
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		return nil, err
	}
	f := &File{number: d.next, Path: d.path(d.next)}
	var err error
	if f.Handle, err = d.open(f.Path, os.O_RDWR|os.O_CREATE|os.O_EXCL); err != nil {
		return nil, err
	}
	err = f.append([]byte(d.Header))
	if err == nil && d.Durable {
		err = syncDir(d.Path)
	}
	if err != nil {
		return nil, errors.Join(err, d.Discard(f))
	}
	d.next++
	d.files = append(d.files, f)
	d.bytes += f.Size
	return f, nil
}

func syncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// Bytes returns the size of the files.
func (d *Dir[B]) Bytes() int64 { return d.bytes }

// Excess returns the files that must go before n more bytes fit into MaxBytes, but keeps some.
func (d *Dir[B]) Excess(n int64, keep int) []*File {
	bytes, gone := d.bytes+n, 0
	for ; bytes > d.MaxBytes && gone < len(d.files)-keep; gone++ {
		bytes -= d.files[gone].Size
	}
	return slices.Clone(d.files[:gone])
}

// Discard waits for a running read, then removes the file. Later reads fail.
func (d *Dir[B]) Discard(f *File) error {
	if i := slices.Index(d.files, f); i >= 0 {
		d.files = slices.Delete(d.files, i, i+1)
		d.bytes -= f.Size
	}
	err := os.Remove(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(f.Close(), err)
}

// Clear discards all files.
func (d *Dir[B]) Clear() error {
	var errs []error
	for _, f := range slices.Clone(d.files) {
		errs = append(errs, d.Discard(f))
	}
	return errors.Join(errs...)
}

// Sync protects the newest file from a power cut.
func (d *Dir[B]) Sync() error {
	if len(d.files) == 0 {
		return nil
	}
	return d.files[len(d.files)-1].Sync()
}

// Close closes the files.
func (d *Dir[B]) Close() error {
	var errs []error
	for _, f := range d.files {
		errs = append(errs, f.Close())
	}
	d.files, d.bytes = nil, 0
	return errors.Join(errs...)
}
