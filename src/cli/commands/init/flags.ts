import { type ArgValues, type CommandArgs, namespaceArg, type SharedValues } from "../../framework/args.ts";
import { serverFlags } from "../serve/server-process.ts";

/** Every answer of the conversation as a flag. */
export const initFlags = {
  namespace: { ...namespaceArg, description: "Name of the store in every request (default: made from --title)" },
  title: { type: "string", valueHint: "text", description: "Name of the store" },
  currency: { type: "string", valueHint: "code", description: "ISO 4217 code, such as EUR (default: EUR)" },
  language: {
    type: "string",
    valueHint: "tag",
    description: "Language of texts that name none, such as en or pt-BR (default: en)",
  },
  "owner-email": {
    type: "string",
    valueHint: "address",
    field: "email",
    description: "Email of the owner, who may do everything in the store",
  },
  "owner-name": { type: "string", valueHint: "text", field: "name", description: "Name of the owner" },
  "owner-password-stdin": {
    type: "boolean",
    field: "password",
    description: "Read the owner's password from standard input, as one line",
  },
  "owner-random-password": { type: "boolean", description: "Make a password for the owner, and show it once" },
  "owner-password-file": {
    type: "string",
    valueHint: "path",
    completes: "file",
    description: "Make a password, write it to this new file (mode 0600), and do not print it",
  },
  owner: { type: "boolean", default: true, description: "Make no owner" },
  "key-name": {
    type: "string",
    valueHint: "text",
    field: "key_name",
    description: "What the first key is for (default: web)",
  },
  publish: { type: "boolean", negatable: true, description: "Publish the key at once, or leave that for later" },
  origin: {
    type: "string",
    valueHint: "host",
    multiple: true,
    field: "origins",
    description: "Site that may use the key from a browser, such as shop.example.com or *.example.com",
  },
  origins: { type: "boolean", default: true, description: "Let no site use the key from a browser, programs only" },
  "secret-file": {
    type: "string",
    valueHint: "path",
    completes: "file",
    description: "Write the key's secret to this new file (mode 0600) and do not print it",
  },
  "smtp-url-file": {
    type: "string",
    valueHint: "path",
    completes: "file",
    description: "File with the address of the mail server, such as smtps://user:password@mail.example.com",
  },
  "mail-from": {
    type: "string",
    valueHint: "address",
    configEnv: "BODEGA_MAIL_FROM",
    description: "Sender of all mail",
  },
  mail: { type: "boolean", default: true, description: "Set no mail server up" },
  "mail-test": { type: "boolean", default: true, description: "Do not try the mail server" },
  systemd: { type: "boolean", description: "Write a systemd unit, so that the server starts with the machine" },
  "print-unit": { type: "boolean", description: "Print a systemd unit" },
  "print-compose": { type: "boolean", description: "Print a compose file for Docker" },
  serve: { type: "boolean", negatable: true, description: "Serve the shop right away, or do not" },
  "unit-dir": {
    type: "string",
    valueHint: "dir",
    completes: "directory",
    description: "Where --systemd writes the unit (default: /etc/systemd/system)",
  },
  ...serverFlags,
  "public-url": {
    type: "string",
    valueHint: "url",
    configEnv: "BODEGA_PUBLIC_URL",
    description: "Address under which the world will see the server",
  },
} as const satisfies CommandArgs;

export type InitArgs = ArgValues<typeof initFlags> & SharedValues;

/** A password is made when that is asked for, or when there is a file to write one into. */
export function wantsRandomPassword(args: InitArgs): boolean {
  return args["owner-random-password"] || args["owner-password-file"] !== undefined;
}
