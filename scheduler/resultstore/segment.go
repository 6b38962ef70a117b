package resultstore

import (
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

	"k8s.io/klog/v2"

	"kube-scheduler-simulator/scheduler/blockfile"
)

// A segment is a file of blocks. The store only appends blocks, and deletes the oldest segment as a
// whole for room. That frees space at once and rewrites nothing, and a kill leaves at worst a torn
// block at the end of the newest file. Everything has a checksum, so any damage is detected and
// costs no more than its block. A B+tree such as bbolt's would need several times the CPU per write
// for the free pages between blocks of any length, never shrinks, and cannot detect a damaged page.
type segment struct {
	number uint64
	path   string
	file   file
	size   int64
	// full: no more blocks are appended, because the file may end with a partial
	// one.
	full bool
}

type file interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Truncate(size int64) error
	Sync() error
}

// fileSystem opens files; tests replace it with a full one.
type fileSystem interface {
	create(path string) (file, error)
	open(path string) (file, error)
}

type diskFiles struct{}

func (diskFiles) create(path string) (file, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

func (diskFiles) open(path string) (file, error) { return os.OpenFile(path, os.O_RDWR, 0) }

const (
	segmentPrefix  = "kube-scheduler-simulator results "
	segmentVersion = "1"
	segmentHeader  = segmentPrefix + segmentVersion + "\n"
	// maxVersionDigits bounds the version in the header of a file of another version.
	maxVersionDigits = 8
	segmentSuffix    = ".results"
	// setAsideMark is followed by a number in the name of a file that was set aside. The
	// store never removes such a file.
	setAsideMark = ".corrupt-"

	// The oldest segment is about one segmentsPerStore-th of the store;
	// maxSegmentBytes bounds its file.
	segmentsPerStore = 16
	maxSegmentBytes  = 64 << 20
)

// segments are the files of a directory, oldest first; the last gets new blocks. One goroutine at a
// time may call its methods.
type segments struct {
	dir      string
	maxBytes int64
	durable  bool
	files    fileSystem

	all   []*segment
	bytes int64
	next  uint64
}

func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%08d%s", number, segmentSuffix))
}

// load opens the segments and returns their blocks in the order of writing. It first reads all
// files and changes none: an error means that it cannot read a file, or that another version wrote
// it. Then it truncates torn tails, and replaces damaged files by their readable blocks, logging a
// line for each; the damaged file stays beside the new one.
func (s *segments) load(ctx context.Context, logger klog.Logger) ([]loadedBlock, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, &UnreadableError{Path: s.dir, Err: withoutPath(err)}
	}
	numbers, err := s.numbers()
	if err != nil {
		return nil, &UnreadableError{Path: s.dir, Err: withoutPath(err)}
	}
	var all []*loadedSegment
	defer func() {
		if err != nil {
			for _, l := range all {
				s.close(l.segment)
			}
		}
	}()
	for i, number := range numbers {
		if err = ctx.Err(); err != nil {
			return nil, fmt.Errorf("reading results: %w", err)
		}
		l := &loadedSegment{segment: &segment{number: number, path: segmentPath(s.dir, number)}}
		all = append(all, l)
		if err = s.read(l, i == len(numbers)-1); err != nil {
			return nil, err
		}
	}
	for _, l := range all {
		if err = s.repair(logger, l); err != nil {
			return nil, fmt.Errorf("repairing %s: %w", l.path, err)
		}
	}
	return s.use(all), nil
}

// Check returns the *UnreadableError with which Start would refuse a directory. It changes nothing.
func Check(ctx context.Context, dir string) error {
	s := &segments{dir: dir, files: diskFiles{}}
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return &UnreadableError{Path: dir, Err: withoutPath(err)}
	}
	numbers := numbersOf(dir, entries)
	for i, number := range numbers {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("reading results: %w", err)
		}
		l := &loadedSegment{segment: &segment{number: number, path: segmentPath(dir, number)}}
		err := s.read(l, i == len(numbers)-1)
		s.close(l.segment)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *segments) use(all []*loadedSegment) []loadedBlock {
	var out []loadedBlock
	for _, l := range all {
		s.next = l.number + 1
		if len(l.blocks) == 0 {
			s.discard(l.segment)
			continue
		}
		s.all = append(s.all, l.segment)
		s.bytes += l.size
		out = append(out, l.blocks...)
	}
	return out
}

