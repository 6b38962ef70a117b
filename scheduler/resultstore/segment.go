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
)

// A segment is a file of blocks. Blocks are only appended, and the oldest segment is
// deleted as a whole when there is no more room. That frees space at once and
// rewrites nothing, and a kill leaves at worst a torn block at the end of the newest
// file. Everything has a checksum, so any damage is detected and costs no more than
// its block. A B+tree such as bbolt's would need several times the CPU per write for
// the free pages between blocks of any length, never shrinks, and cannot detect a
// damaged page.
type segment struct {
	number uint64
	path   string
	file   file
	size   int64
	// full: no more blocks are appended, because the file may end with a partial
	// one.
	full bool
}

// file has the methods of *os.File that a segment needs.
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

// diskFiles is the operating system's file system.
type diskFiles struct{}

func (diskFiles) create(path string) (file, error) {
	return os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
}

func (diskFiles) open(path string) (file, error) { return os.OpenFile(path, os.O_RDWR, 0) }

const (
	segmentHeader = "kube-scheduler-simulator results 1\n"
	segmentSuffix = ".results"
	// setAsideMark is followed by a number in the name of a file that was set aside. The
	// newest maxSetAside of them are kept for inspection.
	setAsideMark = ".corrupt-"
	maxSetAside  = 4

	// The oldest segment is about one segmentsPerStore-th of the store;
	// maxSegmentBytes bounds its file.
	segmentsPerStore = 16
	maxSegmentBytes  = 64 << 20
)

// segments are the files of a directory, oldest first; blocks are appended to
// the last. Its methods are called by one goroutine at a time.
type segments struct {
	dir      string
	maxBytes int64
	durable  bool
	files    fileSystem

	all   []*segment
	bytes int64
	// next is the number of the next segment.
	next uint64
}

func segmentPath(dir string, number uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%08d%s", number, segmentSuffix))
}

// load opens the segments of the directory and returns their blocks in the order in
// which they were written. It sets damaged files aside, with one line in the log each,
// and keeps the readable part of them.
func (s *segments) load(ctx context.Context, logger klog.Logger) ([]loadedBlock, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of results: %w", err)
	}
	numbers, err := s.numbers()
	if err != nil {
		return nil, fmt.Errorf("reading the directory of results: %w", err)
	}
	var out []loadedBlock
	for _, number := range numbers {
		if ctx.Err() != nil {
			s.closeAll()
			return nil, fmt.Errorf("reading results: %w", ctx.Err())
		}
		s.next = number + 1
		seg := &segment{number: number, path: segmentPath(s.dir, number)}
		blocks, damage := s.loadSegment(seg)
		if damage != nil {
			blocks = s.salvage(logger, seg, blocks, damage)
		}
		if len(blocks) == 0 {
			if damage == nil {
				s.discard(seg)
			}
			continue
		}
		s.all = append(s.all, seg)
		s.bytes += seg.size
		out = append(out, blocks...)
	}
	return out, nil
}

// numbers lists the segments in the directory and removes the files of an interrupted
// salvage.
func (s *segments) numbers() ([]uint64, error) {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return nil, err
	}
	var out []uint64
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), segmentSuffix+salvageSuffix) {
			_ = os.Remove(filepath.Join(s.dir, e.Name()))
		}
		digits, ours := strings.CutSuffix(e.Name(), segmentSuffix)
		number, err := strconv.ParseUint(digits, 10, 32)
		if ours && err == nil && segmentPath(s.dir, number) == filepath.Join(s.dir, e.Name()) {
			out = append(out, number)
		}
	}
	slices.Sort(out)
	return out, nil
}

// loadedBlock is a block with the keys of its cycles.
type loadedBlock struct {
	*block
	keys []key
}

