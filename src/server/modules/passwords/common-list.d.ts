/** The list as a file that is embedded in the executable, and read at its first use. */
declare module "@zxcvbn-ts/language-common/src/passwords.json" {
  const path: string;
  // biome-ignore lint/style/noDefaultExport: an imported file is a default export.
  export default path;
}
