package smtptest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
)

// A RawPeer is a server whose every byte is scripted: for what a complete
// server would never do. Each connection runs the script once, in a goroutine
// of its own, and is closed when the script returns.
type RawPeer struct {
	listener *trackingListener
	script   func(*Conversation)
	closing  chan struct{}
	running  sync.WaitGroup
	close    func() error

	mu       sync.Mutex
	commands []string
	data     [][]byte
	faults   []error
}

// NewRawPeer starts a peer on a free port of 127.0.0.1. It listens when
// NewRawPeer returns.
func NewRawPeer(script func(*Conversation)) (*RawPeer, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("smtptest: start raw peer: %w", err)
	}
	p := &RawPeer{listener: newTrackingListener(listener), script: script, closing: make(chan struct{})}
	p.close = sync.OnceValue(p.shutdown)
	p.running.Go(p.serve)
	return p, nil
}

func (p *RawPeer) serve() {
	for number := 1; ; number++ {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		p.running.Go(func() {
			defer conn.Close()
			p.script(newConversation(p, conn, number))
		})
	}
}

// Addr returns the address that the peer listens on.
func (p *RawPeer) Addr() string { return p.listener.Addr().String() }

// Port returns the port of [RawPeer.Addr].
func (p *RawPeer) Port() int { return p.listener.Addr().(*net.TCPAddr).Port }

// Connections returns how many connections the peer has accepted so far.
func (p *RawPeer) Connections() int { return p.listener.total() }

// WaitForNoConnections waits until every connection has been closed. The error
// is ctx's.
func (p *RawPeer) WaitForNoConnections(ctx context.Context) error {
	if err := p.listener.waitForNone(ctx); err != nil {
		return fmt.Errorf("smtptest: wait for the last connection: %w", err)
	}
	return nil
}

// Commands returns the lines that the peer read as commands so far, of all
// connections, in the order they came.
func (p *RawPeer) Commands() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]string(nil), p.commands...)
}

// Data returns the complete messages that the peer read, those ended by a final
// dot, dots unstuffed.
func (p *RawPeer) Data() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([][]byte(nil), p.data...)
}

// Err returns what went otherwise than the script expected: commands out of
// order, connections lost where one more command was expected. A connection
// that ends while [Conversation.Stall] or [Conversation.Serve] runs is no
// fault.
func (p *RawPeer) Err() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return errors.Join(p.faults...)
}

// Close stops listening, cuts every connection and returns when all of the
// scripts have ended. Further calls return the first one's error.
func (p *RawPeer) Close() error { return p.close() }

func (p *RawPeer) shutdown() error {
	close(p.closing)
	err := p.listener.closeAll()
	p.running.Wait()
	return err
}

func (p *RawPeer) addCommand(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.commands = append(p.commands, line)
}

func (p *RawPeer) addData(data []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.data = append(p.data, data)
}

func (p *RawPeer) addFault(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, err)
}
