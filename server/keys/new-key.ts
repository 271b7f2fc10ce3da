import type { components } from '../../generated/http.ts';
import { accessDenied, type Failure, invalid } from '../lib/failure.ts';
import { isWithin } from '../settings/address-ranges.ts';
import { matcher } from '../settings/model-patterns.ts';
import type { Settings } from '../settings/settings.ts';
import type { NewToken } from '../store/commands/accounts.ts';
import type { TokenFields } from '../store/commands/tokens.ts';
import { hasAdminAccess, hasLimits, type TokenRecord } from '../store/queries/tokens.ts';
import { readAllowIps } from './addresses.ts';
import { requireNoLimits, scopeDenied } from './admin-scope.ts';
import { limitsOf } from './allowances.ts';
import type { Caller } from './caller.ts';
import { readModelLimits, requireFutureExpiry, requireGroup } from './key-fields.ts';

type KeyRequest = components['schemas']['CreateTokenRequest'];
/** Fields of a request for limits. */
type LimitRequest = Omit<KeyRequest, 'name'>;
type ChangeRequest = components['schemas']['UpdateAccountTokenRequest'];

/** Keys in a chain in which each key was created with the one before. */
const maxLevels = 8;

/** The key that creates another one. */
interface Creator {
  caller: Caller;
  record: TokenRecord;
  settings: Pick<Settings, 'groups' | 'limits'>;
  /** Epoch milliseconds. */
  now: number;
}

/**
 * Returns the fields of a key that another key creates. It never has more rights than its creator, and inherits what the
 * request does not set.
 *
 * @throws Failure 400 for an invalid field, 403 for a right that the creator lacks
 */
export function fieldsOfNewKey(creator: Creator, request: KeyRequest) {
  const { record, settings, now } = creator;
  if (!record.canCreateKeys) throw creationDenied();
  if (record.lineage.ancestorIds.length + 1 >= maxLevels)
    throw accessDenied(`A chain of keys, each created with the one before, has at most ${maxLevels} levels.`);
  const { admin: adminScope = false, unlimited_quota: unlimitedQuota = false } = request;
  if (adminScope && !hasAdminAccess(record)) throw scopeDenied();
  if (record.isSession && !record.hasWallet && (unlimitedQuota || (request.remain_quota ?? 0) > 0))
    throw denied(
      unlimitedQuota ? 'unlimited_quota' : 'remain_quota',
      'a session of a user without a wallet creates keys without quota; ask the operator to grant quota to the key.',
    );
  if (unlimitedQuota && !record.unlimitedQuota)
    throw denied('unlimited_quota', 'only a key without a limit of its own makes one without a limit.');
  const fields = {
    allowanceId: sharedAllowance(record),
    requestsPerMinute: limitOf(creator, 'requestsPerMinute', 'requests_per_minute', request),
    sockets: limitOf(creator, 'sockets', 'sockets', request),
    group: groupOf(record, request.group, settings.groups),
    unlimitedQuota,
    remainQuota: request.remain_quota ?? 0,
    expiredTime: expiryOf(record, request.expired_time, now),
    modelLimits: modelsOf(record, request),
    allowIps: addressesOf(record, request.allow_ips),
    adminScope,
    canCreateKeys: request.create_keys ?? true,
  } satisfies Partial<NewToken>;
  if (adminScope) requireNoLimits(fields, request);
  return fields;
}

/**
 * Returns the fields of a key that its customer changes with another key. Absent fields stay undefined. After a change other than
 * of the name or a disabling, the key has no more rights than the one that changes it: a key that is refused can have rights
 * from an operator.
 *
 * @throws Failure 400 for an invalid field, 403 for a right that the changing key lacks
 */
