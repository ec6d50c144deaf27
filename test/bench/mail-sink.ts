// A mail server in a process of its own, so that what it does with mail is no part of what is measured. Prints its address.
import { openMailbox } from "../support/mailbox.ts";

console.log((await openMailbox()).url);
