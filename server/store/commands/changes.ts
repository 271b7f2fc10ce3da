import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import type { ChangeCause, Database } from '../schema.ts';

/** A change that an admin requests. */
export interface NewChange {
  /** The admin and the key of the request. */
  userId: number;
  tokenId: number;
  /** The operation, or `changePrices`. */
  action: string;
  /** What is changed: its kind and its number, id or name, as `token 7`. */
  subject: string;
  /** What becomes of it, by field, as JSON has it. No secrets. */
  details: Readonly<Record<string, unknown>>;
  now: number;
}

/** A change of what has no number before it is made. */
export type Creation = Omit<NewChange, 'subject'>;

/** A change of which the command says what becomes of it. */
export type Intent = Omit<Creation, 'details'>;

/** What is otherwise, before and now; undefined when nothing is. */
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

/** A change with its cause, which may be no admin. */
type CausedChange = Omit<NewChange, 'userId' | 'tokenId'> & {
  userId: number | null;
  tokenId: number | null;
  cause: ChangeCause;
};

/** Adds a change to the transaction of the command that makes it. */
export async function recordChange(trx: Kysely<Database>, change: NewChange | CausedChange): Promise<void> {
  await trx
    .insertInto('changes')
    .values({
      user_id: change.userId ?? 0,
      token_id: change.tokenId ?? 0,
      cause: 'cause' in change ? change.cause : 'api',
      action: change.action,
      subject: change.subject,
      details: JSON.stringify(change.details),
      created_at: change.now,
    })
    .execute();
}
