CREATE TABLE `acme_certificates` (
	`id` text PRIMARY KEY NOT NULL,
	`sealed` text,
	`challenges` text DEFAULT '{}' NOT NULL,
	`next_at` text NOT NULL,
	`failures` integer DEFAULT 0 NOT NULL,
	`failure` text,
	CONSTRAINT "acme_certificates_json" CHECK(json_valid("acme_certificates"."challenges"))
);
