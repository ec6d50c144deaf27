CREATE TRIGGER `discount_uses_added` AFTER INSERT ON `discount_uses` BEGIN
  UPDATE `discounts` SET `uses` = `uses` + 1 WHERE `id` = NEW.discount_id;
END;--> statement-breakpoint
CREATE TRIGGER `discount_uses_removed` AFTER DELETE ON `discount_uses` BEGIN
  UPDATE `discounts` SET `uses` = `uses` - 1 WHERE `id` = OLD.discount_id;
END;
