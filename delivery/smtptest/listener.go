package smtptest

import (
	"context"
	"errors"
	"net"
	"sync"
)

// trackingListener knows the connections that it accepted, so that they can be
// counted, and cut when the server closes.
type trackingListener struct {
	net.Listener

	mu       sync.Mutex
	accepted int
	conns    map[*trackedConn]struct{}
	closed   bool
	changed  chan struct{} // closed and replaced at every change
}

func newTrackingListener(l net.Listener) *trackingListener {
	return &trackingListener{Listener: l, conns: make(map[*trackedConn]struct{}), changed: make(chan struct{})}
}

// Accept implements net.Listener.
func (l *trackingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return nil, errors.Join(net.ErrClosed, conn.Close())
	}
	tracked := &trackedConn{Conn: conn, listener: l}
	l.conns[tracked] = struct{}{}
	l.accepted++
	return tracked, nil
}

func (l *trackingListener) total() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.accepted
}

func (l *trackingListener) open() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.conns)
}

func (l *trackingListener) waitForNone(ctx context.Context) error {
	for {
		l.mu.Lock()
		open, changed := len(l.conns), l.changed
		l.mu.Unlock()
		if open == 0 {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (l *trackingListener) forget(conn *trackedConn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.conns, conn)
	close(l.changed)
	l.changed = make(chan struct{})
}

// closeAll stops listening and cuts every connection.
func (l *trackingListener) closeAll() error {
	err := l.Close()
	l.mu.Lock()
	l.closed = true
	conns := make([]*trackedConn, 0, len(l.conns))
	for conn := range l.conns {
		conns = append(conns, conn)
	}
	l.mu.Unlock()
	for _, conn := range conns {
		_ = conn.Close() // what the client closed first is no fault
	}
	return err
}

type trackedConn struct {
	net.Conn
	listener *trackingListener
	once     sync.Once
}

// Close implements net.Conn.
func (c *trackedConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { c.listener.forget(c) })
	return err
}
