import { type RawBuilder, sql } from 'kysely';

/** Sums quota as a floating-point number, since the sum over many keys can exceed the safe integers. 0 without rows. */
export const quotaSum = (amount: RawBuilder<unknown>): RawBuilder<number> =>
  sql<number>`coalesce(sum(cast(${amount} as double precision)), 0)`;
