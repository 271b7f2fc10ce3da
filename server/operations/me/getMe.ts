import type { Handler, OperationRequest, ResponseBody } from '../../http/handler.ts';
import { limitsOf } from '../../keys/allowances.ts';
import { keyRefused } from '../../keys/key-cache.ts';
import { displayOf } from '../../settings/settings.ts';
import { earliest, hasCreationRight } from '../../store/queries/lineage.ts';
import { findMember } from '../../store/queries/members.ts';
import { findToken, hasAdminAccess, hasLimits, type TokenRecord } from '../../store/queries/tokens.ts';
import { findUser } from '../../store/queries/users.ts';
import { walletRecord } from '../../store/queries/wallets.ts';
import { usableModels } from '../models/usable-models.ts';
import { success } from '../success.ts';
import { viewToken } from '../tokens/token-view.ts';

type Request = OperationRequest<'getMe'>;
type Me = ResponseBody<'getMe', 200>['data'];

/** Returns the key of the request with its rights and quota, its user and its group. */
export const getMe: Handler<'getMe'> = async (request, reply) => {
  const { gateway, caller } = request;
  const token = await findToken(gateway.store.read, caller.tokenId);
  if (token === undefined) throw keyRefused();
  const models = (await usableModels(request)).map(({ id }) => id);
  const key = viewToken(token, gateway.clock());
  const { groups } = gateway.settings;
  const user = await viewUserOf(request, token);
  const display = displayOf(gateway.settings, user.group);
  const group = Object.hasOwn(groups, token.group) ? groups[token.group] : undefined;
  reply.json(
    200,
    success({
      // A key with limits does not see the key that created it.
      key: hasLimits(token) ? { ...key, created_by: null } : key,
      scopes: await scopesOf(request, token),
      models,
      limits: limitsFor(request, token),
      user,
      wallet: await viewWalletFor(request, token),
      group: { name: token.group, ratio: group?.ratio ?? null },
      display: display ? { quota_per_unit: display.quotaPerUnit, currency: display.currency } : null,
      member: await viewMemberOf(request, token),
    }),
  );
};

async function scopesOf({ gateway }: Request, token: TokenRecord): Promise<Me['scopes']> {
  const scopes: Me['scopes'] = [];
  if (!hasLimits(token)) scopes.push('user');
  if (token.memberRole !== 'billing' && (await hasCreationRight(gateway.store.read, token.id)))
    scopes.push('create_keys');
  if (hasAdminAccess(token)) scopes.push('admin');
  return scopes;
}

function limitsFor({ gateway, caller }: Request, token: TokenRecord): Me['limits'] {
  const lowest = (kind: 'requestsPerMinute' | 'sockets') => {
    const limits = limitsOf(caller, kind, gateway.settings.limits).map(({ max }) => max);
    return limits.length === 0 ? 0 : Math.min(...limits);
  };
  return {
    requests_per_minute: lowest('requestsPerMinute'),
    sockets: lowest('sockets'),
    expired_time: earliest(token.expiredTime, token.lineage.expiredTime),
  };
}

/** Null without a wallet, and for keys with limits and those of sub-accounts, which do not see it. */
async function viewWalletFor({ gateway }: Request, token: TokenRecord): Promise<Me['wallet']> {
  if (!token.hasWallet || token.parentId !== null || hasLimits(token)) return null;
  const { balance, reserved, used, debt } = await walletRecord(gateway.store.read, token.userId);
  return { balance, reserved, used, debt };
}

async function viewUserOf({ gateway }: Request, token: TokenRecord): Promise<Me['user']> {
  const user = await findUser(gateway.store.read, token.userId);
  if (user === undefined) throw keyRefused();
  const { id, name, group, keys, remainQuota, usedQuota } = user;
  if (hasLimits(token)) return { id, name, group, keys: null, remain_quota: null, used_quota: null };
  return { id, name, group, keys, remain_quota: remainQuota, used_quota: usedQuota };
}

async function viewMemberOf({ gateway }: Request, { userId, memberId }: TokenRecord): Promise<Me['member']> {
  if (memberId === null) return null;
  const member = await findMember(gateway.store.read, { userId, id: memberId });
  if (member === undefined) throw keyRefused();
  const { id, name, role } = member;
  return { id, name, role };
}
