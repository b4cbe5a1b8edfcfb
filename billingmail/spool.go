package billingmail

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
)

// A spool holds the entries of a lote in a temporary file: a lote is read once,
// in a transaction that ends before any mail goes out, and never held in memory.
// The file has no name where the system allows that, and is gone with the
// process in any case.
type spool struct {
	file   *os.File
	buffer *bufio.Writer
	encode *json.Encoder
	last   int64 // the last entry's member
	count  int
}

// errOrder is what a reader is told that does not keep its word.
var errOrder = errors.New("billingmail: the LoteReader must give each member once, by ascending SocioID")

func newSpool() (*spool, error) {
	file, err := os.CreateTemp("", "buzon-lote-*")
	if err != nil {
		return nil, fmt.Errorf("billingmail: spool: %w", err)
	}
	_ = os.Remove(file.Name()) // Not on Windows, where close does it.
	buffer := bufio.NewWriterSize(file, 64<<10)
	return &spool{file: file, buffer: buffer, encode: json.NewEncoder(buffer)}, nil
}

// add writes an entry.
func (s *spool) add(entry Entry) error {
	switch {
	case entry.SocioID < 1 || entry.SocioID > maxInteger:
		return fmt.Errorf("billingmail: the LoteReader gave SocioID %d; want 1 to %d", entry.SocioID, maxInteger)
	case entry.SocioID <= s.last:
		return errOrder
	}
	s.last = entry.SocioID
	s.count++
	return s.encode.Encode(entry)
}

// entries reads them back, from the first. It can be asked again, one reading at
// a time.
func (s *spool) entries() iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		if err := errors.Join(s.buffer.Flush(), rewind(s.file)); err != nil {
			yield(Entry{}, fmt.Errorf("billingmail: spool: %w", err))
			return
		}
		decoder := json.NewDecoder(bufio.NewReaderSize(s.file, 64<<10))
		for range s.count {
			var entry Entry
			if err := decoder.Decode(&entry); err != nil {
				yield(Entry{}, fmt.Errorf("billingmail: spool: %w", err))
				return
			}
			if !yield(entry, nil) {
				return
			}
		}
	}
}

func rewind(file *os.File) error {
	_, err := file.Seek(0, io.SeekStart)
	return err
}

// close removes the file.
func (s *spool) close() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name())
}
