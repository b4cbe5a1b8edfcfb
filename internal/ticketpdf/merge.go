package ticketpdf

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/pdfcpu/pdfcpu/pkg/api"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu"
	"github.com/pdfcpu/pdfcpu/pkg/pdfcpu/model"
)

// Limits of [Merge]. An e-mail with more is refused by many servers: base64
// makes a third more of it.
const (
	MaxFiles  = 60
	MaxMerged = 20 << 20 // bytes: of all the files together, and of the result
)

// Merge returns the pages of all files, in their order, as one PDF. One file is
// checked and returned as it is, not copied. The same files give the same
// bytes: a merged PDF has the document information of the first file, dates
// included, and an ID made from its content.
//
// A file that is encrypted, damaged beyond what viewers put up with, or no PDF
// at all is an error that names its index. Signatures on the files do not
// survive merging. Links, forms and outlines stay, as far as pdfcpu keeps them.
//
// Merge reads the files alone: no configuration, no font, no network.
func Merge(files [][]byte) (merged []byte, err error) {
	defer rescue("ticketpdf: merge", &err)
	if err := checkFiles(files); err != nil {
		return nil, fmt.Errorf("ticketpdf: merge: %w", err)
	}
	whole, err := open(files[0], 0)
	if err != nil {
		return nil, err
	}
	if len(files) == 1 {
		return files[0], nil
	}
	version := whole.XRefTable.Version()
	for i, file := range files[1:] {
		next, err := open(file, i+1)
		if err != nil {
			return nil, err
		}
		version = max(version, next.XRefTable.Version())
		if err := join(whole, next); err != nil {
			return nil, fmt.Errorf("ticketpdf: merge: file %d: %w", i+1, err)
		}
	}
	merged, err = finish(whole, version)
	if err != nil {
		return nil, blame(files, err)
	}
	return merged, nil
}

func checkFiles(files [][]byte) error {
	if len(files) == 0 {
		return errors.New("no files")
	}
	if len(files) > MaxFiles {
		return fmt.Errorf("%d files; at most %d are allowed", len(files), MaxFiles)
	}
	total := 0
	for i, file := range files {
		if len(file) == 0 {
			return fmt.Errorf("file %d: is empty", i)
		}
		total += len(file)
	}
	if total > MaxMerged {
		return fmt.Errorf("the files have %d bytes; at most %d are allowed", total, MaxMerged)
	}
	return nil
}

// open reads a file and checks it.
func open(file []byte, index int) (ctx *model.Context, err error) {
	defer rescue(fmt.Sprintf("ticketpdf: merge: file %d", index), &err)
	ctx, err = api.ReadAndValidate(bytes.NewReader(file), configuration())
	switch {
	case errors.Is(err, pdfcpu.ErrEncrypted):
		err = errors.New("is encrypted")
	case err == nil:
		err = checkPages(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("ticketpdf: merge: file %d: %w", index, err)
	}
	return ctx, nil
}

// checkPages checks what pdfcpu puts up with in the root of a page tree, but not
// in the node that it becomes when files are merged.
func checkPages(ctx *model.Context) error {
	if ctx.PageCount == 0 {
		return errors.New("has no pages")
	}
	root, err := ctx.DereferenceDict(ctx.RootDict["Pages"])
	if err != nil {
		return err
	}
	if kind := root.Type(); kind == nil || *kind != "Pages" {
		return errors.New("has no page tree")
	}
	return nil
}

// join appends the pages of next to those of whole.
func join(whole, next *model.Context) error {
	return pdfcpu.MergeXRefTables("", next, whole, false, false)
}

// finish returns the file as bytes, which have been read back.
func finish(whole *model.Context, version model.Version) ([]byte, error) {
	merged, err := serialize(whole, version)
	if err != nil {
		return nil, err
	}
	if len(merged) > MaxMerged {
		return nil, fmt.Errorf("the result has %d bytes; at most %d are allowed", len(merged), MaxMerged)
	}
	if _, err := api.ReadAndValidate(bytes.NewReader(merged), configuration()); err != nil {
		return nil, fmt.Errorf("the result is not valid: %w", err)
	}
	return merged, nil
}

// blame names the first file that cannot be finished alone, since nothing but a
// result shows some faults.
func blame(files [][]byte, err error) error {
	for i, file := range files {
		ctx, fault := open(file, i)
		if fault != nil {
			return fault
		}
		if _, fault = finish(ctx, ctx.XRefTable.Version()); fault != nil {
			return fmt.Errorf("ticketpdf: merge: file %d: %w", i, fault)
		}
	}
	return fmt.Errorf("ticketpdf: merge: %w", err)
}

// configuration returns what pdfcpu needs to know. It is complete, so that
// pdfcpu neither looks for nor makes a folder of its own in the user's, and
// leaves its package-wide configuration, which is the host's, alone.
func configuration() *model.Configuration {
	return &model.Configuration{
		Cmd:            model.MERGECREATE, // Refuses what is encrypted.
		Reader15:       true,
		ValidationMode: model.ValidationRelaxed,
		Offline:        true,
		Eol:            "\n",
		Limits: model.ResourceLimits{
			MaxStreamBytes:       MaxMerged,
			MaxDecodeBytes:       64 << 20,
			MaxImagePixels:       100 << 20,
			MaxImageBytes:        64 << 20,
			MaxObjectCount:       500_000,
			MaxObjectStreamCount: 100_000,
			MaxObjectStreamFirst: 4 << 20,
			MaxXRefEntries:       500_000,
			MaxRecursionDepth:    100,
		},
	}
}
