package smtp

import (
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// chunk is how many bytes one write deadline covers: RFC 5321 section 4.5.3.2.5
// counts its 3 minutes "while awaiting the completion of each TCP SEND call to
// transmit a chunk of data". It is also what a TLS record holds.
const chunk = 16 << 10

// A wire is the TCP connection, beneath TLS. It owns the deadlines: go-smtp
// sets one for each command and clears it afterwards, has none while the body
// is written, and would lift one that a cancellation has set.
type wire struct {
	net.Conn
	block time.Duration // for the peer to take one chunk
	cut   func()        // closes the connection; may be called at any time, and again

	waited  time.Duration // how long the present step may wait for the peer
	began   time.Time     // when the present step began
	ending  bool          // whether what is written now is the final dot
	dotDone bool          // whether the kernel has taken the final dot whole

	hurried atomic.Pointer[time.Time] // what hurry has set for the present step
}

// newWire makes a wire of conn. closed is called once, when it is cut.
func newWire(conn net.Conn, block time.Duration, closed func()) *wire {
	w := &wire{Conn: conn, block: block}
	w.cut = sync.OnceFunc(func() {
		_ = conn.Close() // nothing is left to be done about it
		closed()
	})
	return w
}

// begin starts a step in which whatever is read must arrive within timeout.
func (w *wire) begin(timeout time.Duration) {
	w.began, w.waited = time.Now(), timeout
	w.hurried.Store(nil)
	_ = w.Conn.SetReadDeadline(w.began.Add(timeout)) // fails on a cut wire only, and then so does the read
}

// hurry lets the step that is going on take no more than grace from now. It may
// be called from another goroutine than the others.
func (w *wire) hurry(grace time.Duration) {
	deadline := time.Now().Add(grace)
	if limit := w.began.Add(w.waited); limit.Before(deadline) {
		deadline = limit
	}
	w.hurried.Store(&deadline) // for a write that is about to begin
	_ = w.Conn.SetDeadline(deadline)
}

// Write implements net.Conn. Each chunk gets the whole time to be taken, so
// that a slow peer is waited for as long as it goes on.
func (w *wire) Write(b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var written int
		_ = w.Conn.SetWriteDeadline(w.writeDeadline())
		written, err = w.Conn.Write(b[n:min(n+chunk, len(b))])
		n += written
	}
	if w.ending {
		w.dotDone = err == nil
	}
	return n, err
}

func (w *wire) writeDeadline() time.Time {
	deadline := time.Now().Add(w.block)
	if hurried := w.hurried.Load(); hurried != nil && hurried.Before(deadline) {
		return *hurried
	}
	return deadline
}

// writeDot writes the final dot to top, which is the connection or TLS above it,
// and notes whether the kernel has taken all of what that wrote: five bytes, or
// the one record of TLS that holds them. Had any of it been left behind, the
// peer could not read the dot.
func (w *wire) writeDot(top io.Writer, dot string) error {
	w.ending, w.dotDone = true, false
	_, err := io.WriteString(top, dot)
	w.ending = false
	return err
}

// Close implements net.Conn.
func (w *wire) Close() error {
	w.cut()
	return nil
}

// SetDeadline implements net.Conn. It does nothing: see [wire].
func (w *wire) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.Conn. It does nothing: see [wire].
func (w *wire) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.Conn. It does nothing: see [wire].
func (w *wire) SetWriteDeadline(time.Time) error { return nil }
