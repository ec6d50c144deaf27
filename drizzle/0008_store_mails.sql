CREATE TABLE `mail_texts` (
	`tenant_id` text NOT NULL,
	`kind` text NOT NULL,
	`language` text NOT NULL,
	`text` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`tenant_id`, `kind`, `language`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "mail_texts_json" CHECK(json_valid("mail_texts"."text"))
);
--> statement-breakpoint
CREATE TABLE `low_stock` (
	`item_id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`cause_id` text NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `low_stock_by_store` ON `low_stock` (`tenant_id`);--> statement-breakpoint
ALTER TABLE `tenants` ADD `notify` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `tenants` ADD `mails_off` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
CREATE TRIGGER `products_low_stock` AFTER UPDATE OF `stock` ON `products`
WHEN NEW.stock > coalesce(OLD.stock, -1)
BEGIN
  DELETE FROM `low_stock` WHERE `item_id` = NEW.id
    AND NEW.stock - NEW.reserved > coalesce((SELECT low_stock_at FROM `tenants` WHERE id = NEW.tenant_id), -1);
END;--> statement-breakpoint
CREATE TRIGGER `product_variants_low_stock` AFTER UPDATE OF `stock` ON `product_variants`
WHEN NEW.stock > coalesce(OLD.stock, -1)
BEGIN
  DELETE FROM `low_stock` WHERE `item_id` = NEW.id
    AND NEW.stock - NEW.reserved > coalesce((SELECT low_stock_at FROM `tenants` WHERE id = NEW.tenant_id), -1);
END;
