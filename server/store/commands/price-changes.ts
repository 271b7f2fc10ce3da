import { isDeepStrictEqual } from 'node:util';
import type { ModelPrice } from '../../settings/price-rules.ts';
import type { ChangeCause, Db } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import { type NewChange, recordChange } from './changes.ts';

/** Prices by model id or pattern, or price multipliers by group. */
type Values = Readonly<Record<string, ModelPrice>>;

/** Prices that a gateway loads at a start or a reload. */
export interface LoadedPrices {
  revision: string;
  prices: Values;
  ratios: Values;
  cause: ChangeCause;
  /** The change that caused a reload, if an admin requested it. */
  request?: NewChange;
  now: number;
}

/** The only row of `loaded_prices`. */
const rowId = 1;

/** Records prices that differ from those loaded last by any gateway as one change. The first prices of a database are no change. */
export async function recordPrices(trx: Db, loaded: LoadedPrices): Promise<void> {
  const { revision, prices, ratios, cause, request, now } = loaded;
  if (request !== undefined) await recordChange(trx, request);
  const row = { revision, prices: JSON.stringify(prices), ratios: JSON.stringify(ratios), loaded_at: now };
  const first = await trx
    .insertInto('loaded_prices')
    .values({ id: rowId, ...row })
    .onConflict((conflict) => conflict.column('id').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (first !== undefined) return;
  // Locks the row, so that gateways that load the same file at the same moment record it once.
  const stored = trx.selectFrom('loaded_prices').select(['revision', 'prices', 'ratios']);
  const last = await (isPostgres(trx) ? stored.forUpdate() : stored).executeTakeFirstOrThrow();
  const changed = {
    prices: changedValues(JSON.parse(last.prices) as Values, prices),
    ratios: changedValues(JSON.parse(last.ratios) as Values, ratios),
  };
  if (Object.keys(changed.prices).length + Object.keys(changed.ratios).length === 0) return;
  await trx.updateTable('loaded_prices').set(row).where('id', '=', rowId).execute();
  await recordChange(trx, {
    userId: request?.userId ?? null,
    tokenId: request?.tokenId ?? null,
    cause,
    action: 'changePrices',
    subject: 'prices',
    details: { ...changed, revision: { from: last.revision, to: revision } },
    now,
  });
}

/** Old and new value of each name whose value differs. Null: the name has no value. */
function changedValues(
  from: Values,
  to: Values,
): Record<string, { from: ModelPrice | null; to: ModelPrice | null }> {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])].sort();
  return Object.fromEntries(
    names
      .map((name) => [name, { from: from[name] ?? null, to: to[name] ?? null }] as const)
      .filter(([, change]) => !isDeepStrictEqual(change.from, change.to)),
  );
}
