import type { Gateway } from '../../http/gateway.ts';
import { type Caller, viewerOf } from '../../keys/caller.ts';
import { keyRefused } from '../../keys/key-cache.ts';
import { accessDenied, type Failure, notFound } from '../../lib/failure.ts';
import { findToken, hasAdminAccess, hasLimits, type TokenRecord } from '../../store/queries/tokens.ts';
import { accountsOf } from '../../store/queries/users.ts';
import type { Viewer } from '../../store/queries/visibility.ts';
import { requireOwner } from './members.ts';

interface OwnerRequest {
  gateway: Gateway;
  caller: Caller;
}

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

export const unknownKey = (): Failure => notFound('id', 'there is no such key.');

/**
 * Reads the key of an owner. The caller is cached, and its key can have new limits.
 *
 * @throws Failure 401 for a deleted key, 403 for a key that may not manage sub-accounts
 */
export async function readOwner({ gateway, caller }: OwnerRequest): Promise<TokenRecord> {
  requireOwner(caller);
  const owner = await findToken(gateway.store.read, caller.tokenId);
  if (owner === undefined) throw keyRefused();
  requireOwner({ hasLimits: hasLimits(owner), memberRole: owner.memberRole ?? undefined });
  return owner;
}

/** Requires a sub-account of the caller's user. Returns the key of the caller. @throws Failure 401, 403 or 404 */
export async function requireAccount(
  request: OwnerRequest & { path: { account_id: number } },
): Promise<TokenRecord> {
  const owner = await readOwner(request);
  const [, ...accounts] = await accountsOf(request.gateway.store.read, owner.userId);
  if (!accounts.includes(request.path.account_id)) throw unknownAccount();
  return owner;
}

/** Finds a key of a sub-account that the caller may change. Also returns the key of the caller. @throws Failure 401, 403 or 404 */
export async function findAccountToken(
  request: OwnerRequest & { path: { account_id: number; id: number } },
): Promise<{ token: TokenRecord; owner: TokenRecord }> {
  const { gateway, path } = request;
  const owner = await requireAccount(request);
  const token = await findToken(gateway.store.read, path.id);
  if (token?.userId !== path.account_id) throw unknownKey();
  if (token.adminScope && !hasAdminAccess(owner))
    throw accessDenied('id: only a key with the scope admin can change or delete one with this scope.');
  return { token, owner };
}
