CREATE TABLE `checkouts` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`order_id` text NOT NULL,
	`provider` text NOT NULL,
	`state` text NOT NULL,
	`is_processing` integer DEFAULT false NOT NULL,
	`amount_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`request` text NOT NULL,
	`session_id` text,
	`intent_id` text,
	`url` text,
	`error` text,
	`created_at` text NOT NULL,
	`expires_at` text NOT NULL,
	`checked_at` text,
	`next_check_at` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "checkouts_state" CHECK("checkouts"."state" in ('open', 'complete', 'expired', 'failed')),
	CONSTRAINT "checkouts_amount" CHECK("checkouts"."amount_minor" > 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `checkouts_open` ON `checkouts` (`order_id`) WHERE state = 'open';--> statement-breakpoint
CREATE INDEX `checkouts_by_order` ON `checkouts` (`order_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `checkouts_session` ON `checkouts` (`tenant_id`,`session_id`) WHERE session_id is not null;--> statement-breakpoint
CREATE INDEX `checkouts_intent` ON `checkouts` (`tenant_id`,`intent_id`) WHERE intent_id is not null;--> statement-breakpoint
CREATE INDEX `checkouts_due` ON `checkouts` (`next_check_at`) WHERE next_check_at is not null;--> statement-breakpoint
CREATE TABLE `disputes` (
	`tenant_id` text NOT NULL,
	`id` text NOT NULL,
	`order_id` text NOT NULL,
	`payment_id` text NOT NULL,
	`amount_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`status` text NOT NULL,
	`progress` integer NOT NULL,
	`reason` text NOT NULL,
	`due_at` text,
	`created_at` text NOT NULL,
	PRIMARY KEY(`tenant_id`, `id`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`payment_id`) REFERENCES `payments`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `disputes_by_order` ON `disputes` (`order_id`);--> statement-breakpoint
CREATE TABLE `payment_accounts` (
	`tenant_id` text NOT NULL,
	`provider` text NOT NULL,
	`account` text NOT NULL,
	`is_live` integer NOT NULL,
	`key` text NOT NULL,
	`key_end` text NOT NULL,
	`methods` text NOT NULL,
	`endpoint_id` text,
	`secret` text,
	`older_secret` text,
	`older_until` text,
	`events_until` text NOT NULL,
	`next_poll_at` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`tenant_id`, `provider`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "payment_accounts_json" CHECK(json_valid("payment_accounts"."methods"))
);
--> statement-breakpoint
CREATE TABLE `payment_events` (
	`tenant_id` text NOT NULL,
	`id` text NOT NULL,
	`type` text NOT NULL,
	`object` text NOT NULL,
	`is_live` integer NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`tenant_id`, `id`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `payment_events_by_age` ON `payment_events` (`created_at`);--> statement-breakpoint
CREATE TABLE `refund_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`status` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` text NOT NULL,
	`leased_until` text,
	`last_status` integer,
	`last_error` text,
	`created_at` text NOT NULL,
	`finished_at` text,
	FOREIGN KEY (`id`) REFERENCES `order_refunds`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "refund_deliveries_status" CHECK("refund_deliveries"."status" in ('waiting', 'delivered', 'failed', 'dropped'))
);
--> statement-breakpoint
CREATE INDEX `refund_deliveries_due` ON `refund_deliveries` (`tenant_id`,`next_attempt_at`) WHERE status = 'waiting';--> statement-breakpoint
ALTER TABLE `order_refunds` ADD `provider_id` text;--> statement-breakpoint
ALTER TABLE `order_refunds` ADD `retry_of` text;--> statement-breakpoint
ALTER TABLE `order_refunds` ADD `error` text;--> statement-breakpoint
CREATE UNIQUE INDEX `order_refunds_by_provider` ON `order_refunds` (`tenant_id`,`provider_id`) WHERE provider_id is not null;--> statement-breakpoint
CREATE UNIQUE INDEX `order_refunds_retry` ON `order_refunds` (`retry_of`) WHERE retry_of is not null;--> statement-breakpoint
CREATE INDEX `order_refunds_requested` ON `order_refunds` (`id`) WHERE state = 'requested';