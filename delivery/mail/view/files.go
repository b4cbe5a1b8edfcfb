package view

import (
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode/utf8"
)

//go:embed layout
var embedded embed.FS

// layoutFiles are the library's layout.
var layoutFiles = must(fs.Sub(embedded, "layout"))

func must[T any](v T, err error) T {
	if err != nil {
		panic(err) // a fault of the build
	}
	return v
}

// Files are where template files are looked for: the first that has one of a
// name gives it. After the last comes the library's own layout.
type Files []fs.FS

// maxFile bounds a template file, in bytes.
const maxFile = 1 << 20

// read returns a file of the first that has it.
func (f Files) read(name string) (string, error) {
	for _, fsys := range f.all() {
		content, err := fs.ReadFile(fsys, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue
		case err != nil:
			return "", err
		case len(content) > maxFile:
			return "", fmt.Errorf("%s has %d bytes; at most %d are allowed", name, len(content), maxFile)
		case !utf8.Valid(content):
			return "", fmt.Errorf("%s is not UTF-8", name)
		}
		return strings.TrimPrefix(string(content), "\uFEFF"), nil
	}
	return "", &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

func (f Files) all() []fs.FS {
	return append(slices.Clip(slices.DeleteFunc(slices.Clone(f), isNil)), layoutFiles)
}

func isNil(fsys fs.FS) bool { return fsys == nil }

// languages returns the folders that have a file of the view: the library's
// languages in its order, of which the first is Spanish, and then what a host
// adds.
func (f Files) languages(view string) ([]string, error) {
	var all []string
	for _, fsys := range f.all() {
		entries, err := fs.ReadDir(fsys, ".")
		if err != nil {
			return nil, err
		}
		for _, entry := range entries {
			if has, err := hasView(fsys, entry.Name(), view); err != nil {
				return nil, err
			} else if has && !slices.Contains(all, entry.Name()) {
				all = append(all, entry.Name())
			}
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(a, b)) })
	return all, nil
}

func rank(language string) int {
	if i := slices.Index(languages, language); i >= 0 {
		return i
	}
	return len(languages)
}

// hasView reports whether a name is that of a folder with a file of the view.
func hasView(fsys fs.FS, folder, view string) (bool, error) {
	if strings.HasPrefix(folder, ".") {
		return false, nil
	}
	if info, err := fs.Stat(fsys, folder); err != nil || !info.IsDir() {
		return false, err
	}
	for _, extension := range extensions {
		_, err := fs.Stat(fsys, folder+"/"+view+extension)
		if !errors.Is(err, fs.ErrNotExist) {
			return err == nil, err
		}
	}
	return false, nil
}

var extensions = []string{".html", ".txt"}

// checkLanguage refuses a folder that is not named after a language as
// [ParseLocale] writes it: "pt-BR", and neither "pt_br" nor "fr".
func checkLanguage(folder string) error {
	locale, err := ParseLocale(folder)
	if err == nil && locale.Tag() != folder {
		err = fmt.Errorf("the name should be %s", locale.Tag())
	}
	if err != nil {
		return fmt.Errorf("the folder %s: %w", folder, err)
	}
	return nil
}

// CheckNames refuses a host's files that no view of the given names reads, so
// that a slip in a file's name does not pass for a replacement. Files and
// folders whose name begins with a dot are passed over.
func CheckNames(files fs.FS, views ...string) error {
	return errors.Join(checkFolder(files, ".", views)...)
}

// checkFolder follows links to folders, as a Kubernetes volume has them.
func checkFolder(files fs.FS, folder string, views []string) (faults []error) {
	entries, err := fs.ReadDir(files, folder)
	if err != nil {
		return []error{err}
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") {
			continue
		}
		name := path.Join(folder, entry.Name())
		info, err := fs.Stat(files, name)
		switch {
		case err != nil:
			faults = append(faults, err)
		case info.IsDir():
			faults = append(faults, checkFolder(files, name, views)...)
		case !isRead(name, views):
			faults = append(faults, fmt.Errorf("%s is a file that no view reads; views are %s, in folders such as es, and the layout is layout.html, layout.txt and es/layout.txt",
				name, strings.Join(views, ", ")))
		}
	}
	return faults
}

func isRead(name string, views []string) bool {
	folder, file := path.Split(name)
	extension := path.Ext(file)
	base := strings.TrimSuffix(file, extension)
	if !slices.Contains(extensions, extension) {
		return false
	}
	if folder == "" {
		return base == layoutName
	}
	return checkLanguage(path.Clean(folder)) == nil &&
		(base == layoutName && extension == ".txt" || slices.Contains(views, base))
}
