ALTER TABLE `order_refunds` ADD `part_of` text;--> statement-breakpoint
-- The rows of a refund had the same time. A row that repeats a failed one belongs to the refund of the failed row.
UPDATE `order_refunds` SET `part_of` = (
  WITH RECURSIVE `repeated`(`retry_of`, `created_at`) AS (
    SELECT `order_refunds`.`retry_of`, `order_refunds`.`created_at`
    UNION ALL
    SELECT r.`retry_of`, r.`created_at` FROM `repeated` JOIN `order_refunds` r ON r.`id` = `repeated`.`retry_of`)
  SELECT min(f.`id`) FROM `repeated` JOIN `order_refunds` f
    ON f.`order_id` = `order_refunds`.`order_id` AND f.`created_at` = `repeated`.`created_at`
  WHERE `repeated`.`retry_of` IS NULL);--> statement-breakpoint
UPDATE `order_refunds` SET `part_of` = NULL WHERE `part_of` = `id`;
