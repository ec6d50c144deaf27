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
	`last_used_at` text,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "app_keys_scopes" CHECK(json_valid("app_keys"."scopes"))
);
--> statement-breakpoint
CREATE INDEX `app_keys_by_tenant` ON `app_keys` (`tenant_id`,`id`);--> statement-breakpoint
CREATE TABLE `rejected_origins` (
	`tenant_id` text NOT NULL,
	`app_id` text NOT NULL,
	`origin` text NOT NULL,
	`last_at` text NOT NULL,
	PRIMARY KEY(`app_id`, `origin`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`app_id`) REFERENCES `app_keys`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `rejected_origins_by_time` ON `rejected_origins` (`last_at`);--> statement-breakpoint
CREATE TABLE `audit_log` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`at` text NOT NULL,
	`event` text NOT NULL,
	`namespace` text,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`subject` text,
	`address` text,
	`address_salt` text,
	`address_hash` text,
	`request_id` text NOT NULL,
	`code` integer,
	`details` text,
	`hash` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `audit_log_by_namespace` ON `audit_log` (`namespace`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_log_by_subject` ON `audit_log` (`subject`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_log_by_actor` ON `audit_log` (`actor_id`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_log_by_address` ON `audit_log` (`address`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_log_by_event` ON `audit_log` (`event`,`seq`);--> statement-breakpoint
CREATE INDEX `audit_log_addresses` ON `audit_log` (`at`) WHERE address is not null;--> statement-breakpoint
CREATE TABLE `categories` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`parent_id` text,
	`slug` text NOT NULL,
	`title` text NOT NULL,
	`description` text,
	`translations` text DEFAULT '{}' NOT NULL,
	`position` integer DEFAULT 0 NOT NULL,
	`published` integer DEFAULT true NOT NULL,
	`lang` text NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`rendered` text GENERATED ALWAYS AS (json_object(
  'id', id, 'parent_id', parent_id, 'slug', slug, 'title', title, 'description', description,
  'translations', json(translations), 'position', position,
  'published', json(case when published then 'true' else 'false' end), 'lang', lang,
  'version', version, 'created_at', created_at, 'updated_at', updated_at)) STORED,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`parent_id`) REFERENCES `categories`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "categories_translations_size" CHECK(length(cast("categories"."translations" as blob)) <= 524288),
	CONSTRAINT "categories_json" CHECK(json_valid("categories"."translations"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `categories_slug` ON `categories` (`tenant_id`,`slug`);--> statement-breakpoint
CREATE INDEX `categories_by_parent` ON `categories` (`parent_id`);--> statement-breakpoint
CREATE INDEX `categories_by_position` ON `categories` (`tenant_id`,`position`,`id`);--> statement-breakpoint
CREATE TABLE `events` (
	`sequence` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`type` text NOT NULL,
	`subject` text NOT NULL,
	`data` text NOT NULL,
	`created_at` text NOT NULL,
	`is_shown` integer DEFAULT false NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `events_by_tenant` ON `events` (`tenant_id`);--> statement-breakpoint
CREATE INDEX `events_shown` ON `events` (`tenant_id`) WHERE is_shown;--> statement-breakpoint
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
CREATE TABLE `mail_codes` (
	`tenant_id` text NOT NULL,
	`purpose` text NOT NULL,
	`subject` text NOT NULL,
	`slot` integer DEFAULT 0 NOT NULL,
	`hash` text NOT NULL,
	`created_at` text NOT NULL,
	`expires_at` text NOT NULL,
	`wrong_tries` integer DEFAULT 0 NOT NULL,
	`used_at` text,
	PRIMARY KEY(`tenant_id`, `purpose`, `subject`, `slot`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "mail_codes_purpose" CHECK("mail_codes"."purpose" in ('reset', 'login', 'sign_up', 'email')),
	CONSTRAINT "mail_codes_tries" CHECK("mail_codes"."wrong_tries" between 0 and 5)
);
--> statement-breakpoint
CREATE INDEX `mail_codes_by_expiry` ON `mail_codes` (`expires_at`);--> statement-breakpoint
CREATE TABLE `mail_outbox` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`kind` text NOT NULL,
	`subject_key` text,
	`recipient_key` text,
	`sealed` text,
	`masked_to` text,
	`status` text NOT NULL,
	`useful_until` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` text NOT NULL,
	`leased_until` text,
	`last_status` integer,
	`last_error` text,
	`created_at` text NOT NULL,
	`finished_at` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "mail_outbox_status" CHECK("mail_outbox"."status" in ('waiting', 'sent', 'failed', 'expired', 'dropped')),
	CONSTRAINT "mail_outbox_erased" CHECK("mail_outbox"."status" in ('waiting', 'failed') or "mail_outbox"."sealed" is null)
);
--> statement-breakpoint
CREATE INDEX `mail_outbox_due` ON `mail_outbox` (`next_attempt_at`) WHERE status = 'waiting';--> statement-breakpoint
CREATE INDEX `mail_outbox_by_subject` ON `mail_outbox` (`tenant_id`,`subject_key`) WHERE status = 'waiting';--> statement-breakpoint
CREATE INDEX `mail_outbox_by_recipient` ON `mail_outbox` (`tenant_id`,`recipient_key`);--> statement-breakpoint
CREATE INDEX `mail_outbox_by_tenant` ON `mail_outbox` (`tenant_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `mail_outbox_done` ON `mail_outbox` (`finished_at`) WHERE status <> 'waiting';--> statement-breakpoint
CREATE TABLE `media` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`source_hash` text NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`bytes` integer NOT NULL,
	`in_s3` integer NOT NULL,
	`uses` integer DEFAULT 0 NOT NULL,
	`unused_since` text NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `media_source` ON `media` (`tenant_id`,`source_hash`);--> statement-breakpoint
CREATE INDEX `media_sizes` ON `media` (`tenant_id`,`bytes`);--> statement-breakpoint
CREATE INDEX `media_unused` ON `media` (`unused_since`) WHERE uses = 0;--> statement-breakpoint
CREATE TABLE `media_blobs` (
	`tenant_id` text NOT NULL,
	`media_id` text NOT NULL,
	`width` integer NOT NULL,
	`bytes` blob NOT NULL,
	PRIMARY KEY(`media_id`, `width`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`media_id`) REFERENCES `media`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `media_blobs_by_tenant` ON `media_blobs` (`tenant_id`);--> statement-breakpoint
CREATE TABLE `media_trash` (
	`folder` text PRIMARY KEY NOT NULL,
	`removed_at` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `media_trash_by_age` ON `media_trash` (`removed_at`);--> statement-breakpoint
CREATE TABLE `push_counts` (
	`tenant_id` text PRIMARY KEY NOT NULL,
	`registrations` integer NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `push_deliveries` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`message_id` text NOT NULL,
	`registration_id` text,
	`platform` text NOT NULL,
	`priority` integer NOT NULL,
	`status` text NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` text NOT NULL,
	`leased_until` text,
	`last_status` integer,
	`last_error` text,
	`created_at` text NOT NULL,
	`finished_at` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`message_id`) REFERENCES `push_messages`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`registration_id`) REFERENCES `push_registrations`(`id`) ON UPDATE no action ON DELETE set null,
	CONSTRAINT "push_deliveries_platform" CHECK("push_deliveries"."platform" in ('web', 'ios', 'android')),
	CONSTRAINT "push_deliveries_status" CHECK("push_deliveries"."status" in ('waiting', 'sent', 'failed', 'dropped', 'expired'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `push_deliveries_once` ON `push_deliveries` (`message_id`,`registration_id`);--> statement-breakpoint
CREATE INDEX `push_deliveries_by_registration` ON `push_deliveries` (`registration_id`);--> statement-breakpoint
CREATE INDEX `push_deliveries_due` ON `push_deliveries` (`tenant_id`,`priority`,`next_attempt_at`) WHERE status = 'waiting';--> statement-breakpoint
CREATE INDEX `push_deliveries_by_age` ON `push_deliveries` (`status`,`finished_at`);--> statement-breakpoint
CREATE TABLE `push_messages` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`kind` text NOT NULL,
	`content` text NOT NULL,
	`topic` text,
	`user_id` text,
	`lang` text,
	`position` text,
	`created_at` text NOT NULL,
	`expires_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "push_messages_kind" CHECK("push_messages"."kind" in ('order', 'message')),
	CONSTRAINT "push_messages_content" CHECK(json_valid("push_messages"."content"))
);
--> statement-breakpoint
CREATE INDEX `push_messages_by_tenant` ON `push_messages` (`tenant_id`,`id`);--> statement-breakpoint
CREATE INDEX `push_messages_unfinished` ON `push_messages` (`id`) WHERE position is not null;--> statement-breakpoint
CREATE INDEX `push_messages_by_age` ON `push_messages` (`created_at`);--> statement-breakpoint
CREATE TABLE `push_registrations` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`platform` text NOT NULL,
	`target_key` text NOT NULL,
	`proof_key` text,
	`target` text NOT NULL,
	`user_id` text,
	`lang` text,
	`secret_hash` text NOT NULL,
	`is_proven` integer DEFAULT false NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	`delivered_at` text,
	`used_at` text GENERATED ALWAYS AS (max(updated_at, coalesce(delivered_at, ''))) VIRTUAL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "push_registrations_platform" CHECK("push_registrations"."platform" in ('web', 'ios', 'android'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `push_registrations_target` ON `push_registrations` (`tenant_id`,`target_key`);--> statement-breakpoint
CREATE INDEX `push_registrations_by_tenant` ON `push_registrations` (`tenant_id`,`id`);--> statement-breakpoint
CREATE INDEX `push_registrations_by_user` ON `push_registrations` (`user_id`) WHERE user_id is not null;--> statement-breakpoint
CREATE INDEX `push_registrations_by_use` ON `push_registrations` (`used_at`);--> statement-breakpoint
CREATE TABLE `push_topics` (
	`tenant_id` text NOT NULL,
	`topic` text NOT NULL,
	`registration_id` text NOT NULL,
	PRIMARY KEY(`tenant_id`, `topic`, `registration_id`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`registration_id`) REFERENCES `push_registrations`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `push_topics_by_registration` ON `push_topics` (`registration_id`);--> statement-breakpoint
CREATE TABLE `vapid_keys` (
	`id` integer PRIMARY KEY NOT NULL,
	`public_key` text NOT NULL,
	`private_key` text NOT NULL,
	`created_at` text NOT NULL,
	CONSTRAINT "vapid_keys_single_row" CHECK("vapid_keys"."id" = 1)
);
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
	`is_counted` integer NOT NULL,
	`refunded_quantity` integer DEFAULT 0 NOT NULL,
	`refunded_minor` integer DEFAULT 0 NOT NULL,
	`restocked_quantity` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`order_id`, `position`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`order_id`) REFERENCES `orders`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "order_lines_quantity" CHECK("order_lines"."quantity" > 0),
	CONSTRAINT "order_lines_amounts" CHECK("order_lines"."subtotal_minor" = "order_lines"."price_minor" * "order_lines"."quantity" and "order_lines"."tax_minor" >= 0
        and "order_lines"."discount_minor" between 0 and "order_lines"."subtotal_minor"
        and "order_lines"."total_minor" = "order_lines"."subtotal_minor" - "order_lines"."discount_minor" + "order_lines"."tax_minor"),
	CONSTRAINT "order_lines_refunds" CHECK("order_lines"."refunded_quantity" between 0 and "order_lines"."quantity" and "order_lines"."refunded_minor" between 0 and "order_lines"."total_minor"
        and "order_lines"."restocked_quantity" between 0 and "order_lines"."refunded_quantity")
) WITHOUT ROWID;
--> statement-breakpoint
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
	PRIMARY KEY(`tenant_id`, `number`),
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
) WITHOUT ROWID;
--> statement-breakpoint
CREATE UNIQUE INDEX `orders_id_unique` ON `orders` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `orders_payment_reference` ON `orders` (`tenant_id`,`payment_reference`) WHERE payment_reference is not null;--> statement-breakpoint
CREATE INDEX `orders_by_created` ON `orders` (`tenant_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_by_updated` ON `orders` (`tenant_id`,`updated_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_by_status` ON `orders` (`tenant_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `orders_by_user` ON `orders` (`tenant_id`,`user_id`,`created_at`,`id`) WHERE user_id is not null;--> statement-breakpoint
CREATE INDEX `orders_by_buyer` ON `orders` (`tenant_id`,`buyer`) WHERE buyer is not null;--> statement-breakpoint
CREATE TABLE `product_counts` (
	`tenant_id` text NOT NULL,
	`status` text NOT NULL,
	`products` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `status`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
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
	`images` text DEFAULT '[]' NOT NULL,
	`position` integer DEFAULT 0 NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`hidden_versions` integer DEFAULT 0 NOT NULL,
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
  'stock', stock, 'available', case when stock is null then null else stock - reserved end, 'images', json(images), 'position', position,
  'version', version, 'created_at', created_at, 'updated_at', updated_at)) STORED,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`product_id`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "product_variants_price" CHECK("product_variants"."price_minor" between 0 and 9007199254740991),
	CONSTRAINT "product_variants_compare_at" CHECK("product_variants"."compare_at_minor" is null or "product_variants"."compare_at_minor" between 0 and 9007199254740991),
	CONSTRAINT "product_variants_stock" CHECK("product_variants"."stock" is null or abs("product_variants"."stock") <= 9007199254740991),
	CONSTRAINT "product_variants_reserved" CHECK("product_variants"."reserved" between 0 and 9007199254740991),
	CONSTRAINT "product_variants_json" CHECK(json_valid("product_variants"."options") and json_valid("product_variants"."images"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `product_variants_sku` ON `product_variants` (`tenant_id`,`sku`) WHERE sku is not null and deleted_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX `product_variants_options` ON `product_variants` (`product_id`,`options_key`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `product_variants_by_product` ON `product_variants` (`product_id`,`position`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE TABLE `products` (
	`row_number` integer PRIMARY KEY NOT NULL,
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
	`version` integer DEFAULT 1 NOT NULL,
	`hidden_versions` integer DEFAULT 0 NOT NULL,
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
  'sku', case when has_variants then null else sku end, 'images', json(images), 'tags', json(tags),
  'category_ids', json(category_ids),
  'translations', json(translations), 'likes_count', likes_count, 'views_count', views_count, 'lang', lang,
  'created_at', created_at, 'updated_at', updated_at, 'published_at', published_at,
  'allow_backorder', json(case when allow_backorder then 'true' else 'false' end), 'version', version,
  'available', case when has_variants then variants_available else case when stock is null then null else stock - reserved end end, 'variants', json(variants),
  'stock', case when has_variants then variants_stock else stock end, 'metadata', json(metadata))) STORED,
	`catalog_bytes` integer GENERATED ALWAYS AS (instr(cast(rendered as blob), cast(',"allow_backorder":' as blob)) - 1) STORED,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "products_status" CHECK("products"."status" in ('draft', 'published', 'archived')),
	CONSTRAINT "products_price" CHECK("products"."price_minor" between 0 and 9007199254740991),
	CONSTRAINT "products_compare_at" CHECK("products"."compare_at_minor" is null or "products"."compare_at_minor" between 0 and 9007199254740991),
	CONSTRAINT "products_stock" CHECK("products"."stock" is null or abs("products"."stock") <= 9007199254740991),
	CONSTRAINT "products_reserved" CHECK("products"."reserved" between 0 and 9007199254740991),
	CONSTRAINT "products_metadata_size" CHECK(length(cast("products"."metadata" as blob)) <= 16384),
	CONSTRAINT "products_translations_size" CHECK(length(cast("products"."translations" as blob)) <= 524288),
	CONSTRAINT "products_json" CHECK(json_valid("products"."images") and json_valid("products"."tags") and json_valid("products"."category_ids") and json_valid("products"."metadata") and json_valid("products"."translations"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `products_id_unique` ON `products` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `products_slug` ON `products` (`tenant_id`,`slug`) WHERE deleted_at is null;--> statement-breakpoint
CREATE UNIQUE INDEX `products_sku` ON `products` (`tenant_id`,`sku`) WHERE sku is not null and deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_created` ON `products` (`tenant_id`,`created_at`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_status` ON `products` (`tenant_id`,`status`,`created_at`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_price` ON `products` (`tenant_id`,`price_minor`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_updated` ON `products` (`tenant_id`,`updated_at`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_title` ON `products` (`tenant_id`,`title`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_views` ON `products` (`tenant_id`,`views_count`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE INDEX `products_by_popularity` ON `products` (`tenant_id`,`popularity`,`id`) WHERE deleted_at is null;--> statement-breakpoint
CREATE TABLE `products_to_index` (
	`row_number` integer PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `public_hits` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`process` text NOT NULL,
	`written_at` integer NOT NULL,
	`hits` text NOT NULL
);
--> statement-breakpoint
CREATE INDEX `public_hits_by_age` ON `public_hits` (`written_at`);--> statement-breakpoint
CREATE TABLE `rate_limits` (
	`key` text PRIMARY KEY NOT NULL,
	`hits` text NOT NULL,
	`expires_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `rate_limits_by_expiry` ON `rate_limits` (`expires_at`);--> statement-breakpoint
CREATE TABLE `reactions` (
	`tenant_id` text NOT NULL,
	`kind` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`actor` text NOT NULL,
	`created_at` text NOT NULL,
	PRIMARY KEY(`tenant_id`, `resource_type`, `resource_id`, `kind`, `actor`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "reactions_kind" CHECK("reactions"."kind" in ('like', 'bookmark'))
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `reactions_by_actor` ON `reactions` (`tenant_id`,`actor`,`kind`,`created_at`,`resource_id`);--> statement-breakpoint
CREATE TABLE `resource_counts` (
	`tenant_id` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`likes` integer DEFAULT 0 NOT NULL,
	`bookmarks` integer DEFAULT 0 NOT NULL,
	`views` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`tenant_id`, `resource_type`, `resource_id`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "resource_counts_positive" CHECK("resource_counts"."likes" >= 0 and "resource_counts"."bookmarks" >= 0 and "resource_counts"."views" >= 0)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `resource_types` (
	`tenant_id` text NOT NULL,
	`name` text NOT NULL,
	`resources` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`tenant_id`, `name`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
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
	`lots` text,
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
CREATE TABLE `sign_ups` (
	`tenant_id` text NOT NULL,
	`email_key` text NOT NULL,
	`client` text NOT NULL,
	`email` text NOT NULL,
	`name` text,
	`lang` text,
	`password_hash` text NOT NULL,
	`visitor_id` text,
	`created_at` text NOT NULL,
	PRIMARY KEY(`tenant_id`, `email_key`, `client`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `sign_ups_by_age` ON `sign_ups` (`created_at`);--> statement-breakpoint
CREATE TABLE `revision` (
	`id` integer PRIMARY KEY NOT NULL,
	`value` integer DEFAULT 0 NOT NULL,
	CONSTRAINT "revision_single_row" CHECK("revision"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE `secret_fingerprint` (
	`id` integer PRIMARY KEY NOT NULL,
	`value` text NOT NULL,
	CONSTRAINT "secret_fingerprint_single_row" CHECK("secret_fingerprint"."id" = 1)
);
--> statement-breakpoint
CREATE TABLE `stale_summaries` (
	`product_id` text PRIMARY KEY NOT NULL,
	`blocks_commit` text NOT NULL,
	FOREIGN KEY (`blocks_commit`) REFERENCES `products`(`id`) ON UPDATE no action ON DELETE no action DEFERRABLE INITIALLY DEFERRED
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
	`token_lifetime` integer DEFAULT 2592000 NOT NULL,
	`points_rate` integer DEFAULT 1000 NOT NULL,
	`point_value` integer DEFAULT 1 NOT NULL,
	`points_days` integer,
	`address_writes` integer DEFAULT 1200 NOT NULL,
	`visitor_writes` integer DEFAULT 240 NOT NULL,
	`pending_orders` integer DEFAULT 5 NOT NULL,
	`stock_share` integer DEFAULT 20 NOT NULL,
	`orders_per_minute` integer DEFAULT 10 NOT NULL,
	`media_quota` integer DEFAULT 1073741824 NOT NULL,
	`sign_up` text DEFAULT 'verified' NOT NULL,
	`sign_in_by_mail` text DEFAULT 'off' NOT NULL,
	`status` text DEFAULT 'active' NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	CONSTRAINT "tenants_status" CHECK("tenants"."status" in ('active', 'suspended')),
	CONSTRAINT "tenants_sign_up" CHECK("tenants"."sign_up" in ('off', 'open', 'verified')),
	CONSTRAINT "tenants_sign_in_by_mail" CHECK("tenants"."sign_in_by_mail" in ('off', 'on'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `tenants_namespace_unique` ON `tenants` (`namespace`);--> statement-breakpoint
CREATE TABLE `user_tokens` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`user_id` text NOT NULL,
	`hash` text NOT NULL,
	`created_at` text NOT NULL,
	`expires_at` text NOT NULL,
	`ended_at` text,
	`ended_as` text,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "user_tokens_end" CHECK(("user_tokens"."ended_at" is null) = ("user_tokens"."ended_as" is null)),
	CONSTRAINT "user_tokens_ended_as" CHECK("user_tokens"."ended_as" in ('rotated', 'replaced', 'revoked'))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `user_tokens_hash_unique` ON `user_tokens` (`hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `user_tokens_active` ON `user_tokens` (`tenant_id`,`user_id`) WHERE ended_at is null;--> statement-breakpoint
CREATE INDEX `user_tokens_by_user` ON `user_tokens` (`tenant_id`,`user_id`);--> statement-breakpoint
CREATE INDEX `user_tokens_by_tenant` ON `user_tokens` (`tenant_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `user_tokens_by_expiry` ON `user_tokens` (`expires_at`);--> statement-breakpoint
CREATE TABLE `recovery_codes` (
	`user_id` text NOT NULL,
	`tenant_id` text NOT NULL,
	`hash` text NOT NULL,
	`used_at` text,
	PRIMARY KEY(`user_id`, `hash`),
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `two_factor` (
	`user_id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`secret` text NOT NULL,
	`confirmed_at` text,
	`last_step` integer DEFAULT 0 NOT NULL,
	`created_at` text NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `users`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `users` (
	`id` text PRIMARY KEY NOT NULL,
	`tenant_id` text NOT NULL,
	`email` text NOT NULL,
	`email_key` text NOT NULL,
	`pending_email` text,
	`name` text,
	`name_key` text,
	`phone` text,
	`lang` text,
	`role` text NOT NULL,
	`status` text NOT NULL,
	`email_verified` integer DEFAULT false NOT NULL,
	`is_unproven` integer DEFAULT false NOT NULL,
	`addresses` text DEFAULT '[]' NOT NULL,
	`metadata` text DEFAULT '{}' NOT NULL,
	`password_hash` text,
	`password_changed_at` text,
	`last_login_at` text,
	`version` integer DEFAULT 1 NOT NULL,
	`created_at` text NOT NULL,
	`updated_at` text NOT NULL,
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "users_role" CHECK("users"."role" in ('customer', 'staff', 'owner')),
	CONSTRAINT "users_status" CHECK("users"."status" in ('active', 'disabled')),
	CONSTRAINT "users_metadata_size" CHECK(length(cast("users"."metadata" as blob)) <= 16384),
	CONSTRAINT "users_json" CHECK(json_valid("users"."addresses") and json_valid("users"."metadata"))
);
--> statement-breakpoint
CREATE UNIQUE INDEX `users_email` ON `users` (`tenant_id`,`email_key`);--> statement-breakpoint
CREATE INDEX `users_by_created` ON `users` (`tenant_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `users_imported` ON `users` (`tenant_id`,`password_hash`) WHERE password_hash not like '$argon2id$v=19$m=19456,t=2,p=1$%';--> statement-breakpoint
CREATE INDEX `users_by_name` ON `users` (`tenant_id`,`name_key`,`id`);--> statement-breakpoint
CREATE INDEX `users_by_status` ON `users` (`tenant_id`,`status`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `users_by_role` ON `users` (`tenant_id`,`role`,`created_at`,`id`);--> statement-breakpoint
CREATE TABLE `view_days` (
	`tenant_id` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`day` text NOT NULL,
	`views` integer NOT NULL,
	PRIMARY KEY(`tenant_id`, `resource_type`, `resource_id`, `day`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade,
	CONSTRAINT "view_days_positive" CHECK("view_days"."views" > 0)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `view_dedup_keys` (
	`day` text NOT NULL,
	`tenant_id` text NOT NULL,
	`resource_type` text NOT NULL,
	`resource_id` text NOT NULL,
	`dedup_key` text NOT NULL,
	PRIMARY KEY(`day`, `tenant_id`, `resource_type`, `resource_id`, `dedup_key`),
	FOREIGN KEY (`tenant_id`) REFERENCES `tenants`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
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
CREATE UNIQUE INDEX `wishlist_items_product` ON `wishlist_items` (`user_id`,`tenant_id`,`product_id`);--> statement-breakpoint
CREATE INDEX `wishlist_items_by_created` ON `wishlist_items` (`tenant_id`,`user_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `wishlist_items_by_product` ON `wishlist_items` (`product_id`);--> statement-breakpoint
CREATE TABLE `write_groups` (
	`writer` text PRIMARY KEY NOT NULL,
	`last_group` integer NOT NULL
);
--> statement-breakpoint
-- Servers cache tenants and keys for as long as this row's value stays the same.
INSERT INTO `revision` (`id`, `value`) VALUES (1, 0);
--> statement-breakpoint
CREATE TRIGGER `tenants_inserted` AFTER INSERT ON `tenants` BEGIN UPDATE `revision` SET `value` = `value` + 1 WHERE `id` = 1; END;
--> statement-breakpoint
CREATE TRIGGER `tenants_updated` AFTER UPDATE ON `tenants` BEGIN UPDATE `revision` SET `value` = `value` + 1 WHERE `id` = 1; END;
--> statement-breakpoint
CREATE TRIGGER `tenants_deleted` AFTER DELETE ON `tenants` BEGIN UPDATE `revision` SET `value` = `value` + 1 WHERE `id` = 1; END;
--> statement-breakpoint
CREATE TRIGGER `app_keys_inserted` AFTER INSERT ON `app_keys` BEGIN UPDATE `revision` SET `value` = `value` + 1 WHERE `id` = 1; END;
--> statement-breakpoint
CREATE TRIGGER `app_keys_updated` AFTER UPDATE ON `app_keys` BEGIN UPDATE `revision` SET `value` = `value` + 1 WHERE `id` = 1; END;
--> statement-breakpoint
CREATE TRIGGER `app_keys_deleted` AFTER DELETE ON `app_keys` BEGIN UPDATE `revision` SET `value` = `value` + 1 WHERE `id` = 1; END;
--> statement-breakpoint
CREATE TRIGGER `app_key_origins_inserted` AFTER INSERT ON `app_key_origins` BEGIN UPDATE `revision` SET `value` = `value` + 1 WHERE `id` = 1; END;
--> statement-breakpoint
CREATE TRIGGER `app_key_origins_updated` AFTER UPDATE ON `app_key_origins` BEGIN UPDATE `revision` SET `value` = `value` + 1 WHERE `id` = 1; END;
--> statement-breakpoint
CREATE TRIGGER `app_key_origins_deleted` AFTER DELETE ON `app_key_origins` BEGIN UPDATE `revision` SET `value` = `value` + 1 WHERE `id` = 1; END;
--> statement-breakpoint
CREATE TRIGGER `app_key_secrets_inserted` AFTER INSERT ON `app_key_secrets` BEGIN UPDATE `revision` SET `value` = `value` + 1 WHERE `id` = 1; END;
--> statement-breakpoint
CREATE TRIGGER `app_key_secrets_updated` AFTER UPDATE OF `hash`, `expires_at`, `app_id`, `tenant_id` ON `app_key_secrets` BEGIN UPDATE `revision` SET `value` = `value` + 1 WHERE `id` = 1; END;
--> statement-breakpoint
CREATE TRIGGER `app_key_secrets_deleted` AFTER DELETE ON `app_key_secrets` BEGIN UPDATE `revision` SET `value` = `value` + 1 WHERE `id` = 1; END;
--> statement-breakpoint
-- The audit log is append-only. Only an address may be erased, with its salt, and a new row gets its hash before its COMMIT.
CREATE TRIGGER `audit_log_unchanged` BEFORE UPDATE ON `audit_log` WHEN ((NEW.address IS NOT NULL OR NEW.address_salt IS NOT NULL) AND (OLD.hash <> '' OR NEW.address IS NOT OLD.address OR NEW.address_salt IS NOT OLD.address_salt)) OR NEW.seq IS NOT OLD.seq OR NEW.at IS NOT OLD.at OR NEW.event IS NOT OLD.event OR NEW.namespace IS NOT OLD.namespace OR NEW.actor_kind IS NOT OLD.actor_kind OR NEW.actor_id IS NOT OLD.actor_id OR NEW.subject IS NOT OLD.subject OR NEW.address_hash IS NOT OLD.address_hash OR NEW.request_id IS NOT OLD.request_id OR NEW.code IS NOT OLD.code OR NEW.details IS NOT OLD.details OR (OLD.hash <> '' AND NEW.hash IS NOT OLD.hash) BEGIN SELECT raise(abort, 'the audit log is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `audit_log_kept` BEFORE DELETE ON `audit_log` BEGIN SELECT raise(abort, 'the audit log is append-only'); END;
--> statement-breakpoint
-- A product's row holds a summary of its variants, so that reading a product reads one row. It is computed when the
-- product's row in `stale_summaries` is deleted: at once, or at the end of a batch, which is open while there is a row ''.
-- What catalogue readers see of it changes the version that they see.
CREATE TRIGGER `stale_summaries_ended` AFTER DELETE ON `stale_summaries` WHEN OLD.product_id <> '' BEGIN
  UPDATE `products` SET (`variants`, `catalog_variants`, `has_variants`, `variants_stock`, `variants_available`,
      `hidden_versions`, `updated_at`) = (
    SELECT whole, catalog, pieces > 0, stock, available,
      hidden_versions - (has_variants AND catalog_variants <> catalog),
      iif(has_variants AND catalog_variants <> catalog, max(updated_at, coalesce(changed_at, '')), updated_at)
    FROM (SELECT json_group_array(json(rendered)) AS whole, json_group_array(json(catalog)) AS catalog,
        count(*) AS pieces, CASE WHEN count(*) = count(stock) THEN sum(stock) END AS stock,
        CASE WHEN count(*) = count(stock) THEN sum(stock - reserved) END AS available, max(updated_at) AS changed_at
      FROM (SELECT rendered, stock, reserved, updated_at, json_set(json_remove(rendered, '$.stock'), '$.available',
          min(max(stock - reserved, 0), 10), '$.version', version - hidden_versions) AS catalog FROM `product_variants`
        WHERE product_id = OLD.product_id AND deleted_at IS NULL ORDER BY position, id)))
  WHERE id = OLD.product_id;
END;
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
-- Their files in S3 are removed later, so that restored backups still find them.
CREATE TRIGGER `media_in_s3_removed` AFTER DELETE ON `media` WHEN OLD.in_s3 BEGIN
  INSERT OR IGNORE INTO `media_trash` VALUES (OLD.tenant_id || '/' || OLD.id, strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
END;
--> statement-breakpoint
-- Words of products by row_number. The program makes the words, so the table stores none of the texts.
CREATE VIRTUAL TABLE `product_search` USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii');
--> statement-breakpoint
-- Small pages: a search for a rare and a common word reads one page of the common one for each row of the rare one.
INSERT INTO `product_search` (`product_search`, `rank`) VALUES ('pgsz', 500);
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
CREATE TRIGGER `product_variants_search_added` AFTER INSERT ON `product_variants` BEGIN
  INSERT OR IGNORE INTO `products_to_index` SELECT row_number FROM `products` WHERE id = NEW.product_id;
END;
--> statement-breakpoint
CREATE TRIGGER `product_variants_search_changed` AFTER UPDATE OF `title`, `sku`, `options`, `price_minor`,
  `compare_at_minor`, `deleted_at` ON `product_variants` BEGIN
  INSERT OR IGNORE INTO `products_to_index` SELECT row_number FROM `products` WHERE id = NEW.product_id;
END;
--> statement-breakpoint
-- The ledger is append-only until its store is deleted. Only the notes about a user who was erased may be removed.
CREATE TRIGGER `reward_entries_unchanged` BEFORE UPDATE ON `reward_entries` WHEN NEW.note IS NOT NULL OR NEW.sequence IS NOT OLD.sequence OR NEW.id IS NOT OLD.id OR NEW.tenant_id IS NOT OLD.tenant_id OR NEW.user_id IS NOT OLD.user_id OR NEW.kind IS NOT OLD.kind OR NEW.points IS NOT OLD.points OR NEW.balance IS NOT OLD.balance OR NEW.source IS NOT OLD.source OR NEW.order_id IS NOT OLD.order_id OR NEW.lots IS NOT OLD.lots OR NEW.created_at IS NOT OLD.created_at OR EXISTS (SELECT 1 FROM `users` WHERE id = OLD.user_id) BEGIN SELECT raise(abort, 'the ledger is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `reward_entries_kept` BEFORE DELETE ON `reward_entries` WHEN EXISTS (SELECT 1 FROM `tenants` WHERE id = OLD.tenant_id) BEGIN SELECT raise(abort, 'the ledger is append-only'); END;
--> statement-breakpoint
-- Counts follow the rows. A change of a row's actor alone does not change a count.
CREATE TRIGGER `reactions_added` AFTER INSERT ON `reactions` BEGIN
  INSERT INTO `resource_counts` (`tenant_id`, `resource_type`, `resource_id`, `likes`, `bookmarks`)
  VALUES (NEW.tenant_id, NEW.resource_type, NEW.resource_id, NEW.kind = 'like', NEW.kind = 'bookmark')
  ON CONFLICT (`tenant_id`, `resource_type`, `resource_id`)
  DO UPDATE SET `likes` = `likes` + excluded.`likes`, `bookmarks` = `bookmarks` + excluded.`bookmarks`;
END;
--> statement-breakpoint
CREATE TRIGGER `reactions_removed` AFTER DELETE ON `reactions`
WHEN EXISTS (SELECT 1 FROM `tenants` WHERE id = OLD.tenant_id) BEGIN
  UPDATE `resource_counts` SET `likes` = `likes` - (OLD.kind = 'like'), `bookmarks` = `bookmarks` - (OLD.kind = 'bookmark')
  WHERE tenant_id = OLD.tenant_id AND resource_type = OLD.resource_type AND resource_id = OLD.resource_id;
END;
--> statement-breakpoint
CREATE TRIGGER `reactions_of_user_removed` AFTER DELETE ON `users` BEGIN
  DELETE FROM `reactions` WHERE tenant_id = OLD.tenant_id AND actor = OLD.id;
END;
--> statement-breakpoint
-- A product's row holds its counts, so that a list reads no other table.
CREATE TRIGGER `resource_counts_product_added` AFTER INSERT ON `resource_counts`
WHEN NEW.resource_type = 'product' AND (NEW.likes > 0 OR NEW.views > 0) BEGIN
  UPDATE `products` SET `likes_count` = NEW.likes, `views_count` = NEW.views
  WHERE id = NEW.resource_id AND tenant_id = NEW.tenant_id;
END;
--> statement-breakpoint
CREATE TRIGGER `resource_counts_product_changed` AFTER UPDATE OF `likes`, `views` ON `resource_counts`
WHEN NEW.resource_type = 'product' AND (NEW.likes <> OLD.likes OR NEW.views <> OLD.views) BEGIN
  UPDATE `products` SET `likes_count` = NEW.likes, `views_count` = NEW.views
  WHERE id = NEW.resource_id AND tenant_id = NEW.tenant_id;
END;
--> statement-breakpoint
-- How many resources of a declared type have counts, so that their number can be limited.
CREATE TRIGGER `resource_counts_declared_added` AFTER INSERT ON `resource_counts` WHEN NEW.resource_type <> 'product' BEGIN
  UPDATE `resource_types` SET `resources` = `resources` + 1 WHERE tenant_id = NEW.tenant_id AND name = NEW.resource_type;
END;
--> statement-breakpoint
CREATE TRIGGER `resource_counts_declared_removed` AFTER DELETE ON `resource_counts` WHEN OLD.resource_type <> 'product' BEGIN
  UPDATE `resource_types` SET `resources` = `resources` - 1 WHERE tenant_id = OLD.tenant_id AND name = OLD.resource_type;
END;
--> statement-breakpoint
CREATE TRIGGER `resource_counts_declared_unused` AFTER UPDATE ON `resource_counts`
WHEN NEW.resource_type <> 'product' AND NEW.likes = 0 AND NEW.bookmarks = 0 AND NEW.views = 0 BEGIN
  DELETE FROM `resource_counts`
  WHERE tenant_id = NEW.tenant_id AND resource_type = NEW.resource_type AND resource_id = NEW.resource_id;
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
-- The number of a store's registrations for notifications is limited.
CREATE TRIGGER `push_registrations_added` AFTER INSERT ON `push_registrations` BEGIN
  INSERT INTO `push_counts` (`tenant_id`, `registrations`) VALUES (NEW.tenant_id, 1)
  ON CONFLICT (`tenant_id`) DO UPDATE SET `registrations` = `registrations` + 1;
END;
--> statement-breakpoint
CREATE TRIGGER `push_registrations_removed` AFTER DELETE ON `push_registrations` BEGIN
  UPDATE `push_counts` SET `registrations` = `registrations` - 1 WHERE tenant_id = OLD.tenant_id;
END;