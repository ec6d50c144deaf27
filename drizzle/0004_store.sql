CREATE TABLE `events` (
	`sequence` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`type` text NOT NULL,
	`subject` text NOT NULL,
	`data` text NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `events_id_unique` ON `events` (`id`);--> statement-breakpoint
CREATE INDEX `events_by_tenant` ON `events` (`tenant_id`,`sequence`);--> statement-breakpoint
CREATE INDEX `events_by_age` ON `events` (`created_at`);--> statement-breakpoint
CREATE TABLE `idempotency_keys` (
	`tenant_id` text NOT NULL,
	`caller` text NOT NULL,
	`key` text NOT NULL,
	`fingerprint` text NOT NULL,
	`status` integer NOT NULL,
	`data` text NOT NULL,
	`etag` integer,
	`language` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `idempotency_keys_key` ON `idempotency_keys` (`tenant_id`,`caller`,`key`);--> statement-breakpoint
CREATE INDEX `idempotency_keys_by_age` ON `idempotency_keys` (`created_at`);--> statement-breakpoint
CREATE TABLE `order_lines` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`order_id` text NOT NULL,
	`position` integer NOT NULL,
	`product_id` text NOT NULL,
	`variant_id` text,
	`title` text NOT NULL,
	`variant_title` text,
	`sku` text,
	`options` text DEFAULT '{}' NOT NULL,
	`image` text,
	`price_minor` integer NOT NULL,
	`quantity` integer NOT NULL,
	`subtotal_minor` integer NOT NULL,
	`discount_minor` integer DEFAULT 0 NOT NULL,
	`tax_minor` integer DEFAULT 0 NOT NULL,
	`total_minor` integer NOT NULL,
	`is_counted` integer NOT NULL,
	`refunded_quantity` integer DEFAULT 0 NOT NULL,
	`refunded_minor` integer DEFAULT 0 NOT NULL,
	`restocked_quantity` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "order_lines_quantity" CHECK("order_lines"."quantity" > 0),
	CONSTRAINT "order_lines_amounts" CHECK("order_lines"."subtotal_minor" = "order_lines"."price_minor" * "order_lines"."quantity" and "order_lines"."tax_minor" >= 0
        and "order_lines"."discount_minor" between 0 and "order_lines"."subtotal_minor"
        and "order_lines"."total_minor" = "order_lines"."subtotal_minor" - "order_lines"."discount_minor" + "order_lines"."tax_minor"),
	CONSTRAINT "order_lines_refunds" CHECK("order_lines"."refunded_quantity" between 0 and "order_lines"."quantity" and "order_lines"."refunded_minor" between 0 and "order_lines"."total_minor"
        and "order_lines"."restocked_quantity" between 0 and "order_lines"."refunded_quantity")
);
--> statement-breakpoint
CREATE UNIQUE INDEX `order_lines_place` ON `order_lines` (`order_id`,`position`);--> statement-breakpoint
CREATE TABLE `order_numbers` (
	`tenant_id` text PRIMARY KEY NOT NULL,
	`last` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `order_refunds` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`order_id` text NOT NULL,
	`amount_minor` integer NOT NULL,
	`lines` text NOT NULL,
	`reason` text,
	`points_returned` integer DEFAULT 0 NOT NULL,
	`points_reversed` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "order_refunds_amount" CHECK("order_refunds"."amount_minor" >= 0),
	CONSTRAINT "order_refunds_json" CHECK(json_valid("order_refunds"."lines"))
);
--> statement-breakpoint
CREATE INDEX `order_refunds_by_order` ON `order_refunds` (`order_id`,`id`);--> statement-breakpoint
CREATE TABLE `orders` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`number` integer NOT NULL,
	`user_id` text,
	`status` text NOT NULL,
	`payment_status` text NOT NULL,
	`fulfillment_status` text NOT NULL,
	`currency` text NOT NULL,
	`currency_digits` integer NOT NULL,
	`subtotal_minor` integer DEFAULT 0 NOT NULL,
	`discount_minor` integer DEFAULT 0 NOT NULL,
	`shipping_minor` integer DEFAULT 0 NOT NULL,
	`tax_minor` integer DEFAULT 0 NOT NULL,
	`total_minor` integer DEFAULT 0 NOT NULL,
	`refunded_minor` integer DEFAULT 0 NOT NULL,
	`points_used` integer DEFAULT 0 NOT NULL,
	`points_earned` integer DEFAULT 0 NOT NULL,
	`points_returned` integer DEFAULT 0 NOT NULL,
	`points_reversed` integer DEFAULT 0 NOT NULL,
	`payment_reference` text,
	`shipping_address` text,
	`note` text,
	`lang` text NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`expires_at` text NOT NULL,
	`paid_at` text,
	`fulfilled_at` text,
	`cancelled_at` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "orders_status" CHECK("orders"."status" in ('pending', 'paid', 'completed', 'cancelled', 'expired')),
	CONSTRAINT "orders_payment" CHECK("orders"."payment_status" in ('unpaid', 'paid', 'partially_refunded', 'refunded')),
	CONSTRAINT "orders_fulfillment" CHECK("orders"."fulfillment_status" in ('unfulfilled', 'fulfilled')),
	CONSTRAINT "orders_amounts" CHECK("orders"."subtotal_minor" >= 0 and "orders"."shipping_minor" >= 0 and "orders"."tax_minor" >= 0
        and "orders"."discount_minor" between 0 and "orders"."subtotal_minor" and "orders"."total_minor" <= 9007199254740991
        and "orders"."total_minor" = "orders"."subtotal_minor" - "orders"."discount_minor" + "orders"."shipping_minor" + "orders"."tax_minor"),
	CONSTRAINT "orders_refunds" CHECK("orders"."refunded_minor" between 0 and "orders"."total_minor"),
	CONSTRAINT "orders_points_returned" CHECK("orders"."points_returned" between 0 and "orders"."points_used"),
	CONSTRAINT "orders_points_reversed" CHECK("orders"."points_reversed" between 0 and "orders"."points_earned"),
	CONSTRAINT "orders_address" CHECK("orders"."shipping_address" is null or json_valid("orders"."shipping_address"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `orders_number` ON `orders` (`tenant_id`,`number`);--> statement-breakpoint
CREATE UNIQUE INDEX `orders_payment_reference` ON `orders` (`tenant_id`,`payment_reference`) WHERE payment_reference is not null;--> statement-breakpoint
CREATE INDEX `orders_by_created` ON `orders` (`tenant_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_by_updated` ON `orders` (`tenant_id`,`updated_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_by_status` ON `orders` (`tenant_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_by_user` ON `orders` (`tenant_id`,`user_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_due` ON `orders` (`expires_at`) WHERE status = 'pending';--> statement-breakpoint
CREATE TABLE `product_variants` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`product_id` text NOT NULL,
	`title` text NOT NULL,
	`sku` text,
	`options` text DEFAULT '{}' NOT NULL,
	`options_key` text DEFAULT '{}' NOT NULL,
	`price_minor` integer NOT NULL,
	`has_own_price` integer DEFAULT true NOT NULL,
	`compare_at_minor` integer,
	`currency` text NOT NULL,
	`currency_digits` integer NOT NULL,
	`stock` integer,
	`reserved` integer DEFAULT 0 NOT NULL,
	`position` integer DEFAULT 0 NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`deleted_at` text,
	`rendered` text GENERATED ALWAYS AS (json_object(
  'id', id, 'title', title, 'sku', sku, 'options', json(options),
  'price', case when price_minor is null or currency_digits = 0 then price_minor
    else json(printf('%d.%0*d', price_minor / (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end), currency_digits, price_minor % (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end))) end, 'price_minor', price_minor,
  'compare_at_price', case when compare_at_minor is null or currency_digits = 0 then compare_at_minor
    else json(printf('%d.%0*d', compare_at_minor / (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end), currency_digits, compare_at_minor % (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end))) end, 'currency', currency,
  'has_own_price', json(case when has_own_price then 'true' else 'false' end),
  'stock', stock, 'available', case when stock is null then null else stock - reserved end, 'position', position,
  'version', version, 'created_at', created_at, 'updated_at', updated_at)) STORED,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "product_variants_price" CHECK("product_variants"."price_minor" between 0 and 9007199254740991),
	CONSTRAINT "product_variants_compare_at" CHECK("product_variants"."compare_at_minor" is null or "product_variants"."compare_at_minor" between 0 and 9007199254740991),
	CONSTRAINT "product_variants_stock" CHECK("product_variants"."stock" is null or abs("product_variants"."stock") <= 9007199254740991),
	CONSTRAINT "product_variants_reserved" CHECK("product_variants"."reserved" between 0 and 9007199254740991),
	CONSTRAINT "product_variants_json" CHECK(json_valid("product_variants"."options"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `product_variants_sku` ON `product_variants` (`tenant_id`,`sku`) WHERE sku is not null and deleted_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX `product_variants_options` ON `product_variants` (`product_id`,`options_key`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `product_variants_by_product` ON `product_variants` (`product_id`,`position`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE TABLE `reward_balances` (
	`tenant_id` text NOT NULL,
	`user_id` text NOT NULL,
	`balance` integer DEFAULT 0 NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "reward_balances_balance" CHECK("reward_balances"."balance" between 0 and 9007199254740991)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `reward_balances_user` ON `reward_balances` (`tenant_id`,`user_id`);--> statement-breakpoint
CREATE TABLE `reward_entries` (
	`sequence` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`user_id` text NOT NULL,
	`kind` text NOT NULL,
	`points` integer NOT NULL,
	`balance` integer NOT NULL,
	`source` text NOT NULL,
	`order_id` text,
	`note` text,
	`expires_at` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "reward_entries_kind" CHECK("reward_entries"."kind" in ('earn', 'redeem', 'reverse', 'expire', 'adjust')),
	CONSTRAINT "reward_entries_points" CHECK("reward_entries"."points" <> 0),
	CONSTRAINT "reward_entries_balance" CHECK("reward_entries"."balance" >= 0)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `reward_entries_id_unique` ON `reward_entries` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `reward_entries_source` ON `reward_entries` (`tenant_id`,`user_id`,`source`);--> statement-breakpoint
CREATE INDEX `reward_entries_by_user` ON `reward_entries` (`tenant_id`,`user_id`,`sequence`);--> statement-breakpoint
CREATE TABLE `reward_lots` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`user_id` text NOT NULL,
	`points` integer NOT NULL,
	`remaining` integer NOT NULL,
	`expires_at` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`sequence`) REFERENCES `reward_entries`(`sequence`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "reward_lots_remaining" CHECK("reward_lots"."remaining" between 0 and "reward_lots"."points")
);
--> statement-breakpoint
CREATE INDEX `reward_lots_open` ON `reward_lots` (`tenant_id`,`user_id`,`sequence`) WHERE remaining > 0;--> statement-breakpoint
CREATE INDEX `reward_lots_due` ON `reward_lots` (`expires_at`) WHERE remaining > 0 and expires_at is not null;--> statement-breakpoint
CREATE TABLE `webhook_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`webhook_id` text NOT NULL,
	`event` integer NOT NULL,
	`status` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` text NOT NULL,
	`leased_until` text,
	`last_status` integer,
	`last_error` text,
	`created_at` text NOT NULL,
	`finished_at` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`webhook_id`) REFERENCES `webhooks`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "webhook_deliveries_status" CHECK("webhook_deliveries"."status" in ('waiting', 'delivered', 'failed'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `webhook_deliveries_event` ON `webhook_deliveries` (`webhook_id`,`event`);--> statement-breakpoint
CREATE INDEX `webhook_deliveries_due` ON `webhook_deliveries` (`webhook_id`,`next_attempt_at`) WHERE status = 'waiting';--> statement-breakpoint
CREATE INDEX `webhook_deliveries_by_age` ON `webhook_deliveries` (`status`,`finished_at`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`url` text NOT NULL,
	`types` text NOT NULL,
	`secret` text NOT NULL,
	`allow_private` integer DEFAULT false NOT NULL,
	`position` integer NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "webhooks_types" CHECK(json_valid("webhooks"."types"))
);
--> statement-breakpoint
CREATE INDEX `webhooks_by_tenant` ON `webhooks` (`tenant_id`,`id`);--> statement-breakpoint
CREATE TABLE `wishlist_items` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`user_id` text NOT NULL,
	`product_id` text NOT NULL,
	`variant_id` text,
	`price_at_add_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`currency_digits` integer NOT NULL,
	`note` text,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `wishlist_items_product` ON `wishlist_items` (`tenant_id`,`user_id`,`product_id`);--> statement-breakpoint
CREATE INDEX `wishlist_items_by_created` ON `wishlist_items` (`tenant_id`,`user_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `wishlist_items_by_product` ON `wishlist_items` (`product_id`);--> statement-breakpoint
PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_products` (
	`row_number` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`title` text NOT NULL,
	`slug` text NOT NULL,
	`description` text,
	`status` text NOT NULL,
	`price_minor` integer NOT NULL,
	`compare_at_minor` integer,
	`currency` text NOT NULL,
	`currency_digits` integer NOT NULL,
	`sku` text,
	`stock` integer,
	`reserved` integer DEFAULT 0 NOT NULL,
	`allow_backorder` integer DEFAULT false NOT NULL,
	`images` text DEFAULT '[]' NOT NULL,
	`tags` text DEFAULT '[]' NOT NULL,
	`metadata` text DEFAULT '{}' NOT NULL,
	`translations` text DEFAULT '{}' NOT NULL,
	`variants` text DEFAULT '[]' NOT NULL,
	`has_variants` integer DEFAULT false NOT NULL,
	`variants_stock` integer,
	`variants_available` integer,
	`likes_count` integer DEFAULT 0 NOT NULL,
	`views_count` integer DEFAULT 0 NOT NULL,
	`lang` text NOT NULL,
	`is_indexed` integer DEFAULT false NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`published_at` text,
	`deleted_at` text,
	`rendered` text GENERATED ALWAYS AS (json_object(
  'id', id, 'title', title, 'slug', slug, 'description', description, 'status', status,
  'price', case when price_minor is null or currency_digits = 0 then price_minor
    else json(printf('%d.%0*d', price_minor / (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end), currency_digits, price_minor % (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end))) end, 'price_minor', price_minor,
  'compare_at_price', case when compare_at_minor is null or currency_digits = 0 then compare_at_minor
    else json(printf('%d.%0*d', compare_at_minor / (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end), currency_digits, compare_at_minor % (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end))) end, 'currency', currency,
  'sku', case when has_variants then null else sku end, 'stock', case when has_variants then variants_stock else stock end,
  'available', case when has_variants then variants_available else case when stock is null then null else stock - reserved end end,
  'allow_backorder', json(case when allow_backorder then 'true' else 'false' end),
  'images', json(images), 'tags', json(tags), 'metadata', json(metadata), 'translations', json(translations),
  'variants', json(variants), 'likes_count', likes_count, 'views_count', views_count, 'lang', lang,
  'version', version, 'created_at', created_at, 'updated_at', updated_at, 'published_at', published_at)) STORED,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "products_status" CHECK("__new_products"."status" in ('draft', 'published', 'archived')),
	CONSTRAINT "products_price" CHECK("__new_products"."price_minor" between 0 and 9007199254740991),
	CONSTRAINT "products_compare_at" CHECK("__new_products"."compare_at_minor" is null or "__new_products"."compare_at_minor" between 0 and 9007199254740991),
	CONSTRAINT "products_stock" CHECK("__new_products"."stock" is null or abs("__new_products"."stock") <= 9007199254740991),
	CONSTRAINT "products_reserved" CHECK("__new_products"."reserved" between 0 and 9007199254740991),
	CONSTRAINT "products_metadata_size" CHECK(length(cast("__new_products"."metadata" as blob)) <= 16384),
	CONSTRAINT "products_translations_size" CHECK(length(cast("__new_products"."translations" as blob)) <= 524288),
	CONSTRAINT "products_json" CHECK(json_valid("__new_products"."images") and json_valid("__new_products"."tags") and json_valid("__new_products"."metadata") and json_valid("__new_products"."translations"))
);
--> statement-breakpoint
INSERT INTO `__new_products`("id", "tenant_id", "title", "slug", "description", "status", "price_minor", "currency", "currency_digits", "sku", "stock", "images", "tags", "metadata", "lang", "version", "created_at", "updated_at", "published_at", "deleted_at") SELECT "id", "tenant_id", "title", "slug", "description", "status", "price_minor", "currency", "currency_digits", "sku", "stock", "images", "tags", "metadata", "lang", "version", "created_at", "updated_at", "published_at", "deleted_at" FROM `products` ORDER BY "created_at", "id";--> statement-breakpoint
DROP TABLE `products`;--> statement-breakpoint
ALTER TABLE `__new_products` RENAME TO `products`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE UNIQUE INDEX `products_id_unique` ON `products` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `products_slug` ON `products` (`tenant_id`,`slug`) WHERE deleted_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX `products_sku` ON `products` (`tenant_id`,`sku`) WHERE sku is not null and deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_created` ON `products` (`tenant_id`,`created_at`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_status` ON `products` (`tenant_id`,`status`,`created_at`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_price` ON `products` (`tenant_id`,`price_minor`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_updated` ON `products` (`tenant_id`,`updated_at`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_title` ON `products` (`tenant_id`,`title`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_not_indexed` ON `products` (`row_number`) WHERE is_indexed = 0;--> statement-breakpoint
ALTER TABLE `tenants` ADD `points_rate` integer DEFAULT 1000 NOT NULL;--> statement-breakpoint
ALTER TABLE `tenants` ADD `point_value` integer DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE `tenants` ADD `points_days` integer;