import { type RawBuilder, type Selectable, sql } from 'kysely';
import { findUser, idsOfAccounts, type UserRecord } from '../queries/users.ts';
import type { Db, Role, UsersTable } from '../schema.ts';
import { countRows, isPostgres } from '../statement.ts';
import { lockedKeys } from './balances.ts';
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

/** Creates a user without keys. */
export function createUser(trx: Db, user: NewUser): Promise<UserRecord> {
  return insertUser(trx, user, null);
}

/** Largest number of sub-accounts of a user. */
export const maxAccounts = 1_000;

/** Why a user cannot have a new sub-account. `nested`: it is a sub-account itself; `no_wallet`: nothing would pay. */
type RefusedAccount = 'no_parent' | 'nested' | 'no_wallet' | 'too_many';

/** Creates a sub-account of a user, by default in the group of the user. */
export async function createSubAccount(
  trx: Db,
  { parentId, group, ...user }: Omit<NewUser, 'group'> & { parentId: number; group?: string | undefined },
): Promise<UserRecord | RefusedAccount> {
  const parent = await lockParent(trx, parentId);
  if (typeof parent === 'string') return parent;
  return insertUser(trx, { ...user, group: group ?? parent.group }, parentId);
}

async function insertUser(
  trx: Db,
  { name, group, role = 'user', now, change }: NewUser,
  parentId: number | null,
): Promise<UserRecord> {
  const { id } = await trx
    .insertInto('users')
    .values({ name, group_name: group, role, parent_id: parentId, created_at: now })
    .returning('id')
    .executeTakeFirstOrThrow();
  if (change !== undefined) await recordChange(trx, { ...change, subject: `user ${id}` });
  const user = await findUser(trx, id);
  if (user === undefined) throw new Error('the created user does not exist');
  return user;
}

/** Locks the customer of a new sub-account. */
async function lockParent(trx: Db, id: number): Promise<{ group: string } | RefusedAccount> {
  const [parent] = await lockUsers(trx, sql`id = ${id}`);
  if (parent === undefined) return 'no_parent';
  if (parent.parent_id !== null) return 'nested';
  const wallets = trx.selectFrom('wallets').where('user_id', '=', id);
  if ((await countRows(wallets)) === 0) return 'no_wallet';
  if ((await countRows(trx.selectFrom('users').where('parent_id', '=', id))) >= maxAccounts)
    return 'too_many';
  return { group: parent.group_name };
}

export interface UserFields {
  name?: string | undefined;
  group?: string | undefined;
  role?: Role | undefined;
  disabled?: boolean | undefined;
}

interface UserChange {
  id: number;
  set: UserFields;
  change: Intent;
}

/** Changes fields of a user for an admin. `last_admin`: nothing is changed, since no other user is an enabled admin. */
export async function updateUser(
  trx: Db,
  change: UserChange,
): Promise<UserRecord | 'not_found' | 'last_admin'> {
  const user = await changeUser(trx, { ...change, isCustomer: false });
  if (user === 'disabled_by_operator') throw new Error('an admin can enable every user');
  return user;
}

/**
 * Changes fields of a user and returns the user. `isCustomer`: the customer of a sub-account changes it.
 * `disabled_by_operator`: nothing is changed, since a customer cannot enable this sub-account.
 */
export async function changeUser(
  trx: Db,
  { id, set, change, isCustomer }: UserChange & { isCustomer: boolean },
): Promise<UserRecord | 'not_found' | 'last_admin' | 'disabled_by_operator'> {
  // Two admins who demote each other at once wait here, in the order of ids to avoid a deadlock.
  const admins = await lockUsers(trx, sql`role = 'admin' and disabled_at is null`);
  const [before] = await lockUsers(trx, sql`id = ${id}`);
  if (before === undefined) return 'not_found';
  const wasDisabled = before.disabled_at !== null;
  const { name = before.name, group = before.group_name, role = before.role, disabled = wasDisabled } = set;
  const isLast = admins.every((admin) => admin.id === id) && admins.length > 0;
  if (isLast && (role !== 'admin' || disabled)) return 'last_admin';
  const wasByCustomer = before.disabled_by_customer === 1;
  if (isCustomer && wasDisabled && !disabled && !wasByCustomer) return 'disabled_by_operator';
  // An operator who disables a sub-account that its customer has disabled takes over.
  const keepsAuthor = set.disabled === undefined || (isCustomer && wasDisabled);
  const byCustomer = disabled && (keepsAuthor ? wasByCustomer : isCustomer);
  const from = {
    name: before.name,
    group: before.group_name,
    role: before.role,
    disabled: wasDisabled,
    disabled_by_customer: wasByCustomer,
  };
  const details = differences(from, { name, group, role, disabled, disabled_by_customer: byCustomer });
  if (details !== undefined) {
    const disabledAt = disabled ? (before.disabled_at ?? change.now) : null;
    await trx
      .updateTable('users')
      .set({
        name,
        group_name: group,
        role,
        disabled_at: disabledAt,
        disabled_by_customer: byCustomer ? 1 : 0,
      })
      .where('id', '=', id)
      .execute();
    // A sub-account without a group of its own has that of its customer.
    if (group !== from.group)
      await trx
        .updateTable('users')
        .set({ group_name: group })
        .where('parent_id', '=', id)
        .where('group_name', '=', from.group)
        .execute();
    if (disabled !== wasDisabled) await recallAll(trx, id);
    await recordChange(trx, { ...change, subject: `user ${id}`, details });
  }
  const after = await findUser(trx, id);
  if (after === undefined) throw new Error('the updated user does not exist');
  return after;
}

/** Recalls the leases of all keys of a user and of its sub-accounts. */
async function recallAll(trx: Db, userId: number): Promise<void> {
  const keys = lockedKeys(
    trx,
    sql`user_id in ${idsOfAccounts(userId)} and id in (select token_id from quota_leases)`,
  );
  await sql`update tokens set lease_epoch = lease_epoch + 1 where id in ${keys}`.execute(trx);
}

/** Locks users exclusively, as `lockUser` does. */
async function lockUsers(trx: Db, condition: RawBuilder<unknown>) {
  const { rows } = await sql<
    Pick<
      Selectable<UsersTable>,
      'id' | 'name' | 'group_name' | 'role' | 'disabled_at' | 'disabled_by_customer' | 'parent_id'
    >
  >`
    select id, name, group_name, role, disabled_at, disabled_by_customer, parent_id from users where ${condition}
    order by id ${isPostgres(trx) ? sql`for no key update` : sql``}`.execute(trx);
  return rows;
}
