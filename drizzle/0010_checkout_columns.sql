ALTER TABLE `checkouts` DROP COLUMN `error`;--> statement-breakpoint
ALTER TABLE `checkouts` DROP COLUMN `checked_at`;