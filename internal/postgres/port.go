package postgres

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// host is the only address on which a server listens.
const host = "127.0.0.1"

// Ports are chosen below those that systems give to outgoing connections
// (32768 on Linux, 49152 elsewhere), so that nothing takes the port of a server
// that is down and shall come back.
const (
	lowestPort  = 15000
	highestPort = 32000
)

// freePort returns a port that nobody listens on at the moment.
func freePort() (int, error) {
	for range 100 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		if isFree(port) {
			return port, nil
		}
	}
	return 0, errors.New("postgres: no free port on " + host)
}

func isFree(port int) bool {
	listener, err := net.Listen("tcp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return false
	}
	return listener.Close() == nil
}
