// `with { type: "file" }` gives the path of the file.
declare module "*/standalone.js" {
  const path: string;
  export = path;
}