export function fieldsOfChangedKey(
  changer: Creator,
  current: TokenRecord,
  request: ChangeRequest,
): TokenFields {
  const { record, now } = changer;
  const { name, status, ...limits } = request;
  const { expired_time: expiry, model_limits: models, allow_ips: addresses } = limits;
  const { requests_per_minute: requests, sockets } = limits;
  const set = {
    name,
    status,
    unlimitedQuota: limits.unlimited_quota,
    expiredTime: expiry === undefined ? undefined : expiryOf(record, expiry, now),
    modelLimits: models === undefined ? undefined : modelsOf(record, limits),
    allowIps: addresses === undefined ? undefined : addressesOf(record, addresses),
    canCreateKeys: limits.create_keys,
    requestsPerMinute:
      requests === undefined
        ? undefined
        : limitOf(changer, 'requestsPerMinute', 'requests_per_minute', limits),
    sockets: sockets === undefined ? undefined : limitOf(changer, 'sockets', 'sockets', limits),
  } satisfies TokenFields;
  if (status !== 1 && Object.keys(limits).length === 0) return set;
  const { allowIps = current.allowIps, canCreateKeys = current.canCreateKeys } = set;
  if (record.allowIps !== null && (allowIps === null || !isWithin(allowIps, record.allowIps)))
    throw denied('allow_ips', 'the key would be accepted from addresses from which this key is not.');
  if (canCreateKeys && !record.canCreateKeys)
    throw denied('create_keys', 'this key may not create keys, and the other one could.');
  if (record.ownGroup !== null && current.ownGroup !== record.ownGroup)
    throw denied('group', `this key changes keys of the group ${record.ownGroup} only.`);
  return set;
}

/** Builds a 403 for a key without the right to create keys. */
export const creationDenied = (): Failure =>
  accessDenied('This key, or a key that it was created with, may not create keys.');

/** Returns the key whose allowance a new key shares. Otherwise a key could multiply its limits by creating keys. */
function sharedAllowance(creator: TokenRecord): number | null {
  const { id, allowanceId, requestsPerMinute, sockets } = creator;
  const hasOwnLimits = Math.max(requestsPerMinute ?? 0, sockets ?? 0) > 0;
  if (hasOwnLimits) return id;
  return allowanceId ?? (hasLimits(creator) ? id : null);
}

/** Returns the key's own limit. 0: no limit; null: only the shared or configured limit applies. */
function limitOf(
  { settings, caller, record }: Creator,
  kind: 'requestsPerMinute' | 'sockets',
  field: 'requests_per_minute' | 'sockets',
  { [field]: requested }: LimitRequest,
): number | null {
  // A shared allowance already contains the creator's limit.
  const inherited = sharedAllowance(record) === null ? record[kind] : null;
  if (requested === undefined) return inherited;
  const max = Math.min(...limitsOf(caller, kind, settings.limits).map((limit) => limit.max));
  if ((requested === 0 ? Number.POSITIVE_INFINITY : requested) > max)
    throw denied(field, `must be from 1 to ${max}, the limit of the key that creates it.`);
  return requested === 0 ? inherited : requested;
}

function groupOf(creator: TokenRecord, group: string | undefined, groups: Settings['groups']): string | null {
  if (group === undefined || group === '' || group === creator.group) return creator.ownGroup;
  // Only the operator may learn which groups exist.
  if (!hasAdminAccess(creator))
    throw denied('group', `this key creates keys of the group ${creator.group} only.`);
  requireGroup(groups, group);
  return group;
}

function expiryOf(creator: TokenRecord, requested: number | undefined, now: number): number {
  // A key outlives the session that it was created with.
  const max = creator.isSession ? -1 : creator.expiredTime;
  if (requested === undefined) return max;
  requireFutureExpiry(requested, now);
  if (max !== -1 && (requested === -1 || requested > max))
    throw denied('expired_time', `must be at most ${max}, when the key that creates it expires.`);
  return requested;
}

function modelsOf(
  { modelLimits }: TokenRecord,
  { model_limits_enabled: isEnabled, model_limits: text = '' }: LimitRequest,
): readonly string[] | null {
  if (isEnabled === false) return modelLimits;
  const ids = readModelLimits(text);
  if (ids === null && isEnabled === undefined) return modelLimits;
  if (ids === null) throw invalid('model_limits', 'must name at least one model.');
  const isAllowed = modelLimits === null ? () => true : matcher(modelLimits);
  const refused = ids.find((id) => !isAllowed(id));
  if (refused !== undefined) throw denied('model_limits', `this key may not use ${refused.slice(0, 100)}.`);
  return ids;
}

function addressesOf({ allowIps }: TokenRecord, requested = ''): readonly string[] | null {
  const ranges = readAllowIps(requested);
  if (ranges === null) return allowIps;
  if (allowIps === null || isWithin(ranges, allowIps)) return ranges;
  throw denied('allow_ips', 'this key itself may not be used from all of these addresses.');
}

const denied = (field: string, problem: string) => accessDenied(`${field}: ${problem}`);
