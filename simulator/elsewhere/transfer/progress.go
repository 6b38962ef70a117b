package transfer

import (
	"sync"
	"time"
)

// progressEvery is the shortest time between two reports within a phase.
const progressEvery = 100 * time.Millisecond

// meter reports the progress of an import. Methods are safe for concurrent use.
type meter struct {
	now  func() time.Time
	tell func(Progress)

	mu      sync.Mutex
	current Progress
	told    time.Time
}

func (m *meter) begin(phase Phase, total int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current = Progress{Phase: phase, Total: total}
	m.say()
}

// turn goes on with another phase of the same count: what is left is left in all of them.
func (m *meter) turn(phase Phase) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current.Phase, m.current.Kind = phase, ""
	m.say()
}

// expect adds n writes that have become necessary.
func (m *meter) expect(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current.Total += n
}

func (m *meter) at(kind string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.current.Kind != kind {
		m.current.Kind = kind
		m.say()
	}
}

// step adds n objects that were read, or n writes that are done.
func (m *meter) step(n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.current.Done += n
	if m.current.Done == m.current.Total || m.now().Sub(m.told) >= progressEvery {
		m.say()
	}
}

func (m *meter) say() {
	m.told = m.now()
	m.tell(m.current)
}
