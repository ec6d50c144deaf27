DROP TABLE `order_numbers`;--> statement-breakpoint
ALTER TABLE `tenants` ADD `shipping_rates` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `tenants` ADD `tax_rates` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
UPDATE `tenants` SET
  `shipping_rates` = (SELECT count(*) FROM `shipping_rates` r WHERE r.tenant_id = `tenants`.id),
  `tax_rates` = (SELECT count(*) FROM `tax_rates` r WHERE r.tenant_id = `tenants`.id);
