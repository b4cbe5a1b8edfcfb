// Package migrations makes and upgrades the library's tables, once, however
// many hosts start at the same time. It goes forward only, and touches nothing
// but its own tables in the schema that it is given.
//
// # Two sets
//
// The library's schema, "buzon" unless the host names another, holds the
// outbox and the record of sent e-mails; [Up] creates it. A branch's schema
// (sucursal) is the host's, holds the table membresia_facturacion_email_detalle,
// and is migrated by [UpBranch], once for each branch. Each set notes the steps
// that it took in the schema itself, in buzon_migrations and
// buzon_branch_migrations.
//
// # By the library
//
// A host calls [Up] at its start, and [UpBranch] wherever it migrates a branch.
// Any number of hosts may do so at the same time: an advisory lock for each
// set and schema lets one of them work, and different schemas do not wait for
// each other. A step and the note that it was taken are one transaction.
//
// # By the host's own tool
//
// A host that has a migration tool copies the steps: [SQL] and [BranchSQL]
// return them as plain SQL, with the schema's name quoted in place. A new
// version of the library only ever adds steps. Up then has no record to go by
// and refuses with [ErrNotTracked]; [Check] looks at the tables themselves and
// serves both kinds of host.
//
// # Rights
//
// Up needs the right CREATE on the database where the schema is missing, else
// CREATE and USAGE on the schema, and the ownership of the tables that later
// steps alter. A role that only reads buzon_migrations can still call Up while
// no step is pending.
// To work, a host's role needs USAGE on the schema and SELECT, INSERT, UPDATE
// and DELETE on its tables; for a branch's table also USAGE on the sequence
// membresia_facturacion_email_detalle_id_seq. [Check] needs none of these.
package migrations
