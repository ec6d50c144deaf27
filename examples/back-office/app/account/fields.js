import { field } from "../form.js";
import { knownStore } from "../store.js";

const name = { required: true, autocapitalize: "none", spellcheck: "false" };

export const storeField = () =>
  field("store", "signIn.store", { ...name, value: knownStore(), autocomplete: "organization" });

export const emailField = (value) =>
  field("email", "signIn.email", { ...name, type: "email", value, autocomplete: "username" });

export const passwordField = () =>
  field("password", "signIn.password", { ...name, type: "password", autocomplete: "current-password" });

export const otpField = (hint) => field("otp", "signIn.otp", { ...name, autocomplete: "one-time-code", hint });