// numbers also removes the files of an interrupted salvage, whose blocks the segment still has.
func (s *segments) numbers() ([]uint64, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), segmentSuffix+salvageSuffix) {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
	}
	return numbersOf(s.dir, entries), nil
}

func numbersOf(dir string, entries []fs.DirEntry) []uint64 {
	var out []uint64
	for _, e := range entries {
		digits, ours := strings.CutSuffix(e.Name(), segmentSuffix)
		number, err := strconv.ParseUint(digits, 10, 32)
		if ours && err == nil && segmentPath(dir, number) == filepath.Join(dir, e.Name()) {
			out = append(out, number)
		}
	}
	slices.Sort(out)
	return out
}

type loadedBlock struct {
	*block
	keys []key
}

type loadedSegment struct {
	*segment
	blocks []loadedBlock
	// damage is non-nil when some bytes of the file belong to no readable block.
	damage error
	// torn: the bytes after size are an unfinished write, and all others are readable.
	torn bool
}

// UnreadableError says that a file of results, or their directory, cannot be used. The store has
// changed nothing.
type UnreadableError struct {
	Path string
	Err  error
}

func (e *UnreadableError) Error() string { return fmt.Sprintf("%s cannot be read: %v", e.Path, e.Err) }

func (e *UnreadableError) Unwrap() error { return e.Err }

// read opens a segment and reads the keys of its blocks. newest: the segment was written last.
func (s *segments) read(l *loadedSegment, newest bool) error {
	info, err := os.Lstat(l.path)
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("it is not a regular file")
	}
	if err == nil {
		l.file, err = s.files.open(l.path)
	}
	if err == nil {
		err = s.readBlocks(l, info.Size(), newest)
	}
	if err != nil {
		return &UnreadableError{Path: l.path, Err: withoutPath(err)}
	}
	return nil
}

func withoutPath(err error) error {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err
	}
	return err
}

// readBlocks fails when the file cannot be read, or when nothing in it is ours.
func (s *segments) readBlocks(l *loadedSegment, size int64, newest bool) error {
	at, err := s.readHeader(l, size, newest)
	if err != nil || l.torn {
		return err
	}
	for at >= 0 && at < size {
		b, err := readBlock(l.segment, at, size)
		if err == nil {
			err = l.add(b)
			at += b.size()
		} else if !readFailed(err) {
			at, err = s.skipDamage(l, at, size)
		}
		if err != nil || l.torn {
			return err
		}
	}
	if l.damage != nil && len(l.blocks) == 0 {
		return fmt.Errorf("nothing in it can be read as results: %w", l.damage)
	}
	l.size = size
	return nil
}

// add reads a block's keys. It fails when the file cannot be read.
func (l *loadedSegment) add(b *block) error {
	keys, err := b.keys()
	switch {
	case readFailed(err):
		return err
	case err != nil:
		l.damaged(fmt.Errorf("in the block at byte %d: %w", b.offset, err))
	default:
		l.blocks = append(l.blocks, loadedBlock{block: b, keys: keys})
	}
	return nil
}

// skipDamage is called where no block starts. It returns where the next one does, or -1.
func (s *segments) skipDamage(l *loadedSegment, at, size int64) (int64, error) {
	next, err := s.nextBlock(l.segment, at+1, size)
	if err != nil {
		return 0, err
	}
	if next < 0 && l.damage == nil && isTorn(l.segment, at, size) {
		l.size, l.torn = at, true
		return -1, nil
	}
	l.damaged(fmt.Errorf("at byte %d: %w", at, blockfile.ErrNoBlock))
	return next, nil
}

