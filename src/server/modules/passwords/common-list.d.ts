/** The path of the list, which is a file embedded in the executable. */
declare module "@zxcvbn-ts/language-common/src/passwords.json" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: an imported file is a default export.
  export default path;
}
