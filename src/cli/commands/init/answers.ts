/** What somebody wants of the owner's account. */
export interface OwnerAnswer {
  email: string;
  name: string | null;
  password: string;
  isRandom: boolean;
}

export interface MailAnswer {
  smtpUrl: string;
  mailFrom: string;
  /** What the server said to a test mail; null where it was not tried. */
  trial: { to: string; answer: string; encrypted: boolean; authenticated: boolean } | null;
}

/** How the server is to run for good. */
export type RunAnswer = "serve" | "systemd" | "unit" | "compose" | "nothing";

/** All that has to be known before anything is written. A part is null that stands already, or that nobody wants. */
export interface Answers {
  namespace: string;
  store: { title: string; currency: string; language: string } | null;
  owner: OwnerAnswer | null;
  key: { name: string; publish: boolean; origins: string[] } | null;
  /** Where the key's secret goes; undefined for the screen. */
  secretFile: string | undefined;
  mail: MailAnswer | null;
  run: RunAnswer;
}
