CREATE TABLE `__new_checkouts` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`order_id` text NOT NULL,
	`provider` text NOT NULL,
	`state` text NOT NULL,
	`amount_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`request` text NOT NULL,
	`session_id` text,
	`intent_id` text,
	`url` text,
	`created_at` text NOT NULL,
	`expires_at` text NOT NULL,
	`next_check_at` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "checkouts_state" CHECK("__new_checkouts"."state" in ('open', 'processing', 'complete', 'expired', 'failed')),
	CONSTRAINT "checkouts_amount" CHECK("__new_checkouts"."amount_minor" > 0)
);
--> statement-breakpoint
INSERT INTO `__new_checkouts`("id", "tenant_id", "order_id", "provider", "state", "amount_minor", "currency", "request", "session_id", "intent_id", "url", "created_at", "expires_at", "next_check_at") SELECT "id", "tenant_id", "order_id", "provider", iif("is_processing", 'processing', "state"), "amount_minor", "currency", "request", "session_id", "intent_id", "url", "created_at", "expires_at", "next_check_at" FROM `checkouts`;--> statement-breakpoint
DROP TABLE `checkouts`;--> statement-breakpoint
ALTER TABLE `__new_checkouts` RENAME TO `checkouts`;--> statement-breakpoint
CREATE UNIQUE INDEX `checkouts_open` ON `checkouts` (`order_id`) WHERE state = 'open';--> statement-breakpoint
CREATE INDEX `checkouts_by_order` ON `checkouts` (`order_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `checkouts_session` ON `checkouts` (`tenant_id`,`session_id`) WHERE session_id is not null;--> statement-breakpoint
CREATE INDEX `checkouts_intent` ON `checkouts` (`tenant_id`,`intent_id`) WHERE intent_id is not null;--> statement-breakpoint
CREATE INDEX `checkouts_due` ON `checkouts` (`next_check_at`) WHERE next_check_at is not null;