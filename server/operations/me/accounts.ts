import type { Gateway } from '../../http/gateway.ts';
import { type Caller, viewerOf } from '../../keys/caller.ts';
import { type Failure, notFound } from '../../lib/failure.ts';
import { accountsOf } from '../../store/queries/users.ts';
import type { Viewer } from '../../store/queries/visibility.ts';

/** The viewer of an account that the caller does not see. No user has this id. */
const nobody: Viewer = { userId: 0 };

/** Returns what a caller sees of its own user or, with `account_id`, of one of its sub-accounts. */
export async function accountViewer(
  { gateway, caller }: { gateway: Gateway; caller: Caller },
  accountId: number | undefined,
): Promise<Viewer> {
  if (accountId === undefined || accountId === caller.userId) return viewerOf(caller);
  if (caller.hasLimits === true) return nobody;
  const accounts = await accountsOf(gateway.store.read, caller.userId);
  return accounts.includes(accountId) ? { userId: accountId } : nobody;
}

/** Builds a 404 for a sub-account that the caller's user does not have. */
export const unknownAccount = (): Failure => notFound('account_id', 'there is no such sub-account.');
