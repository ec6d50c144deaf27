import { fixedPage } from "./pages.ts";

const text = /^(?:text|image\/svg|application)/;
const served = /\.(?:html|css|js|json|webmanifest|svg|png|webp)$/;

/**
 * Returns a page for each file of a type that browsers can read, by the file's path below its folder.
 * @param files contents of the folder's files in base64, by path.
 */
export function filePages(files: Record<string, string>, headers: Record<string, string> = {}) {
  const names = Object.keys(files).filter((name) => served.test(name));
  return new Map(
    names.map((name) => {
      const type = Bun.file(name).type.replace(";", "; ");
      const bytes = Buffer.from(files[name] as string, "base64");
      return [name, fixedPage(type, () => (text.test(type) ? bytes.toString() : bytes), headers)];
    }),
  );
}
