CREATE TABLE `__new_reward_lots` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`user_id` text NOT NULL,
	`remaining` integer NOT NULL,
	`expires_at` text,
	FOREIGN KEY (`sequence`) REFERENCES `reward_entries`(`sequence`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "reward_lots_remaining" CHECK("__new_reward_lots"."remaining" >= 0)
);
--> statement-breakpoint
INSERT INTO `__new_reward_lots`("sequence", "tenant_id", "user_id", "remaining", "expires_at") SELECT "sequence", "tenant_id", "user_id", "remaining", "expires_at" FROM `reward_lots`;--> statement-breakpoint
DROP TABLE `reward_lots`;--> statement-breakpoint
ALTER TABLE `__new_reward_lots` RENAME TO `reward_lots`;--> statement-breakpoint
CREATE INDEX `reward_lots_open` ON `reward_lots` (`tenant_id`,`user_id`,`sequence`) WHERE remaining > 0;--> statement-breakpoint
CREATE INDEX `reward_lots_due` ON `reward_lots` (`expires_at`) WHERE remaining > 0 and expires_at is not null;--> statement-breakpoint
ALTER TABLE `low_stock` DROP COLUMN `cause_id`;--> statement-breakpoint
ALTER TABLE `low_stock` DROP COLUMN `created_at`;