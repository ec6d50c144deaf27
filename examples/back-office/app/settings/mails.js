import { address, go } from "../address.js";
import { h, joined, page } from "../dom.js";
import { choice, fold, form } from "../form.js";
import { replace } from "../replace.js";
import { shop } from "../store.js";
import { languageName, t } from "../words.js";

const languages = ["ar", "de", "en", "es", "fr", "pt", "zh"].map((one) => [one, languageName(one)]);

export async function show({ query, signal }) {
  const data = await shop.mail.templates({ language: query.get("language") }, { signal });
  const pick = choice("language", t("mails.language"), languages, data[0].language);
  pick.addEventListener("change", ({ target }) => go(address("mails", { language: target.value })));
  return page(t("mails.title"), h("p", t("mails.help")), pick, data.map(drawTemplate));
}

function drawTemplate({ kind, language, is_own: isOwn, placeholders, paragraphs, ...texts }) {
  const save = async (values) => {
    const text = { ...values, paragraphs: values.paragraphs.split(/\n\s*\n/) };
    const next = drawTemplate(await shop.mail.replaceTemplate({ kind, language, ...text }));
    next.open = true;
    replace(root, next, t("product.saved"));
  };
  const values = { ...texts, paragraphs: paragraphs.join("\n\n"), placeholders: placeholders.join(" ") };
  const root = fold(joined(t(`mails.${kind}`), isOwn && t("mails.own")), form("mail", save, values));
  return root;
}
