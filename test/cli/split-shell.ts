/** The words of a command line with plain, single-quoted and double-quoted parts. */
export function splitShell(line: string): string[] {
  return [...line.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) =>
    word.replace(/'([^']*)'|"([^"]*)"/g, "$1$2"),
  );
}
