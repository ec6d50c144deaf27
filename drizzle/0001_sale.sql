ALTER TABLE `tenants` ADD `country` text;
--> statement-breakpoint
ALTER TABLE `tenants` ADD `timezone` text DEFAULT 'UTC' NOT NULL;
--> statement-breakpoint
ALTER TABLE `tenants` ADD `prices_include_tax` text DEFAULT 'no' NOT NULL;
--> statement-breakpoint
ALTER TABLE `tenants` ADD `hold` integer DEFAULT 3600 NOT NULL;
--> statement-breakpoint
ALTER TABLE `tenants` ADD `transfer_hold` integer DEFAULT 604800 NOT NULL;
--> statement-breakpoint
ALTER TABLE `tenants` ADD `transfer_instructions` text;
--> statement-breakpoint
ALTER TABLE `tenants` ADD `long_hold_share` integer DEFAULT 50 NOT NULL;
--> statement-breakpoint
ALTER TABLE `tenants` ADD `order_url` text;
--> statement-breakpoint
ALTER TABLE `tenants` ADD `legal_urls` text DEFAULT '{}' NOT NULL;
--> statement-breakpoint
ALTER TABLE `tenants` ADD `low_stock_at` integer;
--> statement-breakpoint
ALTER TABLE `tenants` ADD `tax_note` text;
--> statement-breakpoint
ALTER TABLE `tenants` ADD `keep_invoices` integer DEFAULT 8 NOT NULL;
--> statement-breakpoint
CREATE TABLE `products_before` AS SELECT `row_number`, `id`, `tenant_id`, `title`, `slug`, `description`, `status`, `price_minor`, `compare_at_minor`, `currency`, `currency_digits`, `sku`, `stock`, `reserved`, `allow_backorder`, `images`, `tags`, `category_ids`, `metadata`, `translations`, `variants`, `catalog_variants`, `has_variants`, `variants_stock`, `variants_available`, `likes_count`, `views_count`, `lang`, `version`, `hidden_versions`, `created_at`, `updated_at`, `published_at`, `deleted_at` FROM `products`;
--> statement-breakpoint
DROP TABLE `products`;
--> statement-breakpoint
CREATE TABLE `products` (
	`row_number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`title` text NOT NULL,
	`sku` text,
	`price_minor` integer NOT NULL,
	`compare_at_minor` integer,
	`currency` text NOT NULL,
	`currency_digits` integer NOT NULL,
	`stock` integer,
	`weight_g` integer,
	`reserved` integer DEFAULT 0 NOT NULL,
	`images` text DEFAULT '[]' NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`hidden_versions` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`deleted_at` text,
	`slug` text NOT NULL,
	`description` text,
	`status` text NOT NULL,
	`allow_backorder` integer DEFAULT false NOT NULL,
	`requires_shipping` integer DEFAULT true NOT NULL,
	`tax_class` text DEFAULT 'standard' NOT NULL,
	`tags` text DEFAULT '[]' NOT NULL,
	`category_ids` text DEFAULT '[]' NOT NULL,
	`metadata` text DEFAULT '{}' NOT NULL,
	`translations` text DEFAULT '{}' NOT NULL,
	`variants` text DEFAULT '[]' NOT NULL,
	`catalog_variants` text DEFAULT '[]' NOT NULL,
	`has_variants` integer DEFAULT false NOT NULL,
	`variants_stock` integer,
	`variants_available` integer,
	`likes_count` integer DEFAULT 0 NOT NULL,
	`views_count` integer DEFAULT 0 NOT NULL,
	`popularity` integer GENERATED ALWAYS AS (views_count + 10 * likes_count) VIRTUAL,
	`lang` text NOT NULL,
	`published_at` text,
	`rendered` text GENERATED ALWAYS AS (json_object(
  'id', id, 'title', title, 'slug', slug, 'description', description, 'status', status,
  'price', case when price_minor is null or currency_digits = 0 then price_minor
    else json(printf('%d.%0*d', price_minor / (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end), currency_digits, price_minor % (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end))) end, 'price_minor', price_minor,
  'compare_at_price', case when compare_at_minor is null or currency_digits = 0 then compare_at_minor
    else json(printf('%d.%0*d', compare_at_minor / (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end), currency_digits, compare_at_minor % (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end))) end, 'currency', currency,
  'sku', case when has_variants then null else sku end, 'images', json(images), 'tags', json(tags),
  'category_ids', json(category_ids), 'weight_g', weight_g,
  'requires_shipping', json(case when requires_shipping then 'true' else 'false' end), 'tax_class', tax_class,
  'translations', json(translations), 'likes_count', likes_count, 'views_count', views_count, 'lang', lang,
  'created_at', created_at, 'updated_at', updated_at, 'published_at', published_at,
  'allow_backorder', json(case when allow_backorder then 'true' else 'false' end), 'version', version,
  'available', case when has_variants then variants_available else case when stock is null then null else stock - reserved end end, 'variants', json(variants),
  'stock', case when has_variants then variants_stock else stock end, 'metadata', json(metadata))) STORED,
	`catalog_bytes` integer GENERATED ALWAYS AS (instr(cast(rendered as blob), cast(',"allow_backorder":' as blob)) - 1) STORED,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "products_price" CHECK("products"."price_minor" between 0 and 9007199254740991),
	CONSTRAINT "products_compare_at" CHECK("products"."compare_at_minor" is null or "products"."compare_at_minor" between 0 and 9007199254740991),
	CONSTRAINT "products_stock" CHECK("products"."stock" is null or abs("products"."stock") <= 9007199254740991),
	CONSTRAINT "products_reserved" CHECK("products"."reserved" between 0 and 9007199254740991),
	CONSTRAINT "products_status" CHECK("products"."status" in ('draft', 'published', 'archived')),
	CONSTRAINT "products_metadata_size" CHECK(length(cast("products"."metadata" as blob)) <= 16384),
	CONSTRAINT "products_translations_size" CHECK(length(cast("products"."translations" as blob)) <= 524288),
	CONSTRAINT "products_json" CHECK(json_valid("products"."images") and json_valid("products"."tags") and json_valid("products"."category_ids") and json_valid("products"."metadata") and json_valid("products"."translations"))
);
--> statement-breakpoint
INSERT INTO `products` (`row_number`, `id`, `tenant_id`, `title`, `slug`, `description`, `status`, `price_minor`, `compare_at_minor`, `currency`, `currency_digits`, `sku`, `stock`, `reserved`, `allow_backorder`, `images`, `tags`, `category_ids`, `metadata`, `translations`, `variants`, `catalog_variants`, `has_variants`, `variants_stock`, `variants_available`, `likes_count`, `views_count`, `lang`, `version`, `hidden_versions`, `created_at`, `updated_at`, `published_at`, `deleted_at`)
	SELECT b.`row_number`, b.`id`, b.`tenant_id`, b.`title`, b.`slug`, b.`description`, b.`status`, b.`price_minor`, b.`compare_at_minor`, b.`currency`, b.`currency_digits`, b.`sku`, b.`stock`, b.`reserved`, b.`allow_backorder`, b.`images`, b.`tags`, b.`category_ids`, b.`metadata`, b.`translations`, b.`variants`, b.`catalog_variants`, b.`has_variants`, b.`variants_stock`, b.`variants_available`, b.`likes_count`, b.`views_count`, b.`lang`, b.`version`, b.`hidden_versions`, b.`created_at`, b.`updated_at`, b.`published_at`, b.`deleted_at` FROM `products_before` b;
--> statement-breakpoint
CREATE UNIQUE INDEX `products_id_unique` ON `products` (`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `products_sku` ON `products` (`tenant_id`,`sku`) WHERE sku is not null and deleted_at is null;
--> statement-breakpoint
CREATE UNIQUE INDEX `products_slug` ON `products` (`tenant_id`,`slug`) WHERE deleted_at is null;
--> statement-breakpoint
CREATE INDEX `products_by_created` ON `products` (`tenant_id`,`created_at`,`id`) WHERE deleted_at is null;
--> statement-breakpoint
CREATE INDEX `products_by_status` ON `products` (`tenant_id`,`status`,`created_at`,`id`) WHERE deleted_at is null;
--> statement-breakpoint
CREATE INDEX `products_by_price` ON `products` (`tenant_id`,`price_minor`,`id`) WHERE deleted_at is null;
--> statement-breakpoint
CREATE INDEX `products_by_updated` ON `products` (`tenant_id`,`updated_at`,`id`) WHERE deleted_at is null;
--> statement-breakpoint
CREATE INDEX `products_by_title` ON `products` (`tenant_id`,`title`,`id`) WHERE deleted_at is null;
--> statement-breakpoint
CREATE INDEX `products_by_views` ON `products` (`tenant_id`,`views_count`,`id`) WHERE deleted_at is null;
--> statement-breakpoint
CREATE INDEX `products_by_popularity` ON `products` (`tenant_id`,`popularity`,`id`) WHERE deleted_at is null;
--> statement-breakpoint
CREATE TABLE `product_variants_before` AS SELECT `id`, `tenant_id`, `product_id`, `title`, `sku`, `options`, `options_key`, `price_minor`, `has_own_price`, `compare_at_minor`, `currency`, `currency_digits`, `stock`, `reserved`, `images`, `position`, `version`, `hidden_versions`, `created_at`, `updated_at`, `deleted_at` FROM `product_variants`;
--> statement-breakpoint
DROP TABLE `product_variants`;
--> statement-breakpoint
CREATE TABLE `product_variants` (
	`id` text PRIMARY KEY NOT NULL,
	`product_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`title` text NOT NULL,
	`sku` text,
	`price_minor` integer NOT NULL,
	`compare_at_minor` integer,
	`currency` text NOT NULL,
	`currency_digits` integer NOT NULL,
	`stock` integer,
	`weight_g` integer,
	`reserved` integer DEFAULT 0 NOT NULL,
	`images` text DEFAULT '[]' NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`hidden_versions` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`deleted_at` text,
	`options` text DEFAULT '{}' NOT NULL,
	`options_key` text DEFAULT '{}' NOT NULL,
	`has_own_price` integer DEFAULT true NOT NULL,
	`position` integer DEFAULT 0 NOT NULL,
	`rendered` text GENERATED ALWAYS AS (json_object(
  'id', id, 'title', title, 'sku', sku, 'options', json(options),
  'price', case when price_minor is null or currency_digits = 0 then price_minor
    else json(printf('%d.%0*d', price_minor / (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end), currency_digits, price_minor % (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end))) end, 'price_minor', price_minor,
  'compare_at_price', case when compare_at_minor is null or currency_digits = 0 then compare_at_minor
    else json(printf('%d.%0*d', compare_at_minor / (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end), currency_digits, compare_at_minor % (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end))) end, 'currency', currency,
  'has_own_price', json(case when has_own_price then 'true' else 'false' end),
  'stock', stock, 'available', case when stock is null then null else stock - reserved end, 'weight_g', weight_g, 'images', json(images), 'position', position,
  'version', version, 'created_at', created_at, 'updated_at', updated_at)) STORED,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "product_variants_price" CHECK("product_variants"."price_minor" between 0 and 9007199254740991),
	CONSTRAINT "product_variants_compare_at" CHECK("product_variants"."compare_at_minor" is null or "product_variants"."compare_at_minor" between 0 and 9007199254740991),
	CONSTRAINT "product_variants_stock" CHECK("product_variants"."stock" is null or abs("product_variants"."stock") <= 9007199254740991),
	CONSTRAINT "product_variants_reserved" CHECK("product_variants"."reserved" between 0 and 9007199254740991),
	CONSTRAINT "product_variants_json" CHECK(json_valid("product_variants"."options") and json_valid("product_variants"."images"))
);
--> statement-breakpoint
INSERT INTO `product_variants` (`id`, `tenant_id`, `product_id`, `title`, `sku`, `options`, `options_key`, `price_minor`, `has_own_price`, `compare_at_minor`, `currency`, `currency_digits`, `stock`, `reserved`, `images`, `position`, `version`, `hidden_versions`, `created_at`, `updated_at`, `deleted_at`)
	SELECT b.`id`, b.`tenant_id`, b.`product_id`, b.`title`, b.`sku`, b.`options`, b.`options_key`, b.`price_minor`, b.`has_own_price`, b.`compare_at_minor`, b.`currency`, b.`currency_digits`, b.`stock`, b.`reserved`, b.`images`, b.`position`, b.`version`, b.`hidden_versions`, b.`created_at`, b.`updated_at`, b.`deleted_at` FROM `product_variants_before` b;
--> statement-breakpoint
CREATE UNIQUE INDEX `product_variants_sku` ON `product_variants` (`tenant_id`,`sku`) WHERE sku is not null and deleted_at is null;
--> statement-breakpoint
CREATE UNIQUE INDEX `product_variants_options` ON `product_variants` (`product_id`,`options_key`) WHERE deleted_at is null;
--> statement-breakpoint
CREATE INDEX `product_variants_by_product` ON `product_variants` (`product_id`,`position`,`id`) WHERE deleted_at is null;
--> statement-breakpoint
-- Products hold the JSON of their variants, which has the weight now.
UPDATE `products` SET (`variants`, `catalog_variants`) = (
  SELECT json_group_array(json(rendered)), json_group_array(json(catalog))
  FROM (SELECT rendered, json_set(json_remove(rendered, '$.stock'), '$.available',
      min(max(stock - reserved, 0), 10), '$.version', version - hidden_versions) AS catalog FROM `product_variants`
    WHERE product_id = `products`.`id` AND deleted_at IS NULL ORDER BY position, id))
WHERE has_variants;
--> statement-breakpoint
DROP TABLE `products_before`;
--> statement-breakpoint
-- A SKU is unique across products and variants of a store; each table has a unique index for its own. For a trigger
-- before a write, SQLite would make the JSON of the row twice.
CREATE TRIGGER `products_sku_given` AFTER INSERT ON `products`
WHEN NEW.sku IS NOT NULL AND NEW.deleted_at IS NULL AND EXISTS (
  SELECT 1 FROM `product_variants` WHERE tenant_id = NEW.tenant_id AND sku = NEW.sku AND deleted_at IS NULL)
BEGIN SELECT raise(abort, 'UNIQUE constraint failed: products.sku'); END;
--> statement-breakpoint
CREATE TRIGGER `products_sku_changed` AFTER UPDATE OF `sku` ON `products`
WHEN NEW.sku IS NOT NULL AND NEW.deleted_at IS NULL AND EXISTS (
  SELECT 1 FROM `product_variants` WHERE tenant_id = NEW.tenant_id AND sku = NEW.sku AND deleted_at IS NULL)
BEGIN SELECT raise(abort, 'UNIQUE constraint failed: products.sku'); END;
--> statement-breakpoint
-- Pictures count the products and variants that show them. None can show a picture that its store does not have.
CREATE TRIGGER `products_pictures_given` AFTER INSERT ON `products` WHEN instr(NEW.images, '"media_id"') BEGIN
  SELECT raise(abort, 'CHECK constraint failed: known_pictures') FROM json_each(NEW.images)
  WHERE value ->> 'media_id' IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM `media` WHERE id = value ->> 'media_id' AND tenant_id = NEW.tenant_id);
  UPDATE `media` SET `uses` = `uses` + 1 WHERE tenant_id = NEW.tenant_id AND id IN (SELECT value ->> 'media_id' FROM json_each(NEW.images));
END;
--> statement-breakpoint
CREATE TRIGGER `products_pictures_changed` AFTER UPDATE OF `images`, `deleted_at` ON `products`
WHEN instr(OLD.images || NEW.images, '"media_id"')
  AND (NEW.images <> OLD.images OR (NEW.deleted_at IS NULL) <> (OLD.deleted_at IS NULL)) BEGIN
  SELECT raise(abort, 'CHECK constraint failed: known_pictures') FROM json_each(NEW.images)
  WHERE value ->> 'media_id' IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM `media` WHERE id = value ->> 'media_id' AND tenant_id = NEW.tenant_id);
  UPDATE `media` SET `uses` = `uses` - 1, `unused_since` = NEW.updated_at
  WHERE OLD.deleted_at IS NULL AND tenant_id = OLD.tenant_id AND id IN (SELECT value ->> 'media_id' FROM json_each(OLD.images));
  UPDATE `media` SET `uses` = `uses` + 1
  WHERE NEW.deleted_at IS NULL AND tenant_id = NEW.tenant_id AND id IN (SELECT value ->> 'media_id' FROM json_each(NEW.images));
END;
--> statement-breakpoint
CREATE TRIGGER `products_search_removed` AFTER DELETE ON `products` BEGIN
  DELETE FROM `product_search` WHERE rowid = OLD.row_number;
END;
--> statement-breakpoint
CREATE TRIGGER `products_search_withdrawn` AFTER UPDATE OF `deleted_at` ON `products` WHEN NEW.deleted_at IS NOT NULL BEGIN
  DELETE FROM `product_search` WHERE rowid = OLD.row_number;
END;
--> statement-breakpoint
-- The program indexes these products before the transaction commits.
CREATE TRIGGER `products_search_added` AFTER INSERT ON `products` BEGIN
  INSERT OR IGNORE INTO `products_to_index` VALUES (NEW.row_number);
END;
--> statement-breakpoint
CREATE TRIGGER `products_search_changed` AFTER UPDATE OF `title`, `description`, `tags`, `sku`, `translations`, `status`,
  `category_ids`, `deleted_at` ON `products` BEGIN
  INSERT OR IGNORE INTO `products_to_index` VALUES (NEW.row_number);
END;
--> statement-breakpoint
-- A price matters to the search for products on sale.
CREATE TRIGGER `products_search_repriced` AFTER UPDATE OF `price_minor`, `compare_at_minor` ON `products`
WHEN NEW.compare_at_minor IS NOT NULL OR OLD.compare_at_minor IS NOT NULL BEGIN
  INSERT OR IGNORE INTO `products_to_index` VALUES (NEW.row_number);
END;
--> statement-breakpoint
-- A product's categories are those of its store.
CREATE TRIGGER `products_categories_given` AFTER INSERT ON `products` WHEN NEW.category_ids <> '[]' AND EXISTS (
  SELECT 1 FROM json_each(NEW.category_ids) AS given
  WHERE NOT EXISTS (SELECT 1 FROM `categories` WHERE id = given.value AND tenant_id = NEW.tenant_id))
BEGIN SELECT raise(abort, 'CHECK constraint failed: products_categories'); END;
--> statement-breakpoint
CREATE TRIGGER `products_categories_changed` AFTER UPDATE OF `category_ids` ON `products` WHEN NEW.category_ids <> OLD.category_ids AND EXISTS (
  SELECT 1 FROM json_each(NEW.category_ids) AS given
  WHERE NOT EXISTS (SELECT 1 FROM `categories` WHERE id = given.value AND tenant_id = NEW.tenant_id))
BEGIN SELECT raise(abort, 'CHECK constraint failed: products_categories'); END;
--> statement-breakpoint
-- The number of a store's products is known without counting them.
CREATE TRIGGER `products_counted` AFTER INSERT ON `products` WHEN NEW.deleted_at IS NULL BEGIN
  INSERT INTO `product_counts` (`tenant_id`, `status`, `products`) VALUES (NEW.tenant_id, NEW.status, 1)
  ON CONFLICT (`tenant_id`, `status`) DO UPDATE SET `products` = `products` + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `products_recounted` AFTER UPDATE OF `status`, `deleted_at` ON `products`
WHEN NEW.status <> OLD.status OR (NEW.deleted_at IS NULL) <> (OLD.deleted_at IS NULL) BEGIN
  UPDATE `product_counts` SET `products` = `products` - 1
  WHERE tenant_id = OLD.tenant_id AND status = OLD.status AND OLD.deleted_at IS NULL;
  INSERT INTO `product_counts` (`tenant_id`, `status`, `products`) SELECT NEW.tenant_id, NEW.status, 1 WHERE NEW.deleted_at IS NULL
  ON CONFLICT (`tenant_id`, `status`) DO UPDATE SET `products` = `products` + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `products_uncounted` AFTER DELETE ON `products` WHEN OLD.deleted_at IS NULL BEGIN
  UPDATE `product_counts` SET `products` = `products` - 1 WHERE tenant_id = OLD.tenant_id AND status = OLD.status;
END;
--> statement-breakpoint
DROP TABLE `product_variants_before`;
--> statement-breakpoint
CREATE TRIGGER `product_variants_added` AFTER INSERT ON `product_variants` BEGIN
  INSERT OR IGNORE INTO `stale_summaries` VALUES (NEW.product_id, '');
  DELETE FROM `stale_summaries` WHERE product_id = NEW.product_id
    AND NOT EXISTS (SELECT 1 FROM `stale_summaries` WHERE product_id = '');
END;
--> statement-breakpoint
CREATE TRIGGER `product_variants_changed` AFTER UPDATE ON `product_variants` BEGIN
  INSERT OR IGNORE INTO `stale_summaries` VALUES (NEW.product_id, '');
  DELETE FROM `stale_summaries` WHERE product_id = NEW.product_id
    AND NOT EXISTS (SELECT 1 FROM `stale_summaries` WHERE product_id = '');
END;
--> statement-breakpoint
CREATE TRIGGER `product_variants_sku_given` AFTER INSERT ON `product_variants`
WHEN NEW.sku IS NOT NULL AND NEW.deleted_at IS NULL AND EXISTS (
  SELECT 1 FROM `products` WHERE tenant_id = NEW.tenant_id AND sku = NEW.sku AND deleted_at IS NULL)
BEGIN SELECT raise(abort, 'UNIQUE constraint failed: product_variants.sku'); END;
--> statement-breakpoint
CREATE TRIGGER `product_variants_sku_changed` AFTER UPDATE OF `sku` ON `product_variants`
WHEN NEW.sku IS NOT NULL AND NEW.deleted_at IS NULL AND EXISTS (
  SELECT 1 FROM `products` WHERE tenant_id = NEW.tenant_id AND sku = NEW.sku AND deleted_at IS NULL)
BEGIN SELECT raise(abort, 'UNIQUE constraint failed: product_variants.sku'); END;
--> statement-breakpoint
CREATE TRIGGER `product_variants_pictures_given` AFTER INSERT ON `product_variants` WHEN instr(NEW.images, '"media_id"') BEGIN
  SELECT raise(abort, 'CHECK constraint failed: known_pictures') FROM json_each(NEW.images)
  WHERE value ->> 'media_id' IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM `media` WHERE id = value ->> 'media_id' AND tenant_id = NEW.tenant_id);
  UPDATE `media` SET `uses` = `uses` + 1 WHERE tenant_id = NEW.tenant_id AND id IN (SELECT value ->> 'media_id' FROM json_each(NEW.images));
END;
--> statement-breakpoint
CREATE TRIGGER `product_variants_pictures_changed` AFTER UPDATE OF `images`, `deleted_at` ON `product_variants`
WHEN instr(OLD.images || NEW.images, '"media_id"')
  AND (NEW.images <> OLD.images OR (NEW.deleted_at IS NULL) <> (OLD.deleted_at IS NULL)) BEGIN
  SELECT raise(abort, 'CHECK constraint failed: known_pictures') FROM json_each(NEW.images)
  WHERE value ->> 'media_id' IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM `media` WHERE id = value ->> 'media_id' AND tenant_id = NEW.tenant_id);
  UPDATE `media` SET `uses` = `uses` - 1, `unused_since` = NEW.updated_at
  WHERE OLD.deleted_at IS NULL AND tenant_id = OLD.tenant_id AND id IN (SELECT value ->> 'media_id' FROM json_each(OLD.images));
  UPDATE `media` SET `uses` = `uses` + 1
  WHERE NEW.deleted_at IS NULL AND tenant_id = NEW.tenant_id AND id IN (SELECT value ->> 'media_id' FROM json_each(NEW.images));
END;
--> statement-breakpoint
CREATE TRIGGER `product_variants_search_added` AFTER INSERT ON `product_variants` BEGIN
  INSERT OR IGNORE INTO `products_to_index` SELECT row_number FROM `products` WHERE id = NEW.product_id;
END;
--> statement-breakpoint
CREATE TRIGGER `product_variants_search_changed` AFTER UPDATE OF `title`, `sku`, `options`, `price_minor`,
  `compare_at_minor`, `deleted_at` ON `product_variants` BEGIN
  INSERT OR IGNORE INTO `products_to_index` SELECT row_number FROM `products` WHERE id = NEW.product_id;
END;
--> statement-breakpoint
CREATE TABLE `orders_before` AS SELECT `id`, `tenant_id`, `number`, `user_id`, `buyer`, `status`, `payment_status`, `fulfillment_status`, `currency`, `currency_digits`, `subtotal_minor`, `discount_minor`, `shipping_minor`, `tax_minor`, `total_minor`, `refunded_minor`, `points_used`, `points_earned`, `points_returned`, `points_reversed`, `payment_reference`, `shipping_address`, `note`, `lang`, `version`, `created_at`, `updated_at`, `expires_at`, `paid_at`, `fulfilled_at`, `cancelled_at` FROM `orders`;
--> statement-breakpoint
DROP TABLE `orders`;
--> statement-breakpoint
CREATE TABLE `orders` (
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`number` integer NOT NULL,
	`user_id` text,
	`buyer` text,
	`status` text NOT NULL,
	`payment_status` text NOT NULL,
	`fulfillment_status` text NOT NULL,
	`currency` text NOT NULL,
	`currency_digits` integer NOT NULL,
	`subtotal_minor` integer DEFAULT 0 NOT NULL,
	`discount_minor` integer DEFAULT 0 NOT NULL,
	`shipping_minor` integer DEFAULT 0 NOT NULL,
	`tax_minor` integer DEFAULT 0 NOT NULL,
	`shipping_tax_minor` integer DEFAULT 0 NOT NULL,
	`total_minor` integer DEFAULT 0 NOT NULL,
	`prices_include_tax` integer DEFAULT false NOT NULL,
	`tax_lines` text DEFAULT '[]' NOT NULL,
	`shipping_rate` text,
	`discount_code` text,
	`received_minor` integer DEFAULT 0 NOT NULL,
	`refunded_minor` integer DEFAULT 0 NOT NULL,
	`credited_minor` integer DEFAULT 0 NOT NULL,
	`payment_method` text,
	`points_used` integer DEFAULT 0 NOT NULL,
	`points_earned` integer DEFAULT 0 NOT NULL,
	`points_returned` integer DEFAULT 0 NOT NULL,
	`points_reversed` integer DEFAULT 0 NOT NULL,
	`email` text,
	`email_key` text,
	`phone` text,
	`shipping_address` text,
	`billing_address` text,
	`note` text,
	`staff_note` text,
	`metadata` text DEFAULT '{}' NOT NULL,
	`access_version` integer DEFAULT 1 NOT NULL,
	`lang` text NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`expires_at` text NOT NULL,
	`paid_at` text,
	`fulfilled_at` text,
	`cancelled_at` text,
	PRIMARY KEY(`tenant_id`, `number`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "orders_status" CHECK("orders"."status" = 'pending' or "orders"."status" = 'paid' or "orders"."status" = 'completed' or "orders"."status" = 'cancelled' or "orders"."status" = 'expired'),
	CONSTRAINT "orders_payment" CHECK("orders"."payment_status" = 'unpaid' or "orders"."payment_status" = 'partially_paid' or "orders"."payment_status" = 'paid' or "orders"."payment_status" = 'partially_refunded' or "orders"."payment_status" = 'refunded' or "orders"."payment_status" = 'payment_processing'),
	CONSTRAINT "orders_fulfillment" CHECK("orders"."fulfillment_status" = 'unfulfilled' or "orders"."fulfillment_status" = 'partially_fulfilled' or "orders"."fulfillment_status" = 'fulfilled'),
	CONSTRAINT "orders_amounts" CHECK("orders"."subtotal_minor" >= 0 and "orders"."shipping_minor" >= 0 and "orders"."shipping_tax_minor" between 0 and "orders"."tax_minor"
        and "orders"."discount_minor" between 0 and "orders"."subtotal_minor" and "orders"."total_minor" <= 9007199254740991
        and "orders"."total_minor" = "orders"."subtotal_minor" - "orders"."discount_minor" + "orders"."shipping_minor"
          + iif("orders"."prices_include_tax", 0, "orders"."tax_minor")),
	CONSTRAINT "orders_refunds" CHECK("orders"."refunded_minor" between 0 and "orders"."received_minor"),
	CONSTRAINT "orders_credits" CHECK("orders"."credited_minor" between 0 and "orders"."total_minor"),
	CONSTRAINT "orders_points_returned" CHECK("orders"."points_returned" between 0 and "orders"."points_used"),
	CONSTRAINT "orders_points_reversed" CHECK("orders"."points_reversed" between 0 and "orders"."points_earned"),
	CONSTRAINT "orders_address" CHECK("orders"."shipping_address" is null or json_valid("orders"."shipping_address")),
	CONSTRAINT "orders_billing" CHECK("orders"."billing_address" is null or json_valid("orders"."billing_address")),
	CONSTRAINT "orders_json" CHECK(json_valid("orders"."tax_lines") and json_valid("orders"."metadata"))
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `orders` (`id`, `tenant_id`, `number`, `user_id`, `buyer`, `status`, `payment_status`, `fulfillment_status`, `currency`, `currency_digits`, `subtotal_minor`, `discount_minor`, `shipping_minor`, `tax_minor`, `total_minor`, `refunded_minor`, `points_used`, `points_earned`, `points_returned`, `points_reversed`, `shipping_address`, `note`, `lang`, `version`, `created_at`, `updated_at`, `expires_at`, `paid_at`, `fulfilled_at`, `cancelled_at`, `received_minor`, `credited_minor`)
	SELECT b.`id`, b.`tenant_id`, b.`number`, b.`user_id`, b.`buyer`, b.`status`, b.`payment_status`, b.`fulfillment_status`, b.`currency`, b.`currency_digits`, b.`subtotal_minor`, b.`discount_minor`, b.`shipping_minor`, b.`tax_minor`, b.`total_minor`, b.`refunded_minor`, b.`points_used`, b.`points_earned`, b.`points_returned`, b.`points_reversed`, b.`shipping_address`, b.`note`, b.`lang`, b.`version`, b.`created_at`, b.`updated_at`, b.`expires_at`, b.`paid_at`, b.`fulfilled_at`, b.`cancelled_at`, iif(b.payment_status = 'unpaid', 0, b.total_minor), b.refunded_minor FROM `orders_before` b;
--> statement-breakpoint
CREATE UNIQUE INDEX `orders_id_unique` ON `orders` (`id`);
--> statement-breakpoint
CREATE INDEX `orders_by_created` ON `orders` (`tenant_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `orders_by_updated` ON `orders` (`tenant_id`,`updated_at`,`id`);
--> statement-breakpoint
CREATE INDEX `orders_by_status` ON `orders` (`tenant_id`,`status`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `orders_by_user` ON `orders` (`tenant_id`,`user_id`,`created_at`,`id`) WHERE user_id is not null;
--> statement-breakpoint
CREATE INDEX `orders_by_buyer` ON `orders` (`tenant_id`,`buyer`) WHERE buyer is not null;
--> statement-breakpoint
CREATE INDEX `orders_by_email` ON `orders` (`tenant_id`,`email_key`) WHERE email_key is not null;
--> statement-breakpoint
CREATE INDEX `orders_unpaid_guests` ON `orders` (`updated_at`) WHERE user_id is null and payment_status = 'unpaid' and status in ('cancelled', 'expired') and coalesce(email, phone, shipping_address, billing_address, note, staff_note, nullif(metadata, '{}')) is not null;
--> statement-breakpoint
CREATE INDEX `orders_with_persons` ON `orders` (`tenant_id`,`updated_at`) WHERE status not in ('pending', 'paid') and coalesce(email, phone, shipping_address, billing_address, note, staff_note, nullif(metadata, '{}')) is not null;
--> statement-breakpoint
CREATE INDEX `orders_by_expiry` ON `orders` (`expires_at`) WHERE status = 'pending';
--> statement-breakpoint
CREATE TABLE `order_lines_before` AS SELECT `id`, `tenant_id`, `order_id`, `position`, `product_id`, `variant_id`, `title`, `variant_title`, `sku`, `options`, `image`, `price_minor`, `quantity`, `subtotal_minor`, `discount_minor`, `tax_minor`, `total_minor`, `is_counted`, `refunded_quantity`, `refunded_minor`, `restocked_quantity` FROM `order_lines`;
--> statement-breakpoint
DROP TABLE `order_lines`;
--> statement-breakpoint
CREATE TABLE `order_lines` (
	`id` text NOT NULL,
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
	`tax_class` text DEFAULT 'standard' NOT NULL,
	`requires_shipping` integer DEFAULT true NOT NULL,
	`weight_g` integer,
	`is_counted` integer NOT NULL,
	`fulfilled_quantity` integer DEFAULT 0 NOT NULL,
	`cancelled_quantity` integer DEFAULT 0 NOT NULL,
	`refunded_quantity` integer DEFAULT 0 NOT NULL,
	`refunded_minor` integer DEFAULT 0 NOT NULL,
	`restocked_quantity` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`order_id`, `position`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "order_lines_quantity" CHECK("order_lines"."quantity" > 0),
	CONSTRAINT "order_lines_amounts" CHECK("order_lines"."subtotal_minor" = "order_lines"."price_minor" * "order_lines"."quantity" and "order_lines"."tax_minor" >= 0
        and "order_lines"."discount_minor" between 0 and "order_lines"."subtotal_minor"
        and "order_lines"."total_minor" - "order_lines"."subtotal_minor" + "order_lines"."discount_minor" in (0, "order_lines"."tax_minor")),
	CONSTRAINT "order_lines_refunds" CHECK("order_lines"."refunded_quantity" between 0 and "order_lines"."quantity" and "order_lines"."refunded_minor" between 0 and "order_lines"."total_minor"
        and "order_lines"."restocked_quantity" between 0 and "order_lines"."refunded_quantity"),
	CONSTRAINT "order_lines_pieces" CHECK("order_lines"."fulfilled_quantity" >= 0 and "order_lines"."cancelled_quantity" between 0 and "order_lines"."refunded_quantity"
        and "order_lines"."fulfilled_quantity" + "order_lines"."cancelled_quantity" <= "order_lines"."quantity")
) WITHOUT ROWID;
--> statement-breakpoint
INSERT INTO `order_lines` (`id`, `tenant_id`, `order_id`, `position`, `product_id`, `variant_id`, `title`, `variant_title`, `sku`, `options`, `image`, `price_minor`, `quantity`, `subtotal_minor`, `discount_minor`, `tax_minor`, `total_minor`, `is_counted`, `refunded_quantity`, `refunded_minor`, `restocked_quantity`, `fulfilled_quantity`, `cancelled_quantity`)
	SELECT b.`id`, b.`tenant_id`, b.`order_id`, b.`position`, b.`product_id`, b.`variant_id`, b.`title`, b.`variant_title`, b.`sku`, b.`options`, b.`image`, b.`price_minor`, b.`quantity`, b.`subtotal_minor`, b.`discount_minor`, b.`tax_minor`, b.`total_minor`, b.`is_counted`, b.`refunded_quantity`, b.`refunded_minor`, b.`restocked_quantity`, iif(o.fulfillment_status = 'fulfilled', b.quantity, 0), iif(o.fulfillment_status = 'fulfilled', 0, b.refunded_quantity) FROM `order_lines_before` b JOIN `orders` o ON o.`id` = b.`order_id`;
--> statement-breakpoint
CREATE TABLE `order_refunds_before` AS SELECT `id`, `tenant_id`, `order_id`, `amount_minor`, `lines`, `reason`, `points_returned`, `points_reversed`, `created_at` FROM `order_refunds`;
--> statement-breakpoint
DROP TABLE `order_refunds`;
--> statement-breakpoint
CREATE TABLE `order_refunds` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`order_id` text NOT NULL,
	`amount_minor` integer NOT NULL,
	`shipping_minor` integer DEFAULT 0 NOT NULL,
	`credited_minor` integer DEFAULT 0 NOT NULL,
	`payment_id` text,
	`state` text DEFAULT 'succeeded' NOT NULL,
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
INSERT INTO `order_refunds` (`id`, `tenant_id`, `order_id`, `amount_minor`, `lines`, `reason`, `points_returned`, `points_reversed`, `created_at`, `shipping_minor`, `credited_minor`, `payment_id`)
	SELECT b.`id`, b.`tenant_id`, b.`order_id`, b.`amount_minor`, b.`lines`, b.`reason`, b.`points_returned`, b.`points_reversed`, b.`created_at`, max(0, b.amount_minor - coalesce((SELECT sum(json_extract(value, '$.amount_minor')) FROM json_each(b.lines)), 0)), b.amount_minor, iif(b.amount_minor > 0, 'pay_' || substr(b.order_id, 5), NULL) FROM `order_refunds_before` b;
--> statement-breakpoint
CREATE INDEX `order_refunds_by_order` ON `order_refunds` (`order_id`,`id`);
--> statement-breakpoint
CREATE TABLE `shipping_rates` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`position` integer NOT NULL,
	`zone` text NOT NULL,
	`countries` text NOT NULL,
	`postcodes` text DEFAULT '[]' NOT NULL,
	`name` text NOT NULL,
	`names` text DEFAULT '{}' NOT NULL,
	`price_minor` integer NOT NULL,
	`free_from_minor` integer,
	`min_value_minor` integer,
	`max_value_minor` integer,
	`min_weight_g` integer,
	`max_weight_g` integer,
	`tax_class` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "shipping_rates_price" CHECK("shipping_rates"."price_minor" between 0 and 9007199254740991),
	CONSTRAINT "shipping_rates_json" CHECK(json_valid("shipping_rates"."countries") and json_valid("shipping_rates"."postcodes") and json_valid("shipping_rates"."names"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `shipping_rates_name` ON `shipping_rates` (`tenant_id`,`zone`,`name`);
--> statement-breakpoint
CREATE TABLE `discount_uses` (
	`order_id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`discount_id` text NOT NULL,
	`user_id` text,
	`email_key` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`discount_id`) REFERENCES `discounts`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `discount_uses_by_user` ON `discount_uses` (`discount_id`,`user_id`) WHERE user_id is not null;
--> statement-breakpoint
CREATE INDEX `discount_uses_by_email` ON `discount_uses` (`discount_id`,`email_key`) WHERE email_key is not null;
--> statement-breakpoint
CREATE TABLE `discounts` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`code` text NOT NULL,
	`code_key` text NOT NULL,
	`percent` integer,
	`amount_minor` integer,
	`free_shipping` integer DEFAULT false NOT NULL,
	`minimum_minor` integer,
	`product_ids` text DEFAULT '[]' NOT NULL,
	`category_ids` text DEFAULT '[]' NOT NULL,
	`begins_at` text,
	`ends_at` text,
	`max_uses` integer,
	`max_per_customer` integer,
	`uses` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "discounts_percent" CHECK("discounts"."percent" is null or "discounts"."percent" between 1 and 100000),
	CONSTRAINT "discounts_kind" CHECK(("discounts"."percent" is not null) + ("discounts"."amount_minor" is not null) + "discounts"."free_shipping" = 1),
	CONSTRAINT "discounts_uses" CHECK("discounts"."uses" between 0 and coalesce("discounts"."max_uses", "discounts"."uses")),
	CONSTRAINT "discounts_json" CHECK(json_valid("discounts"."product_ids") and json_valid("discounts"."category_ids"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `discounts_code` ON `discounts` (`tenant_id`,`code_key`);
--> statement-breakpoint
CREATE INDEX `discounts_by_created` ON `discounts` (`tenant_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE TABLE `fulfillments` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`order_id` text NOT NULL,
	`lines` text NOT NULL,
	`tracking` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "fulfillments_json" CHECK(json_valid("fulfillments"."lines") and ("fulfillments"."tracking" is null or json_valid("fulfillments"."tracking")))
);
--> statement-breakpoint
CREATE INDEX `fulfillments_by_order` ON `fulfillments` (`order_id`,`id`);
--> statement-breakpoint
CREATE TABLE `order_attention` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`order_id` text NOT NULL,
	`kind` text NOT NULL,
	`created_at` text NOT NULL,
	`ended_at` text,
	`action` text,
	`ended_by` text,
	`note` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "order_attention_kind" CHECK("order_attention"."kind" in ('late_payment', 'partial_payment', 'overpaid', 'amount_mismatch', 'refund_failed', 'refund_unassigned', 'dispute', 'withdrawal'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `order_attention_open` ON `order_attention` (`order_id`,`kind`) WHERE ended_at is null;
--> statement-breakpoint
CREATE INDEX `order_attention_by_order` ON `order_attention` (`order_id`,`kind`);
--> statement-breakpoint
CREATE INDEX `order_attention_by_store` ON `order_attention` (`tenant_id`,`created_at`) WHERE ended_at is null;
--> statement-breakpoint
CREATE TABLE `payments` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`order_id` text NOT NULL,
	`provider` text NOT NULL,
	`reference` text,
	`amount_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`received_at` text NOT NULL,
	`recorded_by` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "payments_amount" CHECK("payments"."amount_minor" between 0 and 9007199254740991)
);
--> statement-breakpoint
CREATE UNIQUE INDEX `payments_reference` ON `payments` (`tenant_id`,`provider`,`reference`) WHERE reference is not null;
--> statement-breakpoint
CREATE INDEX `payments_by_order` ON `payments` (`order_id`,`id`);
--> statement-breakpoint
CREATE TABLE `withdrawals` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`order_id` text,
	`number` integer NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`name` text NOT NULL,
	`lines` text,
	`text` text,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `withdrawals_by_store` ON `withdrawals` (`tenant_id`,`created_at`);
--> statement-breakpoint
CREATE INDEX `withdrawals_by_order` ON `withdrawals` (`order_id`);
--> statement-breakpoint
CREATE INDEX `withdrawals_by_email` ON `withdrawals` (`tenant_id`,`email_key`);
--> statement-breakpoint
CREATE TABLE `tax_rates` (
	`tenant_id` text NOT NULL,
	`country` text NOT NULL,
	`tax_class` text NOT NULL,
	`rate` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `country`, `tax_class`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "tax_rates_rate" CHECK("tax_rates"."rate" between 0 and 100000)
);
--> statement-breakpoint
INSERT INTO `payments` (`id`, `tenant_id`, `order_id`, `provider`, `reference`, `amount_minor`, `currency`, `received_at`, `created_at`)
	SELECT 'pay_' || substr(id, 5), tenant_id, id, 'manual', payment_reference, total_minor, currency, coalesce(paid_at, updated_at), coalesce(paid_at, updated_at)
	FROM `orders_before` WHERE payment_status <> 'unpaid' AND (total_minor > 0 OR payment_reference IS NOT NULL);
--> statement-breakpoint
INSERT INTO `fulfillments` (`id`, `tenant_id`, `order_id`, `lines`, `created_at`)
	SELECT 'ful_' || substr(o.id, 5), o.tenant_id, o.id, (SELECT json_group_array(json_object('line_id', l.id, 'quantity', l.quantity)) FROM `order_lines_before` l WHERE l.order_id = o.id), coalesce(o.fulfilled_at, o.updated_at)
	FROM `orders_before` o WHERE o.fulfillment_status = 'fulfilled';
--> statement-breakpoint
DROP TABLE `orders_before`;
--> statement-breakpoint
DROP TABLE `order_lines_before`;
--> statement-breakpoint
DROP TABLE `order_refunds_before`;
