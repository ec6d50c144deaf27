-- Counts follow the rows, whoever writes or removes these. What changes only a row's actor counts nothing anew.
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
-- A product shows its counts in its own row, so that a list need not look elsewhere.
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
