import { isDeepStrictEqual } from 'node:util';
import type { ChangeCause, Db } from '../schema.ts';

/** A change that an admin requests. */
export interface NewChange {
  /** The admin and the key of the request. */
  userId: number;
  tokenId: number;
  /** The operation, or `changePrices`. */
  action: string;
  /** The changed object: its kind and its id or name, as `token 7`. */
  subject: string;
  /** New values by field, as JSON. No secrets. */
  details: Readonly<Record<string, unknown>>;
  now: number;
}

/** A change that creates its subject. */
export type Creation = Omit<NewChange, 'subject'>;

/** A change whose details the command determines. */
export type Intent = Omit<Creation, 'details'>;

/** Returns the fields whose values differ. Undefined without a difference. */
export function differences<Fields extends Readonly<Record<string, unknown>>>(
  from: Fields,
  to: Fields,
): { from: Partial<Fields>; to: Partial<Fields> } | undefined {
  const changed = Object.keys(to).filter((name) => !isDeepStrictEqual(from[name], to[name]));
  if (changed.length === 0) return undefined;
  const only = (fields: Fields) =>
    Object.fromEntries(changed.map((name) => [name, fields[name]])) as Partial<Fields>;
  return { from: only(from), to: only(to) };
}

/** A change with its cause, which can be without an admin. */
type CausedChange = Omit<NewChange, 'userId' | 'tokenId'> & {
  userId: number | null;
  tokenId: number | null;
  cause: ChangeCause;
};

/** Records a change in the transaction that makes it. */
export async function recordChange(trx: Db, change: NewChange | CausedChange): Promise<void> {
  const { action, subject } = change;
  await trx
    .insertInto('changes')
    .values({
      user_id: change.userId ?? 0,
      token_id: change.tokenId ?? 0,
      cause: 'cause' in change ? change.cause : 'api',
      action,
      subject,
      details: JSON.stringify(change.details),
      created_at: change.now,
    })
    .execute();
}
