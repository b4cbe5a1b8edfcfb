package postgres

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// quotedLines is how much of a log an error quotes.
const quotedLines = 12

// openLog opens the server's log for appending, and returns how long it was.
func (s *Server) openLog() (*os.File, int64, error) {
	file, err := os.OpenFile(s.logPath(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, 0, errors.Join(err, file.Close())
	}
	return file, info.Size(), nil
}

func (s *Server) logPath() string { return filepath.Join(s.folder, logName) }

// logSince returns the last lines of what the log gained after an offset.
func (s *Server) logSince(offset int64) string {
	file, err := os.Open(s.logPath())
	if err != nil {
		return "(its log cannot be read)"
	}
	defer file.Close()
	if _, err := file.Seek(offset, io.SeekStart); err != nil {
		return "(its log cannot be read)"
	}
	text, _ := io.ReadAll(file)
	return lastLines(text)
}

func lastLines(text []byte) string {
	trimmed := strings.TrimSpace(string(text))
	if trimmed == "" {
		return "(no output)"
	}
	lines := strings.Split(trimmed, "\n")
	return strings.Join(lines[max(0, len(lines)-quotedLines):], "\n")
}
