import { address, go } from "../address.js";
import { h, joined, page } from "../dom.js";
import { requireSame } from "../errors.js";
import { choice, fold, form } from "../form.js";
import { replace } from "../replace.js";
import { shop } from "../store.js";
import { languageName, t } from "../words.js";

const languages = ["ar", "de", "en", "es", "fr", "pt", "zh"];

export async function show({ query, signal }) {
  const data = await shop.mail.templates({ language: query.get("language") }, { signal });
  const options = languages.map((one) => [one, languageName(one)]);
  const pick = choice("language", t("mails.language"), options, data[0].language);
  pick.addEventListener("change", ({ target }) => go(address("mails", { language: target.value })));
  return page(t("mails.title"), h("p", t("mails.help")), pick, data.map(drawTemplate));
}

function drawTemplate(template) {
  const { kind, language, is_own: isOwn, placeholders, paragraphs, ...texts } = template;
  const save = async (values) => {
    const stored = await shop.mail.templates({ language });
    requireSame(
      stored.find((one) => one.kind === kind),
      template,
    );
    const text = { ...values, paragraphs: values.paragraphs.split(/\n\s*\n/) };
    const next = drawTemplate(await shop.mail.replaceTemplate({ kind, language, ...text }));
    next.open = true;
    replace(root, next, t("product.saved"));
  };
  const values = { ...texts, paragraphs: paragraphs.join("\n\n"), placeholders: placeholders.join(" ") };
  const root = fold(joined(t(`mails.${kind}`), isOwn && t("mails.own")), form("mail", save, values));
  return root;
}
