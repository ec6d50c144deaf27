DROP TABLE `refund_deliveries`;--> statement-breakpoint
ALTER TABLE `order_refunds` ADD `next_request_at` text;