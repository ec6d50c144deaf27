// An import `with { type: "file" }` returns the path of the file.
declare module "*/standalone.js" {
  const path: string;
  export = path;
}
