CREATE TABLE `audit_log` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at` text NOT NULL,
	`event` text NOT NULL,
	`namespace` text,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`subject` text,
	`address` text,
	`request_id` text NOT NULL,
	`code` integer,
	`details` text,
	`hash` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_log_by_namespace` ON `audit_log` (`namespace`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_log_by_subject` ON `audit_log` (`subject`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_log_by_actor` ON `audit_log` (`actor_id`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_log_by_address` ON `audit_log` (`address`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_log_by_event` ON `audit_log` (`event`,`seq`);--> statement-breakpoint
CREATE TABLE `mail_outbox` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`kind` text NOT NULL,
	`subject_key` text,
	`sealed` text,
	`status` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` text NOT NULL,
	`useful_until` text,
	`last_error` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`sent_at` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "mail_outbox_status" CHECK("mail_outbox"."status" in ('queued', 'sent', 'failed', 'expired', 'dropped')),
	CONSTRAINT "mail_outbox_erased" CHECK("mail_outbox"."status" in ('queued', 'failed') or "mail_outbox"."sealed" is null)
);
--> statement-breakpoint
CREATE INDEX `mail_outbox_due` ON `mail_outbox` (`next_attempt_at`) WHERE status = 'queued';--> statement-breakpoint
CREATE INDEX `mail_outbox_by_subject` ON `mail_outbox` (`tenant_id`,`subject_key`) WHERE status = 'queued';--> statement-breakpoint
CREATE INDEX `mail_outbox_by_tenant` ON `mail_outbox` (`tenant_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `mail_outbox_done` ON `mail_outbox` (`updated_at`) WHERE status <> 'queued';--> statement-breakpoint
CREATE TABLE `password_reset_codes` (
	`tenant_id` text NOT NULL,
	`email_key` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` text NOT NULL,
	`expires_at` text NOT NULL,
	`wrong_tries` integer DEFAULT 0 NOT NULL,
	`used_at` text,
	PRIMARY KEY(`tenant_id`, `email_key`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "password_reset_codes_tries" CHECK("password_reset_codes"."wrong_tries" between 0 and 5)
);
--> statement-breakpoint
CREATE INDEX `password_reset_codes_by_expiry` ON `password_reset_codes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `secret_fingerprint` (
	`id` integer PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	CONSTRAINT "secret_fingerprint_single_row" CHECK("secret_fingerprint"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE `user_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`user_id` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` text NOT NULL,
	`expires_at` text NOT NULL,
	`ended_at` text,
	`ended_as` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "user_tokens_end" CHECK(("user_tokens"."ended_at" is null) = ("user_tokens"."ended_as" is null)),
	CONSTRAINT "user_tokens_ended_as" CHECK("user_tokens"."ended_as" in ('rotated', 'replaced', 'revoked'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `user_tokens_hash_unique` ON `user_tokens` (`hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `user_tokens_active` ON `user_tokens` (`tenant_id`,`user_id`) WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX `user_tokens_by_tenant` ON `user_tokens` (`tenant_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `user_tokens_by_expiry` ON `user_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`user_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`hash` text NOT NULL,
	`used_at` text,
	PRIMARY KEY(`user_id`, `hash`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `two_factor` (
	`user_id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`secret` text NOT NULL,
	`confirmed_at` text,
	`last_step` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`name` text,
	`name_key` text,
	`phone` text,
	`lang` text,
	`role` text NOT NULL,
	`status` text NOT NULL,
	`email_verified` integer DEFAULT false NOT NULL,
	`addresses` text DEFAULT '[]' NOT NULL,
	`metadata` text DEFAULT '{}' NOT NULL,
	`password_hash` text,
	`password_changed_at` text,
	`last_login_at` text,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "users_role" CHECK("users"."role" in ('customer', 'staff', 'owner')),
	CONSTRAINT "users_status" CHECK("users"."status" in ('active', 'disabled')),
	CONSTRAINT "users_metadata_size" CHECK(length(cast("users"."metadata" as blob)) <= 16384),
	CONSTRAINT "users_json" CHECK(json_valid("users"."addresses") and json_valid("users"."metadata"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email` ON `users` (`tenant_id`,`email_key`);--> statement-breakpoint
CREATE INDEX `users_by_created` ON `users` (`tenant_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `users_imported` ON `users` (`tenant_id`,`password_hash`) WHERE password_hash not like '$argon2id$v=19$m=19456,t=2,p=1$%';--> statement-breakpoint
CREATE INDEX `users_by_name` ON `users` (`tenant_id`,`name_key`,`id`);--> statement-breakpoint
CREATE INDEX `users_by_status` ON `users` (`tenant_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `users_by_role` ON `users` (`tenant_id`,`role`,`created_at`,`id`);--> statement-breakpoint
ALTER TABLE `tenants` ADD `token_lifetime` integer DEFAULT 2592000 NOT NULL;