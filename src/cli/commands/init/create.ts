import { setUpShop } from "../../../server/admin/create-shop.ts";
import { addToEnvFile } from "../../../server/config/environment.ts";
import { prepareUser } from "../../../server/modules/users/service.ts";
import { beginContext, readCliConfig } from "../../context/context.ts";
import type { Console } from "../../terminal/console.ts";
import { type InitArgs, passwordSource, readSettings } from "./flags.ts";
import type { Plan } from "./plan.ts";

export type Outcome = Awaited<ReturnType<typeof createShop>>;

/** Saves the settings, creates what is missing in one transaction, then writes the secrets to their files. */
export async function createShop(console: Console, plan: Plan) {
  const { args, answers, mail } = plan;
  const { dataDir, port } = plan.config;
  const { namespace, store, owner, key, serve, runningUrl } = answers;
  const settings = addToEnvFile(dataDir, { ...readSettings(args), ...mail });
  // Other flags apply only to the server that starts now. Later servers read the saved settings, and a replica has one
  // place.
  const flags = serve ? { ...args, "replicate-to": undefined, port: String(port) } : {};
  const config = readCliConfig({ ...flags, "data-dir": dataDir, "database-url": args["database-url"] }, console);
  const account = owner && { email: owner.email, password: owner.password, ...(owner.name && { name: owner.name }) };
  const prepared = account && (await prepareUser({ actor: { kind: "terminal" } }, { ...account, role: "owner" }));
  const setup = await beginContext({ ...args, "data-dir": dataDir }, console, (ctx) =>
    setUpShop(ctx, { namespace, store, owner: prepared, key }),
  );
  /** New secrets that are printed because no file is given for them. */
  const secrets = {
    key: setup.made.key ? setup.key?.app_secret : undefined,
    password: setup.made.owner && owner?.isRandom ? owner.password : undefined,
  };
  const files: { key?: string; password?: string } = {};
  const kept = listKept(args, setup, settings, console.command);
  for (const name of ["key", "password"] as const) {
    const [secret, file] = [secrets[name], plan.files[name]];
    if (secret === undefined || file === undefined) continue;
    await file.save(secret);
    secrets[name] = undefined;
    files[name] = file.path;
  }
  return { config, setup, secrets, files, settings, serve, runningUrl, kept };
}

/** Returns a sentence about each part that already exists, although flags were given for it. */
function listKept(
  args: InitArgs,
  { store, owner, key, made }: Outcome["setup"],
  settings: { path: string; kept: string[] },
  command: (words: string) => string,
): string[] {
  const { namespace } = store;
  const storeFlags = args.title ?? args.currency ?? args.language;
  const ownerFlags = args["owner-email"] ?? args["owner-name"] ?? passwordSource(args);
  const keyFlags = args["key-name"] ?? args.publish ?? args["save-secret-to"] ?? args.origin[0];
  const parts = [
    !made.store && storeFlags !== undefined && ["Store", namespace, `tenant update ${namespace} -h`],
    !made.owner && ownerFlags !== undefined && owner && ["Owner", owner.email, "user update -h"],
    !made.key && keyFlags !== undefined && key && ["Key", key.name, "key update -h"],
  ];
  return [
    ...settings.kept.map((name) => `${name} stays as it is in ${settings.path}; to change it, edit that file`),
    ...parts.flatMap((part) => {
      if (!part) return [];
      const [noun, name, words = ""] = part;
      return [`${noun} ${name} exists and stays as it is; to change it: ${command(words)}`];
    }),
  ];
}
