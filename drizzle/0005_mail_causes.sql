ALTER TABLE `mail_outbox` ADD `cause_key` text;--> statement-breakpoint
CREATE UNIQUE INDEX `mail_outbox_by_cause` ON `mail_outbox` (`tenant_id`,`cause_key`) WHERE cause_key is not null;