package migrations

// A Script is the SQL of one step, for a host's own migration tool.
type Script struct {
	Version int64  // from 1
	Name    string // such as "00001_outbox_jobs"
	SQL     string // plain statements, each name with its schema
}

// SQL returns the library's steps for a schema, in order. An empty name means
// [DefaultSchema]. The host creates the schema, and runs each script once, in a
// transaction. [Check] tells whether that was done.
func SQL(schema string) ([]Script, error) {
	schema, err := librarySchema(schema)
	if err != nil {
		return nil, err
	}
	return librarySet.scripts(schema), nil
}

// BranchSQL is [SQL] for the tables of a branch's schema.
func BranchSQL(schema string) ([]Script, error) {
	if err := CheckSchemaName(schema); err != nil {
		return nil, err
	}
	return branchSet.scripts(schema), nil
}

func (s *set) scripts(schema string) []Script {
	var scripts []Script
	for _, st := range s.steps {
		scripts = append(scripts, Script{Version: st.version, Name: st.name, SQL: st.in(schema)})
	}
	return scripts
}
