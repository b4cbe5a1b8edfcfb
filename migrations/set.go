package migrations

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
)

//go:embed library/*.sql branch/*.sql
var files embed.FS

// placeholder stands in the steps for the quoted name of the schema.
const placeholder = "{schema}"

// A set is a list of steps that belong into the same schema.
type set struct {
	kind         string  // the folder of its steps
	versionTable string  // where it notes which steps it took
	required     []table // what a schema has that took them all
	steps        []step  // in order
}

type step struct {
	version int64
	name    string // such as "00001_outbox_jobs"
	sql     string // with placeholders
}

// The two sets, each with a version table of its own: both can live in one
// schema.
var (
	librarySet = newSet("library", "buzon_migrations", libraryTables)
	branchSet  = newSet("branch", "buzon_branch_migrations", branchTables)
)

// newSet reads the steps of a folder. It panics on files that no test lets
// into the repository.
func newSet(kind, versionTable string, required []table) *set {
	s := &set{kind: kind, versionTable: versionTable, required: required}
	names, err := fs.Glob(files, kind+"/*.sql") // sorted by name, and so by version
	if err != nil || len(names) == 0 {
		panic(fmt.Sprintf("migrations: no steps in %s: %v", kind, err))
	}
	for _, file := range names {
		s.steps = append(s.steps, readStep(file))
	}
	return s
}

func readStep(file string) step {
	text, err := fs.ReadFile(files, file)
	if err != nil {
		panic(fmt.Sprintf("migrations: %v", err))
	}
	name := strings.TrimSuffix(path.Base(file), ".sql")
	number, _, _ := strings.Cut(name, "_")
	version, err := strconv.ParseInt(number, 10, 64)
	if err != nil {
		panic(fmt.Sprintf("migrations: %s: its name does not start with a number", file))
	}
	return step{version: version, name: name, sql: string(text)}
}

// in returns the step's SQL for a schema.
func (s step) in(schema string) string {
	return strings.ReplaceAll(s.sql, placeholder, quote(schema))
}

// step returns the step of a version, which must be one of the set's.
func (s *set) step(version int64) step {
	for _, st := range s.steps {
		if st.version == version {
			return st
		}
	}
	panic(fmt.Sprintf("migrations: no step %d in %s", version, s.kind))
}

// qualified returns the quoted name of a relation in a schema.
func qualified(schema, relation string) string {
	return pgx.Identifier{schema, relation}.Sanitize()
}

func quote(name string) string { return pgx.Identifier{name}.Sanitize() }
