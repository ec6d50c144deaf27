-- What has been written down stays as it was written.
CREATE TRIGGER `audit_log_unchanged` BEFORE UPDATE ON `audit_log` BEGIN SELECT raise(abort, 'the audit log is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `audit_log_kept` BEFORE DELETE ON `audit_log` BEGIN SELECT raise(abort, 'the audit log is append-only'); END;
