import type { Kysely } from 'kysely';
import type { Database } from '../schema.ts';
import type { Command } from './command.ts';

/** What an admin changes or sets off. */
export interface NewChange {
  /** Who, and with which key. */
  userId: number;
  tokenId: number;
  /** The operation. */
  action: string;
  /** What is changed: its kind and its number, id or name, as `token 7`. */
  subject: string;
  /** What becomes of it, by field, as JSON has it. No secrets. */
  details: Readonly<Record<string, unknown>>;
  now: number;
}

/** For the command that makes a change: it stands and falls with it. */
export async function recordChange(trx: Kysely<Database>, change: NewChange): Promise<void> {
  await trx
    .insertInto('changes')
    .values({
      user_id: change.userId,
      token_id: change.tokenId,
      action: change.action,
      subject: change.subject,
      details: JSON.stringify(change.details),
      created_at: change.now,
    })
    .execute();
}

/** Records what changes nothing in the store. */
export const noteChange: Command<NewChange, void> = recordChange;
