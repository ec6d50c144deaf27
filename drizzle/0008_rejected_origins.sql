CREATE TABLE `rejected_origins` (
	`tenant_id` text NOT NULL,
	`app_id` text NOT NULL,
	`origin` text NOT NULL,
	`attempts` integer NOT NULL,
	`first_at` text NOT NULL,
	`last_at` text NOT NULL,
	PRIMARY KEY(`app_id`, `origin`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`app_id`) REFERENCES `app_keys`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "rejected_origins_attempts" CHECK("rejected_origins"."attempts" > 0)
);
--> statement-breakpoint
CREATE INDEX `rejected_origins_by_time` ON `rejected_origins` (`last_at`);