func (l *loadedSegment) damaged(err error) {
	if l.damage == nil {
		l.damage = err
	}
}

// readHeader returns where the first block should start. It fails when another version wrote
// the file.
func (s *segments) readHeader(l *loadedSegment, size int64, newest bool) (at int64, err error) {
	start := make([]byte, min(size, int64(len(segmentHeader)+maxVersionDigits)))
	if _, err := l.file.ReadAt(start, 0); err != nil {
		return 0, err
	}
	said := string(start)
	if strings.HasPrefix(said, segmentHeader) {
		return int64(len(segmentHeader)), nil
	}
	if newest && strings.HasPrefix(segmentHeader, said) {
		// The program ended right after it created the file.
		l.torn = size > 0
		return 0, nil
	}
	rest, ours := strings.CutPrefix(said, segmentPrefix)
	version, _, ended := strings.Cut(rest, "\n")
	if _, err := strconv.ParseUint(version, 10, 64); ours && ended && err == nil {
		return 0, fmt.Errorf("another version of the simulator wrote it, in format %s; this version reads format %s", version, segmentVersion)
	}
	l.damaged(errors.New("it does not start like a file of results"))
	return 0, nil
}

// readFailed reports whether the file could not be read, as opposed to being damaged.
func readFailed(err error) bool {
	_, failed := errors.AsType[*fs.PathError](err)
	return failed
}

// isTorn reports whether the bytes from at to the end are what an unfinished write leaves: the
// beginning of a block, or zeros.
func isTorn(seg *segment, at, size int64) bool {
	header := make([]byte, min(size-at, int64(blockFormat.HeaderSize())))
	if _, err := seg.file.ReadAt(header, at); err != nil {
		return false
	}
	if len(header) < blockFormat.HeaderSize() {
		n := min(len(header), len(blockFormat.Magic))
		return string(header[:n]) == blockFormat.Magic[:n] || isZero(header)
	}
	b := &block{}
	if b.parseHeader(header) {
		return at+b.size() > size
	}
	rest := make([]byte, size-at)
	_, err := seg.file.ReadAt(rest, at)
	return err == nil && isZero(rest)
}

func isZero(data []byte) bool {
	return !slices.ContainsFunc(data, func(b byte) bool { return b != 0 })
}

// nextBlock returns -1 when no block follows.
func (s *segments) nextBlock(seg *segment, from, size int64) (int64, error) {
	data := make([]byte, size-from)
	if _, err := seg.file.ReadAt(data, from); err != nil {
		return -1, err
	}
	for at := int64(0); ; at++ {
		i := blockFormat.Next(data[at:])
		if i < 0 {
			return -1, nil
		}
		at += int64(i)
		if _, err := readBlock(seg, from+at, size); err == nil {
			return from + at, nil
		}
	}
}

func (s *segments) repair(logger klog.Logger, l *loadedSegment) error {
	switch {
	case l.torn:
		if err := l.file.Truncate(l.size); err != nil {
			return err
		}
		logger.Info("An unfinished write at the end of a file of results was cut off", "file", l.path, "sizeNow", l.size)
	case l.damage != nil:
		return s.salvage(logger, l)
	}
	return nil
}

const salvageSuffix = ".salvage"

// salvage replaces a damaged segment by a new file of its readable blocks, and keeps the damaged
// one under another name. A file of the segment's name exists at every moment.
func (s *segments) salvage(logger klog.Logger, l *loadedSegment) (err error) {
	saved, err := s.copyBlocks(l)
	if err != nil {
		_ = os.Remove(l.path + salvageSuffix)
		return err
	}
	setAside := s.setAsidePath(l.path)
	err = os.Link(l.path, setAside)
	if err == nil {
		err = os.Rename(l.path+salvageSuffix, l.path)
	}
	if err == nil {
		err = syncDirectory(s.dir)
	}
	if err != nil {
		s.close(saved.segment)
		return err
	}
	cycles := 0
	for _, b := range saved.blocks {
		cycles += len(b.keys)
	}
	logger.Error(l.damage, "A file of results is damaged and was set aside", "file", l.path, "setAside", setAside, "cyclesSaved", cycles)
	s.close(l.segment)
	*l = *saved
	return nil
}

