declare module "*.sql" {
  const text: string;
  // biome-ignore lint/style/noDefaultExport: a text import has nothing but a default.
  export default text;
}
