package ticketpdf

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"

	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/types"
)

// A serializer writes a PDF that pdfcpu holds in memory, in an order that the
// content alone decides. pdfcpu's own writer numbers and orders the objects as
// Go iterates over maps, and writes the time and an ID made from it.
type serializer struct {
	ctx *model.Context
	// numbers are those of the objects in the file, by pdfcpu's.
	numbers map[int]int
	// streams are the numbers of streams that refer to nothing, by digest: a
	// font or a logo that several files have is written once.
	streams map[[sha256.Size]byte]int
	// found are the objects in the order of their numbers, from 1.
	found []types.Object
}

// serialize returns what can be reached from the catalogue and the document
// information.
func serialize(ctx *model.Context, version model.Version) ([]byte, error) {
	s := serializer{ctx: ctx, numbers: map[int]int{}, streams: map[[sha256.Size]byte]int{}}
	trailer := types.Dict{"Root": *ctx.Root}
	if ctx.Info != nil {
		trailer["Info"] = *ctx.Info
	}
	renumbered, err := s.renumber(trailer)
	if err != nil {
		return nil, err
	}
	var file bytes.Buffer
	fmt.Fprintf(&file, "%%PDF-%s\n%%\xe2\xe3\xcf\xd3\n", version)
	offsets, err := s.writeObjects(&file)
	if err != nil {
		return nil, err
	}
	writeTrailer(&file, renumbered.(types.Dict), offsets)
	return file.Bytes(), nil
}

// writeObjects writes the objects found so far, and those found on the way, and
// returns where each begins.
func (s *serializer) writeObjects(file *bytes.Buffer) (offsets []int, err error) {
	for i := 0; i < len(s.found); i++ {
		object, err := s.renumber(s.found[i])
		if err != nil {
			return nil, err
		}
		s.found[i] = nil // It was written.
		offsets = append(offsets, file.Len())
		fmt.Fprintf(file, "%d 0 obj\n", i+1)
		if stream, ok := object.(types.StreamDict); ok {
			fmt.Fprintf(file, "%s\nstream\n%s\nendstream", stream.PDFString(), stream.Raw)
		} else {
			file.WriteString(text(object))
		}
		file.WriteString("\nendobj\n")
		if file.Len() > MaxMerged {
			return nil, fmt.Errorf("more than %d bytes, which is the limit", MaxMerged)
		}
	}
	return offsets, nil
}

func text(object types.Object) string {
	if object == nil {
		return "null"
	}
	return object.PDFString()
}

// renumber returns an object in which all references have the numbers of the
// file. Dictionaries are taken in the order of their keys.
func (s *serializer) renumber(object types.Object) (types.Object, error) {
	var err error
	switch object := object.(type) {
	case types.IndirectRef:
		return s.reference(object)
	case types.StreamDict:
		dict, err := s.renumber(direct(object))
		if err != nil {
			return nil, err
		}
		return types.StreamDict{Dict: dict.(types.Dict), Raw: object.Raw}, nil
	case types.Dict:
		renumbered := types.Dict{}
		for _, key := range slices.Sorted(maps.Keys(object)) {
			if renumbered[key], err = s.renumber(object[key]); err != nil {
				return nil, err
			}
		}
		return renumbered, nil
	case types.Array:
		renumbered := make(types.Array, len(object))
		for i := range object {
			if renumbered[i], err = s.renumber(object[i]); err != nil {
				return nil, err
			}
		}
		return renumbered, nil
	case nil, types.Name, types.Integer, types.Float, types.Boolean, types.StringLiteral, types.HexLiteral:
		return object, nil
	}
	return nil, fmt.Errorf("refers to a %T", object) // A stream of the file's own structure.
}

// direct returns a stream's dictionary with the length in it.
func direct(stream types.StreamDict) types.Dict {
	dict := maps.Clone(stream.Dict)
	dict["Length"] = types.Integer(len(stream.Raw))
	return dict
}

// reference returns a reference of the file, to an object that is put on the
// list when it is met for the first time.
func (s *serializer) reference(to types.IndirectRef) (types.Object, error) {
	old := to.ObjectNumber.Value()
	if number, known := s.numbers[old]; known {
		return *types.NewIndirectRef(number, 0), nil
	}
	object, err := s.ctx.Dereference(to)
	if err != nil {
		return nil, err
	}
	s.numbers[old] = s.number(object)
	return *types.NewIndirectRef(s.numbers[old], 0), nil
}

func (s *serializer) number(object types.Object) int {
	stream, ok := object.(types.StreamDict)
	if !ok || refers(direct(stream)) {
		s.found = append(s.found, object)
		return len(s.found)
	}
	digest := sha256.Sum256(append([]byte(direct(stream).PDFString()), stream.Raw...))
	if _, known := s.streams[digest]; !known {
		s.found = append(s.found, object)
		s.streams[digest] = len(s.found)
	}
	return s.streams[digest]
}

// refers reports whether there is a reference in an object.
func refers(object types.Object) bool {
	switch object := object.(type) {
	case types.IndirectRef:
		return true
	case types.Dict:
		return slices.ContainsFunc(slices.Collect(maps.Values(object)), refers)
	case types.Array:
		return slices.ContainsFunc(object, refers)
	}
	return false
}

// writeTrailer writes the cross-reference table and what follows it (ISO
// 32000-1, 7.5.4 and 7.5.5).
func writeTrailer(file *bytes.Buffer, trailer types.Dict, offsets []int) {
	sum := sha256.Sum256(file.Bytes())
	id := types.HexLiteral(fmt.Sprintf("%X", sum[:16]))
	trailer["ID"] = types.Array{id, id}
	trailer["Size"] = types.Integer(len(offsets) + 1)
	start := file.Len()
	fmt.Fprintf(file, "xref\n0 %d\n0000000000 65535 f \n", len(offsets)+1)
	for _, offset := range offsets {
		fmt.Fprintf(file, "%010d 00000 n \n", offset)
	}
	fmt.Fprintf(file, "trailer\n%s\nstartxref\n%d\n%%%%EOF\n", trailer.PDFString(), start)
}
