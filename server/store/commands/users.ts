import type { Kysely } from 'kysely';
import { findUser, type UserRecord } from '../queries/users.ts';
import type { Database, Role } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import { type Creation, differences, type Intent, recordChange } from './changes.ts';
import type { Command } from './command.ts';

export interface NewUser {
  name: string;
  group: string;
  /** Default: user. */
  role?: Role;
  now: number;
  /** The admin's doing; left out where it is nobody's. */
  change?: Creation;
}

export const createUser: Command<NewUser, UserRecord> = async (
  trx,
  { name, group, role = 'user', now, change },
) => {
  const { id } = await trx
    .insertInto('users')
    .values({ name, group_name: group, role, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (change !== undefined) await recordChange(trx, { ...change, subject: `user ${id}` });
  return { id, name, group, role, disabled: false, createdAt: now, keys: 0, remainQuota: 0, usedQuota: 0 };
};

export interface UserFields {
  name?: string | undefined;
  group?: string | undefined;
  role?: Role | undefined;
  disabled?: boolean | undefined;
}

/**
 * Changes what is given, and gives the user as it is then. `last_admin`: nothing is changed, since nobody with the role
 * admin who is not disabled would be left.
 */
export const updateUser: Command<
  { id: number; set: UserFields; change: Intent },
  UserRecord | 'not_found' | 'last_admin'
> = async (trx, { id, set, change }) => {
  // Two who demote each other at once wait for each other here; in one order, so that not in a circle.
  const admins = await locked(trx, (users) =>
    users.where('role', '=', 'admin').where('disabled_at', 'is', null).orderBy('id'),
  );
  const [before] = await locked(trx, (users) => users.where('id', '=', id));
  if (before === undefined) return 'not_found';
  const wasDisabled = before.disabled_at !== null;
  const { name = before.name, group = before.group_name, role = before.role, disabled = wasDisabled } = set;
  const isLast = admins.every((admin) => admin.id === id) && admins.length > 0;
  if (isLast && (role !== 'admin' || disabled)) return 'last_admin';
  const from = { name: before.name, group: before.group_name, role: before.role, disabled: wasDisabled };
  const details = differences(from, { name, group, role, disabled });
  if (details !== undefined) {
    const disabledAt = disabled ? (before.disabled_at ?? change.now) : null;
    await trx
      .updateTable('users')
      .set({ name, group_name: group, role, disabled_at: disabledAt })
      .where('id', '=', id)
      .execute();
    if (disabled !== wasDisabled) await recallAll(trx, id);
    await recordChange(trx, { ...change, subject: `user ${id}`, details });
  }
  const now = await findUser(trx, id);
  if (now === undefined) throw new Error('the user vanished while it was changed');
  return now;
};

/** Recalls what gateways have leased of the user's keys. */
async function recallAll(trx: Kysely<Database>, userId: number): Promise<void> {
  await trx
    .updateTable('tokens')
    .set((row) => ({ lease_epoch: row('lease_epoch', '+', 1) }))
    .where('user_id', '=', userId)
    .where('leased_quota', '>', 0)
    .execute();
}

const userColumns = ['id', 'name', 'group_name', 'role', 'disabled_at'] as const;
const users = (trx: Kysely<Database>) => trx.selectFrom('users').select(userColumns);

function locked(trx: Kysely<Database>, which: (query: ReturnType<typeof users>) => ReturnType<typeof users>) {
  return which(users(trx))
    .$if(isPostgres(trx), (query) => query.forUpdate())
    .execute();
}
