package migrations

// A table is what a schema must have of a table, whoever made it.
type table struct {
	name    string
	columns []string
	unique  []string // the unique indexes on which statements rely
}

// libraryTables is what the library's last step leaves. A test compares it
// with what the steps make.
var libraryTables = []table{
	{
		name: "outbox_jobs",
		columns: []string{
			"id", "job_type", "tenant", "payload", "payload_version", "unique_key", "priority", "created_by", "created_at",
			"state", "retry_count", "max_retries", "next_retry_at", "not_after", "started_at", "last_error",
			"lease_number", "lease_until", "lease_owner", "lost_leases",
			"cancel_requested_at", "cancelled_by", "cancel_reason", "due_at", "progress",
		},
		unique: []string{"outbox_jobs_pkey", "outbox_jobs_unique_key"},
	},
	{
		name: "outbox_job_history",
		columns: []string{
			"id", "job_type", "tenant", "payload", "payload_version", "unique_key", "priority", "created_by", "created_at",
			"state", "retry_count", "max_retries", "not_after", "started_at", "finished_at", "last_error", "skip_reason",
			"lease_number", "lease_owner", "lost_leases", "cancelled_by", "cancel_reason", "progress",
		},
		unique: []string{"outbox_job_history_pkey"},
	},
	{
		name: "email_deliveries",
		columns: []string{
			"id", "tenant", "delivery_key", "kind", "on_unknown", "message_id", "created_at", "updated_at",
			"status", "attempts", "last_error", "sent_at", "server_response",
			"claim_number", "claimed_until", "expiry_seen_at", "transmitting",
			"resolved_at", "resolved_by", "resolve_reason",
		},
		unique: []string{"email_deliveries_pkey", "email_deliveries_key"},
	},
}

// branchTables is what the branch's last step leaves.
var branchTables = []table{
	{
		name: "membresia_facturacion_email_detalle",
		columns: []string{
			"id", "lote_id", "socio_id", "email", "estado", "intentos", "ultimo_intento", "error_detalle", "created_at", "updated_at",
			"job_id", "reintentable",
		},
		unique: []string{"membresia_facturacion_email_detalle_pkey", "idx_email_detalle_lote_socio"},
	},
}

// tableNames returns the names of the set's tables.
func (s *set) tableNames() []string {
	var names []string
	for _, t := range s.required {
		names = append(names, t.name)
	}
	return names
}
