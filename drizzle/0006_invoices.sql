CREATE TABLE `invoices` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`number` integer NOT NULL,
	`order_id` text NOT NULL,
	`kind` text NOT NULL,
	`refund_id` text,
	`total_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`html` text,
	`issued_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "invoices_kind" CHECK("invoices"."kind" in ('invoice', 'credit_note')),
	CONSTRAINT "invoices_refund_id" CHECK(("invoices"."kind" = 'invoice') = ("invoices"."refund_id" is null)),
	CONSTRAINT "invoices_amount" CHECK("invoices"."total_minor" >= 0 and "invoices"."number" > 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_number` ON `invoices` (`tenant_id`,`number`);--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_order` ON `invoices` (`order_id`) WHERE kind = 'invoice';--> statement-breakpoint
CREATE UNIQUE INDEX `invoices_refund` ON `invoices` (`refund_id`) WHERE refund_id is not null;--> statement-breakpoint
CREATE INDEX `invoices_by_order` ON `invoices` (`order_id`,`number`);--> statement-breakpoint
ALTER TABLE `tenants` ADD `invoice_from` text;