// copyBlocks writes the blocks of a segment to a new file beside it, and waits for the disk.
func (s *segments) copyBlocks(l *loadedSegment) (_ *loadedSegment, err error) {
	to := &loadedSegment{segment: &segment{number: l.number, path: l.path}}
	if to.file, err = s.files.create(l.path + salvageSuffix); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.close(to.segment)
		}
	}()
	if err := to.append([]byte(segmentHeader)); err != nil {
		return nil, err
	}
	for _, b := range l.blocks {
		data := make([]byte, b.size())
		if _, err := l.file.ReadAt(data, b.offset); err != nil {
			return nil, err
		}
		moved := &block{segment: to.segment, offset: to.size, extents: b.extents}
		if err := to.append(data); err != nil {
			return nil, err
		}
		to.blocks = append(to.blocks, loadedBlock{block: moved, keys: b.keys})
	}
	return to, to.file.Sync()
}

func (s *segments) setAsidePath(path string) string {
	for n := 1; ; n++ {
		name := path + setAsideMark + strconv.Itoa(n)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
}

// If the write fails, append truncates the segment to its earlier size, or else marks it full.
func (seg *segment) append(data []byte) error {
	if _, err := seg.file.WriteAt(data, seg.size); err != nil {
		seg.full = seg.file.Truncate(seg.size) != nil
		return err
	}
	seg.size += int64(len(data))
	return nil
}

// makeRoom takes out of use and returns the segments that must go before n more bytes are written.
// The caller discards them once its index has none of their cycles.
func (s *segments) makeRoom(n int64) []*segment {
	var out []*segment
	for len(s.all) > 0 && s.bytes+n > s.maxBytes {
		s.bytes -= s.all[0].size
		out = append(out, s.all[0])
		s.all = s.all[1:]
	}
	return out
}

func (s *segments) takeAll() []*segment {
	all := s.all
	s.all, s.bytes = nil, 0
	return all
}

func (s *segments) write(data []byte, extents [parts]extent) (*block, error) {
	seg, err := s.current()
	if err != nil {
		return nil, err
	}
	b := &block{segment: seg, offset: seg.size, extents: extents}
	if err := seg.append(data); err != nil {
		return nil, err
	}
	s.bytes += int64(len(data))
	return b, nil
}

func (s *segments) segmentBytes() int64 { return min(maxSegmentBytes, s.maxBytes/segmentsPerStore) }

func (s *segments) current() (*segment, error) {
	if n := len(s.all); n > 0 {
		last := s.all[n-1]
		if !last.full && last.size < s.segmentBytes() {
			return last, nil
		}
		if err := s.sync(); err != nil {
			return nil, err
		}
	}
	seg := &segment{number: s.next, path: segmentPath(s.dir, s.next)}
	var err error
	if seg.file, err = s.files.create(seg.path); err != nil {
		return nil, err
	}
	if err := seg.append([]byte(segmentHeader)); err != nil {
		s.discard(seg)
		return nil, err
	}
	if s.durable {
		if err := syncDirectory(s.dir); err != nil {
			s.discard(seg)
			return nil, err
		}
	}
	s.next++
	s.all = append(s.all, seg)
	s.bytes += seg.size
	return seg, nil
}

// sync protects the last segment from a power cut.
func (s *segments) sync() error {
	if !s.durable || len(s.all) == 0 {
		return nil
	}
	return s.all[len(s.all)-1].file.Sync()
}

func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

// discard waits for a running read, then removes the file. Later reads fail.
func (s *segments) discard(seg *segment) {
	s.close(seg)
	_ = os.Remove(seg.path)
}

func (s *segments) close(seg *segment) {
	if seg.file != nil {
		_ = seg.file.Close()
	}
}

func (s *segments) closeAll() {
	for _, seg := range s.all {
		s.close(seg)
	}
}
