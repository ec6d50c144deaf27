CREATE TABLE `push_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`message_id` text NOT NULL,
	`registration_id` text,
	`platform` text NOT NULL,
	`priority` integer NOT NULL,
	`status` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` text NOT NULL,
	`leased_until` text,
	`last_status` integer,
	`last_error` text,
	`created_at` text NOT NULL,
	`finished_at` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`message_id`) REFERENCES `push_messages`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`registration_id`) REFERENCES `push_registrations`(`id`) ON UPDATE no action ON DELETE set null,
	CONSTRAINT "push_deliveries_platform" CHECK("push_deliveries"."platform" in ('web', 'ios', 'android')),
	CONSTRAINT "push_deliveries_status" CHECK("push_deliveries"."status" in ('waiting', 'sent', 'failed', 'dropped', 'expired'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `push_deliveries_once` ON `push_deliveries` (`message_id`,`registration_id`);--> statement-breakpoint
CREATE INDEX `push_deliveries_by_registration` ON `push_deliveries` (`registration_id`);--> statement-breakpoint
CREATE INDEX `push_deliveries_due` ON `push_deliveries` (`tenant_id`,`priority`,`next_attempt_at`) WHERE status = 'waiting';--> statement-breakpoint
CREATE INDEX `push_deliveries_by_age` ON `push_deliveries` (`status`,`finished_at`);--> statement-breakpoint
CREATE TABLE `push_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`kind` text NOT NULL,
	`content` text NOT NULL,
	`topic` text,
	`user_id` text,
	`lang` text,
	`position` text,
	`created_at` text NOT NULL,
	`expires_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "push_messages_kind" CHECK("push_messages"."kind" in ('order', 'message')),
	CONSTRAINT "push_messages_content" CHECK(json_valid("push_messages"."content"))
);
--> statement-breakpoint
CREATE INDEX `push_messages_by_tenant` ON `push_messages` (`tenant_id`,`id`);--> statement-breakpoint
CREATE INDEX `push_messages_unfinished` ON `push_messages` (`id`) WHERE position is not null;--> statement-breakpoint
CREATE INDEX `push_messages_by_age` ON `push_messages` (`created_at`);--> statement-breakpoint
CREATE TABLE `push_registrations` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`platform` text NOT NULL,
	`target_key` text NOT NULL,
	`proof_key` text,
	`target` text NOT NULL,
	`user_id` text,
	`lang` text,
	`secret_hash` text NOT NULL,
	`is_proven` integer DEFAULT false NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "push_registrations_platform" CHECK("push_registrations"."platform" in ('web', 'ios', 'android'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `push_registrations_target` ON `push_registrations` (`tenant_id`,`target_key`);--> statement-breakpoint
CREATE INDEX `push_registrations_by_tenant` ON `push_registrations` (`tenant_id`,`id`);--> statement-breakpoint
CREATE INDEX `push_registrations_by_user` ON `push_registrations` (`user_id`) WHERE user_id is not null;--> statement-breakpoint
CREATE TABLE `push_topics` (
	`tenant_id` text NOT NULL,
	`topic` text NOT NULL,
	`registration_id` text NOT NULL,
	PRIMARY KEY(`tenant_id`, `topic`, `registration_id`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`registration_id`) REFERENCES `push_registrations`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `push_topics_by_registration` ON `push_topics` (`registration_id`);--> statement-breakpoint
CREATE TABLE `vapid_keys` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_key` text NOT NULL,
	`private_key` text NOT NULL,
	`created_at` text NOT NULL,
	CONSTRAINT "vapid_keys_single_row" CHECK("vapid_keys"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE `public_hits` (
	`process` text NOT NULL,
	`written_at` integer NOT NULL,
	`hits` text NOT NULL,
	PRIMARY KEY(`process`, `written_at`)
);
--> statement-breakpoint
CREATE INDEX `public_hits_by_age` ON `public_hits` (`written_at`);--> statement-breakpoint
CREATE TABLE `reactions` (
	`tenant_id` text NOT NULL,
	`kind` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`actor` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`tenant_id`, `resource_type`, `resource_id`, `kind`, `actor`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "reactions_kind" CHECK("reactions"."kind" in ('like', 'bookmark'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `reactions_by_actor` ON `reactions` (`tenant_id`,`actor`,`kind`,`created_at`,`resource_id`);--> statement-breakpoint
CREATE TABLE `resource_counts` (
	`tenant_id` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`likes` integer DEFAULT 0 NOT NULL,
	`bookmarks` integer DEFAULT 0 NOT NULL,
	`views` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`tenant_id`, `resource_type`, `resource_id`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "resource_counts_positive" CHECK("resource_counts"."likes" >= 0 and "resource_counts"."bookmarks" >= 0 and "resource_counts"."views" >= 0)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `view_days` (
	`tenant_id` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`day` text NOT NULL,
	`views` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `resource_type`, `resource_id`, `day`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "view_days_positive" CHECK("view_days"."views" > 0)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `view_marks` (
	`day` text NOT NULL,
	`tenant_id` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`mark` text NOT NULL,
	PRIMARY KEY(`day`, `tenant_id`, `resource_type`, `resource_id`, `mark`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `tenants` ADD `address_writes` integer DEFAULT 1200 NOT NULL;--> statement-breakpoint
ALTER TABLE `tenants` ADD `visitor_writes` integer DEFAULT 240 NOT NULL;