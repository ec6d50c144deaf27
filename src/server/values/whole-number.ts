import { invalidField } from "../errors.ts";

export function requireWhole(field: string, value: number, min: number, max: number): number {
  if (!Number.isInteger(value) || value < min || value > max) {
    throw invalidField(field, `must be a whole number from ${min} to ${max}`);
  }
  return value;
}
