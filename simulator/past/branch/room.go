package branch

import (
	"bufio"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"kube-scheduler-simulator/simulator/host/datadir"
)

// The needs of a branch with an empty cluster, as measured, and those per byte of its initial
// state.
const (
	// diskNeeded is mostly the log that etcd allocates in advance.
	diskNeeded    = 160 << 20
	diskPerByte   = 4
	memoryNeeded  = 400 << 20
	memoryPerByte = 8
	// diskReserve, or a tenth of the disk if that is less, stays free for the trunk.
	diskReserve = 1 << 30
)

// Room is what a machine has left.
type Room struct {
	// Disk and DiskTotal are bytes of the disk that holds the branches.
	Disk, DiskTotal uint64
	// Memory is in bytes; 0 when the system does not tell.
	Memory uint64
}

// RoomOf returns the room of this machine. The directory exists.
func RoomOf(dir string) (Room, error) {
	free, total, err := datadir.Space(dir)
	return Room{Disk: free, DiskTotal: total, Memory: memoryLeft("/proc/meminfo", "/sys/fs/cgroup")}, err
}

// memoryLeft returns what the machine has left, or the control group of this process if that is
// less; 0 when neither is known. Without a limit, memory.max is "max". See
// Documentation/admin-guide/cgroup-v2.rst of Linux.
func memoryLeft(meminfo, cgroup string) uint64 {
	left := uint64(0)
	if file, err := os.Open(meminfo); err == nil {
		defer file.Close()
		for lines := bufio.NewScanner(file); lines.Scan(); {
			if text, ok := strings.CutPrefix(lines.Text(), "MemAvailable:"); ok {
				kB, _ := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(text, "kB")), 10, 64)
				left = kB << 10
			}
		}
	}
	most, limited := readNumber(filepath.Join(cgroup, "memory.max"))
	used, known := readNumber(filepath.Join(cgroup, "memory.current"))
	if !limited || !known {
		return left
	}
	ofGroup := most - min(used, most)
	if left == 0 {
		return ofGroup
	}
	return min(left, ofGroup)
}

func readNumber(file string) (uint64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil
}

// state is the size of the initial state in bytes.
func (b *Branches) checkRoom(state int64) error {
	room, err := b.opts.Room(b.opts.Dir)
	if err != nil {
		return err
	}
	reserve := min(diskReserve, room.DiskTotal/10)
	if needed := diskNeeded + diskPerByte*uint64(state); room.Disk < needed+reserve {
		return refuse(NoRoom, "the branch needs %d MiB on the disk of %s, of which %d MiB are free and %d MiB stay reserved: make room, or delete another branch",
			needed>>20, b.opts.Dir, room.Disk>>20, reserve>>20)
	}
	if needed := memoryNeeded + memoryPerByte*uint64(state); room.Memory != 0 && room.Memory < needed {
		return refuse(NoRoom, "the branch needs %d MiB of memory, and %d MiB are free: stop another branch, or make room", needed>>20, room.Memory>>20)
	}
	return nil
}

// bytesOf returns the size of a directory on disk. Files that disappear meanwhile do not count.
func bytesOf(dir string) int64 {
	var total int64
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			total += stat.Blocks * 512 // of 512 bytes on every system
		}
		return nil
	})
	return total
}

// memoryOf returns the resident bytes of a process, or 0.
func memoryOf(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseInt(fields[1], 10, 64)
	return pages * int64(os.Getpagesize())
}
