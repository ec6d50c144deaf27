// A mail server in its own process, so that its work is not measured. Prints its address.
import { openMailbox } from "../support/mailbox.ts";

console.log((await openMailbox()).url);
