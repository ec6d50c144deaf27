-- What servers keep in memory of tenants and keys is valid while this one row's value stands.
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
