package smtp

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// narrow is a connection whose kernel takes no more than so many bytes, and
// then breaks. It notes the write deadlines that it was given.
type narrow struct {
	net.Conn
	room      int
	deadlines []time.Time
}

var errBroken = errors.New("broken")

func (n *narrow) Write(b []byte) (int, error) {
	if len(b) > n.room {
		written := n.room
		n.room = 0
		return written, errBroken
	}
	n.room -= len(b)
	return len(b), nil
}

func (n *narrow) SetWriteDeadline(deadline time.Time) error {
	n.deadlines = append(n.deadlines, deadline)
	return nil
}

func (n *narrow) Close() error { return nil }

func TestWireKnowsWhetherTheDotWasWhole(t *testing.T) {
	t.Parallel()
	for room, whole := range []bool{0: false, 1: false, 4: false, 5: true, 6: true} {
		w := newWire(&narrow{room: room}, time.Second, func() {})
		err := w.writeDot(w, endOfData)
		assert.Equal(t, whole, w.dotDone, "room for %d", room)
		assert.Equal(t, whole, err == nil)
	}
}

func TestWireWritesInChunks(t *testing.T) {
	t.Parallel()
	w := newWire(&narrow{room: 2*chunk + 7}, time.Second, func() {})
	n, err := w.Write(make([]byte, 3*chunk))
	require.ErrorIs(t, err, errBroken)
	assert.Equal(t, 2*chunk+7, n)
	assert.False(t, w.dotDone, "a body is no dot")
}

// A server that is slow, but reads, is waited for: each chunk has the whole
// time.
func TestWireRenewsTheDeadlineOnProgress(t *testing.T) {
	t.Parallel()
	conn := &narrow{room: 5 * chunk}
	w := newWire(conn, time.Hour, func() {})
	began := time.Now()
	_, err := w.Write(make([]byte, 4*chunk+1))
	require.NoError(t, err)
	require.Len(t, conn.deadlines, 5)
	for i, deadline := range conn.deadlines {
		assert.False(t, deadline.Before(began.Add(time.Hour)), "chunk %d", i)
	}
}

func TestOthersCannotMoveTheDeadline(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer there.Close()
	w := newWire(here, time.Second, func() {})
	defer w.cut()
	w.begin(10 * time.Millisecond)
	require.NoError(t, w.SetDeadline(time.Time{}), "as go-smtp does after each command")
	require.NoError(t, w.SetReadDeadline(time.Time{}))
	require.NoError(t, w.SetWriteDeadline(time.Time{}))
	_, err := w.Read(make([]byte, 1))
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
	assert.True(t, timeout.Timeout())
}

func TestHurryNeverExtends(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer there.Close()
	w := newWire(here, time.Second, func() {})
	defer w.cut()
	w.begin(10 * time.Millisecond)
	w.hurry(time.Hour)
	_, err := w.Read(make([]byte, 1))
	var timeout net.Error
	require.ErrorAs(t, err, &timeout)
}

func TestCutIsToldOnce(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	defer there.Close()
	told := 0
	w := newWire(here, time.Second, func() { told++ })
	w.cut()
	w.cut()
	require.NoError(t, w.Close())
	assert.Equal(t, 1, told)
}

// A write that begins after a step was hurried does not get more time again.
func TestHurriedWireStaysHurried(t *testing.T) {
	t.Parallel()
	here, there := net.Pipe()
	t.Cleanup(func() { _, _ = here.Close(), there.Close() })
	conn := &narrow{Conn: here, room: 100}
	w := newWire(conn, time.Hour, func() {})
	w.begin(time.Hour)
	w.hurry(time.Minute)
	_, err := w.Write([]byte("x"))
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(time.Minute), conn.deadlines[0], 30*time.Second)

	w.begin(time.Hour)
	_, err = w.Write([]byte("x"))
	require.NoError(t, err)
	assert.WithinDuration(t, time.Now().Add(time.Hour), conn.deadlines[1], 30*time.Second, "the next step has its own time")
}