// loadSegment opens a segment and reads the keys of its blocks. damage is non-nil when
// some bytes of the file belong to no readable block.
func (s *segments) loadSegment(seg *segment) (blocks []loadedBlock, damage error) {
	info, err := os.Lstat(seg.path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	if seg.file, err = s.files.open(seg.path); err != nil {
		return nil, err
	}
	size := info.Size()
	header := make([]byte, len(segmentHeader))
	if _, err := seg.file.ReadAt(header, 0); err != nil || string(header) != segmentHeader {
		return nil, errors.New("not a file of results, or one of another version")
	}
	at := int64(len(segmentHeader))
	for at < size {
		b, err := readBlock(seg, at, size)
		if err != nil {
			damage = fmt.Errorf("at byte %d: %w", at, err)
			if at = s.nextBlock(seg, at+1, size); at < 0 {
				break
			}
			continue
		}
		keys, err := b.keys()
		if err != nil {
			damage = fmt.Errorf("in the block at byte %d: %w", at, err)
		} else {
			blocks = append(blocks, loadedBlock{block: b, keys: keys})
		}
		at += b.size()
	}
	seg.size = at
	return blocks, damage
}

// nextBlock looks for the next block in a damaged segment and returns -1 when there
// is none.
func (s *segments) nextBlock(seg *segment, from, size int64) int64 {
	data := make([]byte, size-from)
	if _, err := seg.file.ReadAt(data, from); err != nil {
		return -1
	}
	for at := int64(0); ; at++ {
		i := blockFormat.Next(data[at:])
		if i < 0 {
			return -1
		}
		at += int64(i)
		if _, err := readBlock(seg, from+at, size); err == nil {
			return from + at
		}
	}
}

const salvageSuffix = ".salvage"

// salvage renames a damaged segment and replaces it with a new file of its readable
// blocks. It returns those blocks.
func (s *segments) salvage(logger klog.Logger, seg *segment, blocks []loadedBlock, damage error) []loadedBlock {
	cycles := 0
	for _, b := range blocks {
		cycles += len(b.keys)
	}
	saved, err := s.copyBlocks(seg, blocks)
	if err != nil {
		logger.Error(err, "Cannot save the readable part of a damaged file of results", "file", seg.path)
		cycles, saved = 0, nil
	}
	setAside := s.setAsidePath(seg.path)
	if err := os.Rename(seg.path, setAside); err != nil {
		logger.Error(err, "Cannot set a damaged file of results aside; it is ignored", "file", seg.path)
		s.close(seg)
		_ = os.Remove(seg.path + salvageSuffix)
		return nil
	}
	logger.Error(damage, "A file of results is damaged and was set aside", "file", seg.path, "setAside", setAside, "cyclesSaved", cycles)
	s.forgetSetAside()
	s.close(seg)
	if len(saved) == 0 {
		return nil
	}
	if err := os.Rename(seg.path+salvageSuffix, seg.path); err != nil {
		logger.Error(err, "Cannot replace the damaged results with the saved ones", "file", seg.path)
		s.close(saved[0].segment)
		return nil
	}
	*seg = *saved[0].segment
	for i := range saved {
		saved[i].segment = seg
	}
	return saved
}

// copyBlocks writes blocks to a new file beside the segment's.
func (s *segments) copyBlocks(seg *segment, blocks []loadedBlock) ([]loadedBlock, error) {
	if len(blocks) == 0 {
		return nil, nil
	}
	to := &segment{number: seg.number, path: seg.path}
	var err error
	if to.file, err = s.files.create(seg.path + salvageSuffix); err != nil {
		return nil, err
	}
	if err := to.append([]byte(segmentHeader)); err != nil {
		s.close(to)
		return nil, err
	}
	out := make([]loadedBlock, len(blocks))
	for i, b := range blocks {
		data := make([]byte, b.size())
		_, err := seg.file.ReadAt(data, b.offset)
		moved := &block{segment: to, offset: to.size, extents: b.extents}
		if err == nil {
			err = to.append(data)
		}
		if err != nil {
			s.close(to)
			return nil, err
		}
		out[i] = loadedBlock{block: moved, keys: b.keys}
	}
	return out, nil
}

// setAsidePath returns an unused name.
func (s *segments) setAsidePath(path string) string {
	for n := 1; ; n++ {
		name := path + setAsideMark + strconv.Itoa(n)
		if _, err := os.Lstat(name); errors.Is(err, fs.ErrNotExist) {
			return name
		}
	}
}

// forgetSetAside removes all but the newest maxSetAside of the files that were set
// aside.
func (s *segments) forgetSetAside() {
	paths, _ := filepath.Glob(filepath.Join(s.dir, "*"+segmentSuffix+setAsideMark+"*"))
	age := func(path string) int64 {
		info, err := os.Lstat(path)
		if err != nil {
			return 0
		}
		return info.ModTime().UnixNano()
	}
	slices.SortStableFunc(paths, func(a, b string) int { return int(max(-1, min(1, age(a)-age(b)))) })
	for len(paths) > maxSetAside {
		_ = os.RemoveAll(paths[0])
		paths = paths[1:]
	}
}

// append writes at the end. If the write fails, it truncates the segment to its
// earlier size, or else marks it full.
func (seg *segment) append(data []byte) error {
	if _, err := seg.file.WriteAt(data, seg.size); err != nil {
		seg.full = seg.file.Truncate(seg.size) != nil
		return err
	}
	seg.size += int64(len(data))
	return nil
}

// makeRoom returns the segments that must be discarded before n more bytes are
// written. They are no longer in use; the caller discards them once its index has
// none of their cycles.
func (s *segments) makeRoom(n int64) []*segment {
	var out []*segment
	for len(s.all) > 0 && s.bytes+n > s.maxBytes {
		s.bytes -= s.all[0].size
		out = append(out, s.all[0])
		s.all = s.all[1:]
	}
	return out
}

// takeAll returns every segment; none of them is in use afterwards.
func (s *segments) takeAll() []*segment {
	all := s.all
	s.all, s.bytes = nil, 0
	return all
}

// write appends a block and returns its location.
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

// current returns the segment to write to.
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

// discard waits for a running read, then closes and removes a segment's file. Later
// reads fail.
func (s *segments) discard(seg *segment) {
	s.close(seg)
	_ = os.Remove(seg.path)
}

func (s *segments) close(seg *segment) {
	if seg.file != nil {
		_ = seg.file.Close()
	}
}

// closeAll closes every file without removing it.
func (s *segments) closeAll() {
	for _, seg := range s.all {
		s.close(seg)
	}
}
