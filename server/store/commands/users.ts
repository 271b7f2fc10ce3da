import { type RawBuilder, type Selectable, sql } from 'kysely';
import { findUser, type UserRecord } from '../queries/users.ts';
import type { Db, Role, UsersTable } from '../schema.ts';
import { isPostgres } from '../statement.ts';
import { type Creation, differences, type Intent, recordChange } from './changes.ts';

interface NewUser {
  name: string;
  group: string;
  /** Default: user. */
  role?: Role;
  now: number;
  /** Recorded if an admin creates it. */
  change?: Creation;
}

export async function createUser(
  trx: Db,
  { name, group, role = 'user', now, change }: NewUser,
): Promise<UserRecord> {
  const { id } = await trx
    .insertInto('users')
    .values({ name, group_name: group, role, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (change !== undefined) await recordChange(trx, { ...change, subject: `user ${id}` });
  return {
    id,
    name,
    group,
    role,
    disabled: false,
    createdAt: now,
    keys: 0,
    remainQuota: 0,
    usedQuota: 0,
    hasWallet: false,
  };
}

export interface UserFields {
  name?: string | undefined;
  group?: string | undefined;
  role?: Role | undefined;
  disabled?: boolean | undefined;
}

/** Changes fields of a user and returns the user. `last_admin`: nothing is changed, since no other user is an enabled admin. */
export async function updateUser(
  trx: Db,
  { id, set, change }: { id: number; set: UserFields; change: Intent },
): Promise<UserRecord | 'not_found' | 'last_admin'> {
  // Two admins who demote each other at once wait here, in the order of ids to avoid a deadlock.
  const admins = await lockUsers(trx, sql`role = 'admin' and disabled_at is null`);
  const [before] = await lockUsers(trx, sql`id = ${id}`);
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
  const after = await findUser(trx, id);
  if (after === undefined) throw new Error('the updated user does not exist');
  return after;
}

/** Recalls the leases of all keys of a user. */
async function recallAll(trx: Db, userId: number): Promise<void> {
  await sql`
    update tokens set lease_epoch = lease_epoch + 1 where user_id = ${userId} and leased_quota > 0`.execute(
    trx,
  );
}

async function lockUsers(trx: Db, condition: RawBuilder<unknown>) {
  const { rows } = await sql<
    Pick<Selectable<UsersTable>, 'id' | 'name' | 'group_name' | 'role' | 'disabled_at'>
  >`
    select id, name, group_name, role, disabled_at from users where ${condition}
    order by id ${isPostgres(trx) ? sql`for update` : sql``}`.execute(trx);
  return rows;
}
