CREATE TABLE `app_key_origins` (
	`tenant_id` text NOT NULL,
	`app_id` text NOT NULL,
	`pattern` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`app_id`, `pattern`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`app_id`) REFERENCES `app_keys`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `app_key_secrets` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`app_id` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` text NOT NULL,
	`expires_at` text,
	`last_used_at` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`app_id`) REFERENCES `app_keys`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `app_key_secrets_by_app` ON `app_key_secrets` (`app_id`);--> statement-breakpoint
CREATE TABLE `app_keys` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`name` text NOT NULL,
	`scopes` text NOT NULL,
	`active` integer DEFAULT true NOT NULL,
	`published` integer DEFAULT false NOT NULL,
	`enforce_origins` integer DEFAULT false NOT NULL,
	`allow_no_origin` integer DEFAULT false NOT NULL,
	`expires_at` text,
	`revoked_at` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "app_keys_scopes" CHECK(json_valid("app_keys"."scopes"))
);
--> statement-breakpoint
CREATE INDEX `app_keys_by_tenant` ON `app_keys` (`tenant_id`,`id`);--> statement-breakpoint
CREATE TABLE `products` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`title` text NOT NULL,
	`slug` text NOT NULL,
	`description` text,
	`status` text NOT NULL,
	`price_minor` integer NOT NULL,
	`currency` text NOT NULL,
	`currency_digits` integer NOT NULL,
	`sku` text,
	`stock` integer,
	`images` text DEFAULT '[]' NOT NULL,
	`tags` text DEFAULT '[]' NOT NULL,
	`metadata` text DEFAULT '{}' NOT NULL,
	`lang` text NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`published_at` text,
	`deleted_at` text,
	`rendered` text GENERATED ALWAYS AS (json_object(
  'id', id, 'title', title, 'slug', slug, 'description', description, 'status', status,
  'price', case currency_digits when 0 then price_minor
    else json(printf('%d.%0*d', price_minor / (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end), currency_digits, price_minor % (case currency_digits when 2 then 100 when 3 then 1000 when 1 then 10 else 10000 end))) end, 'price_minor', price_minor, 'currency', currency,
  'sku', sku, 'stock', stock, 'images', json(images), 'tags', json(tags), 'metadata', json(metadata), 'lang', lang,
  'version', version, 'created_at', created_at, 'updated_at', updated_at, 'published_at', published_at)) STORED,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "products_status" CHECK("products"."status" in ('draft', 'published', 'archived')),
	CONSTRAINT "products_price" CHECK("products"."price_minor" between 0 and 9007199254740991),
	CONSTRAINT "products_stock" CHECK("products"."stock" is null or "products"."stock" between 0 and 9007199254740991),
	CONSTRAINT "products_metadata_size" CHECK(length(cast("products"."metadata" as blob)) <= 16384),
	CONSTRAINT "products_json" CHECK(json_valid("products"."images") and json_valid("products"."tags") and json_valid("products"."metadata"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `products_slug` ON `products` (`tenant_id`,`slug`) WHERE deleted_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX `products_sku` ON `products` (`tenant_id`,`sku`) WHERE sku is not null and deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_created` ON `products` (`tenant_id`,`created_at`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_status` ON `products` (`tenant_id`,`status`,`created_at`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_price` ON `products` (`tenant_id`,`price_minor`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_updated` ON `products` (`tenant_id`,`updated_at`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_title` ON `products` (`tenant_id`,`title`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE TABLE `rate_limits` (
	`key` text PRIMARY KEY NOT NULL,
	`hits` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `rate_limits_by_expiry` ON `rate_limits` (`expires_at`);--> statement-breakpoint
CREATE TABLE `revision` (
	`id` integer PRIMARY KEY NOT NULL,
	`value` integer DEFAULT 0 NOT NULL,
	CONSTRAINT "revision_single_row" CHECK("revision"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE `tenants` (
	`id` text PRIMARY KEY NOT NULL,
	`namespace` text NOT NULL,
	`title` text NOT NULL,
	`domain` text,
	`url` text,
	`currency` text NOT NULL,
	`currency_sign` text NOT NULL,
	`logo` text,
	`language` text NOT NULL,
	`status` text DEFAULT 'active' NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "tenants_status" CHECK("tenants"."status" in ('active', 'suspended'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tenants_namespace_unique` ON `tenants` (`namespace`);