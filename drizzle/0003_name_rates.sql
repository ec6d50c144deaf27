DROP TABLE `order_numbers`;--> statement-breakpoint
ALTER TABLE `tenants` ADD `shipping_rates` text;--> statement-breakpoint
ALTER TABLE `tenants` ADD `tax_rates` text;--> statement-breakpoint
UPDATE `tenants` SET
  `shipping_rates` = (SELECT min(id) FROM `shipping_rates` r WHERE r.tenant_id = `tenants`.id),
  `tax_rates` = (SELECT `tenants`.id FROM `tax_rates` r WHERE r.tenant_id = `tenants`.id LIMIT 1);
