import type { Ctx, Tenant } from "../../context.ts";
import { AppError } from "../../errors.ts";

type LedgerCtx = Pick<Ctx, "db" | "tenant" | "now">;
interface Booking {
  userId: string;
  points: number;
  source: string;
  orderId?: string;
}

/** Points that a payment earns: so many thousandths for every 100 minor units, rounded down. */
export function pointsFor(paidMinor: number, tenant: Pick<Tenant, "pointsRate">): number {
  return Number((BigInt(paidMinor) * BigInt(tenant.pointsRate)) / 100_000n);
}

export async function earnPoints(_tx: LedgerCtx, _booking: Booking): Promise<number> {
  return 0;
}

export async function spendPoints(_tx: LedgerCtx, _booking: Booking): Promise<number> {
  throw new AppError(5305);
}

export async function givePointsBack(_tx: LedgerCtx, _booking: Booking): Promise<number> {
  return 0;
}

export async function clawBackPoints(_tx: LedgerCtx, { points }: Booking): Promise<number> {
  return points;
}
