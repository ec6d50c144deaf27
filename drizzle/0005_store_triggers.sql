-- What a product shows of its variants is kept with it, so that reading it is one row.
CREATE TRIGGER `product_variants_added` AFTER INSERT ON `product_variants` BEGIN
  UPDATE `products` SET (`variants`, `has_variants`, `variants_stock`, `variants_available`) = (
    SELECT json_group_array(json(rendered)), count(*) > 0,
      CASE WHEN count(*) = count(stock) THEN sum(stock) END,
      CASE WHEN count(*) = count(stock) THEN sum(stock - reserved) END
    FROM (SELECT rendered, stock, reserved FROM `product_variants`
      WHERE product_id = NEW.product_id AND deleted_at IS NULL ORDER BY position, id))
  WHERE id = NEW.product_id;
END;
--> statement-breakpoint
CREATE TRIGGER `product_variants_changed` AFTER UPDATE ON `product_variants` BEGIN
  UPDATE `products` SET (`variants`, `has_variants`, `variants_stock`, `variants_available`) = (
    SELECT json_group_array(json(rendered)), count(*) > 0,
      CASE WHEN count(*) = count(stock) THEN sum(stock) END,
      CASE WHEN count(*) = count(stock) THEN sum(stock - reserved) END
    FROM (SELECT rendered, stock, reserved FROM `product_variants`
      WHERE product_id = NEW.product_id AND deleted_at IS NULL ORDER BY position, id))
  WHERE id = NEW.product_id;
END;
--> statement-breakpoint
-- A SKU names one thing in the store, product or variant; either table has an index for its own.
CREATE TRIGGER `products_sku_given` BEFORE INSERT ON `products`
WHEN NEW.sku IS NOT NULL AND NEW.deleted_at IS NULL AND EXISTS (
  SELECT 1 FROM `product_variants` WHERE tenant_id = NEW.tenant_id AND sku = NEW.sku AND deleted_at IS NULL)
BEGIN SELECT raise(abort, 'UNIQUE constraint failed: products.sku'); END;
--> statement-breakpoint
CREATE TRIGGER `products_sku_changed` BEFORE UPDATE OF `sku` ON `products`
WHEN NEW.sku IS NOT NULL AND NEW.deleted_at IS NULL AND EXISTS (
  SELECT 1 FROM `product_variants` WHERE tenant_id = NEW.tenant_id AND sku = NEW.sku AND deleted_at IS NULL)
BEGIN SELECT raise(abort, 'UNIQUE constraint failed: products.sku'); END;
--> statement-breakpoint
CREATE TRIGGER `product_variants_sku_given` BEFORE INSERT ON `product_variants`
WHEN NEW.sku IS NOT NULL AND NEW.deleted_at IS NULL AND EXISTS (
  SELECT 1 FROM `products` WHERE tenant_id = NEW.tenant_id AND sku = NEW.sku AND deleted_at IS NULL)
BEGIN SELECT raise(abort, 'UNIQUE constraint failed: product_variants.sku'); END;
--> statement-breakpoint
CREATE TRIGGER `product_variants_sku_changed` BEFORE UPDATE OF `sku` ON `product_variants`
WHEN NEW.sku IS NOT NULL AND NEW.deleted_at IS NULL AND EXISTS (
  SELECT 1 FROM `products` WHERE tenant_id = NEW.tenant_id AND sku = NEW.sku AND deleted_at IS NULL)
BEGIN SELECT raise(abort, 'UNIQUE constraint failed: product_variants.sku'); END;
--> statement-breakpoint
-- Words of products by row_number. The words are made by the program, so the table keeps none of the texts.
CREATE VIRTUAL TABLE `product_search` USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii');
--> statement-breakpoint
-- Small pages: where a rare word meets a common one, a page of the common one's is read for each row of the rare.
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
-- The ledger stays as it was written, while its store stands.
CREATE TRIGGER `reward_entries_unchanged` BEFORE UPDATE ON `reward_entries` BEGIN SELECT raise(abort, 'the ledger is append-only'); END;
--> statement-breakpoint
CREATE TRIGGER `reward_entries_kept` BEFORE DELETE ON `reward_entries` WHEN EXISTS (SELECT 1 FROM `tenants` WHERE id = OLD.tenant_id) BEGIN SELECT raise(abort, 'the ledger is append-only'); END;
