package playback

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"kube-scheduler-simulator/simulator/past/replay"
)

// Playback says which recording to play after the start, and when to end.
type Playback struct {
	// File is the recording.
	File string
	// Speed is 1 for real time, and 0 for as fast as possible.
	Speed float64
	// WaitForScheduler lets the scheduler become idle after each change.
	WaitForScheduler bool
	// FollowRecording asks for each decision in the state that the recording has.
	FollowRecording bool
	// Replace permits emptying a cluster that exists already.
	Replace bool
	// Report is a file for the comparison, as text or, when its name ends in .json, as JSON. Empty:
	// no report.
	Report string
	// Exit ends the simulator when the report is written.
	Exit bool
	// FailOnDifference makes that end an error when a placement does not match.
	FailOnDifference bool
}

func (o Playback) name() string { return filepath.Base(o.File) }

// Finish returns ErrDifferent when placements do not match and Playback.FailOnDifference is set.
var ErrDifferent = errors.New("placements differ from the recording")

// File is a recording that is open for reading.
type File struct {
	file      content
	recording *replay.Recording
}

type content interface {
	io.ReaderAt
	io.Closer
}

// Open verifies that the file is a whole recording.
func Open(ctx context.Context, path string) (*File, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("opening the recording: %w", err)
	}
	opened, err := openFile(ctx, file)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", path, err), file.Close())
	}
	return opened, nil
}

func openFile(ctx context.Context, file *os.File) (*File, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, fmt.Errorf("reading the recording: %w", err)
	}
	opened, err := newFile(file, info.Size())
	if err != nil {
		return nil, err
	}
	return opened, opened.recording.Verify(ctx)
}

func newFile(file content, size int64) (*File, error) {
	recording, err := replay.Open(file, size)
	if err != nil {
		return nil, err
	}
	return &File{file, recording}, nil
}

// Close closes the file. It is safe to call on nil.
func (f *File) Close() error {
	if f == nil {
		return nil
	}
	return f.file.Close()
}

// Finish waits for the end of the loaded recording, and writes the report.
func (s *Session) Finish(ctx context.Context, o Playback) error {
	player, err := s.loaded()
	if err != nil {
		return err
	}
	if err := player.Wait(ctx); err != nil {
		return err
	}
	report, err := player.Report()
	if err != nil {
		return err
	}
	if err := writeReport(o.Report, report); err != nil {
		return err
	}
	if c := report.Comparison.Counts; o.FailOnDifference && c.Matching != c.Compared {
		return fmt.Errorf("%w: %d of %d match", ErrDifferent, c.Matching, c.Compared)
	}
	return nil
}

func writeReport(path string, report replay.Report) (err error) {
	if path == "" {
		return nil
	}
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if strings.HasSuffix(path, ".json") {
		return report.WriteJSON(file)
	}
	return report.WriteText(file)
}
