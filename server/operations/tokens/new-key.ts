import type { Gateway } from '../../http/gateway.ts';
import type { RequestBody } from '../../http/handler.ts';
import { readAllowIps } from '../../keys/addresses.ts';
import { limitsOf } from '../../keys/allowances.ts';
import type { Caller } from '../../keys/caller.ts';
import { Failure, invalid } from '../../lib/failure.ts';
import { isWithin } from '../../settings/address-ranges.ts';
import { matcher } from '../../settings/model-patterns.ts';
import type { Settings } from '../../settings/settings.ts';
import type { NewToken } from '../../store/commands/accounts.ts';
import { hasAdminAccess, hasLimits, type TokenRecord } from '../../store/queries/tokens.ts';
import { requireGroup } from '../admin/user-view.ts';
import { requireNoLimits, scopeDenied } from './admin-scope.ts';

type Wanted = RequestBody<'createToken'>;
type Limits = Required<
  Pick<
    NewToken,
    | 'allowanceId'
    | 'requestsPerMinute'
    | 'sockets'
    | 'group'
    | 'unlimitedQuota'
    | 'remainQuota'
    | 'expiredTime'
    | 'modelLimits'
    | 'allowIps'
    | 'adminScope'
    | 'canCreateKeys'
  >
>;

/** The most models that a key may be limited to. */
const maxModels = 500;

/** The key that another one is made with. */
interface Maker {
  gateway: Pick<Gateway, 'settings'>;
  caller: Caller;
  record: TokenRecord;
  /** Epoch milliseconds. */
  now: number;
}

/**
 * What a new key may do. A key makes no key that may do more than itself; what is left out is as the maker has it.
 *
 * @throws Failure 400 for what makes no sense, 403 for what is beyond the maker
 */
export function limitsOfNewKey(maker: Maker, wanted: Wanted): Limits {
  const { record, now } = maker;
  const adminScope = wanted.admin ?? false;
  if (adminScope && !hasAdminAccess(record)) throw scopeDenied();
  const unlimitedQuota = wanted.unlimited_quota ?? false;
  if (unlimitedQuota && !record.unlimitedQuota)
    throw beyond('unlimited_quota', 'only a key without a limit of its own makes one without a limit.');
  const limits = {
    allowanceId: sharedAllowance(record),
    requestsPerMinute: figureOf(maker, 'requestsPerMinute', 'requests_per_minute', wanted),
    sockets: figureOf(maker, 'sockets', 'sockets', wanted),
    group: groupOf(record, wanted.group, maker.gateway.settings.groups),
    unlimitedQuota,
    remainQuota: wanted.remain_quota ?? 0,
    expiredTime: expiryOf(record, wanted.expired_time, now),
    modelLimits: modelsOf(record, wanted),
    allowIps: addressesOf(record, wanted.allow_ips),
    adminScope,
    canCreateKeys: wanted.create_keys ?? true,
  };
  if (adminScope) requireNoLimits(limits, wanted);
  return limits;
}

/** The key whose allowance a new one shares, else one key would send as much as it makes keys; null: none. */
function sharedAllowance(maker: TokenRecord): number | null {
  const { id, allowanceId, requestsPerMinute, sockets } = maker;
  const hasFigures = Math.max(requestsPerMinute ?? 0, sockets ?? 0) > 0;
  if (hasFigures) return id;
  return allowanceId ?? (hasLimits(maker) ? id : null);
}

/** 0: no limit; null: no figure of its own. */
function figureOf(
  { gateway, caller, record }: Maker,
  kind: 'requestsPerMinute' | 'sockets',
  field: 'requests_per_minute' | 'sockets',
  { [field]: wanted }: Wanted,
): number | null {
  // The allowance that it shares with its maker says it; without one it is as free as that key.
  const asMaker = sharedAllowance(record) === null ? record[kind] : null;
  if (wanted === undefined) return asMaker;
  const most = Math.min(...limitsOf(caller, kind, gateway.settings.limits).map(({ max }) => max));
  if ((wanted === 0 ? Number.POSITIVE_INFINITY : wanted) > most)
    throw beyond(field, `must be from 1 to ${most}, which is what the key that makes it has.`);
  if (wanted === 0) return asMaker;
  return wanted;
}

function groupOf(maker: TokenRecord, group: string | undefined, groups: Settings['groups']): string | null {
  if (group === undefined || group === '' || group === maker.group) return maker.ownGroup;
  // What other groups there are is for the operator to know.
  if (!hasAdminAccess(maker)) throw beyond('group', `this key makes keys of the group ${maker.group} only.`);
  requireGroup(groups, group);
  return group;
}

function expiryOf(maker: TokenRecord, wanted: number | undefined, now: number): number {
  if (wanted === undefined) return maker.expiredTime;
  readExpiry(wanted, now);
  const { expiredTime: last } = maker;
  if (last !== -1 && (wanted === -1 || wanted > last))
    throw beyond('expired_time', `must be at most ${last}, when the key that makes it ends.`);
  return wanted;
}

function modelsOf({ modelLimits }: TokenRecord, wanted: Wanted): string[] | null {
  if (wanted.model_limits_enabled === false) return modelLimits;
  const ids = readModelLimits(wanted.model_limits ?? '');
  if (ids === null && wanted.model_limits_enabled === undefined) return modelLimits;
  if (ids === null) throw invalid('model_limits', 'must name at least one model.');
  const inLimits = modelLimits === null ? () => true : matcher(modelLimits);
  const denied = ids.find((id) => !inLimits(id));
  if (denied !== undefined) throw beyond('model_limits', `this key may not use ${denied.slice(0, 100)}.`);
  return ids;
}

/**
 * When a key ends, in Unix seconds; -1: never.
 *
 * @throws Failure 400 for what is past
 */
export function readExpiry(wanted: number, now: number): number {
  if (wanted !== -1 && wanted * 1000 <= now)
    throw invalid('expired_time', 'must be a Unix time in the future, or -1 for a key that never expires.');
  return wanted;
}

/**
 * The ids of `model_limits`; null when there is none.
 *
 * @throws Failure 400
 */
export function readModelLimits(text: string): string[] | null {
  const ids = [...new Set(text.split(',').map((id) => id.trim()))].filter((id) => id !== '');
  if (ids.length > maxModels) throw invalid('model_limits', `must name at most ${maxModels} models.`);
  if (ids.some((id) => id.includes('*'))) throw invalid('model_limits', 'takes ids of models, no patterns.');
  return ids.length === 0 ? null : ids;
}

function addressesOf({ allowIps }: TokenRecord, wanted: string | undefined): string[] | null {
  const ranges = readAllowIps(wanted ?? '');
  if (ranges === null) return allowIps;
  if (allowIps === null || isWithin(ranges, allowIps)) return ranges;
  throw beyond('allow_ips', 'this key is not for use from all of these addresses itself.');
}

const beyond = (field: string, problem: string) => new Failure(403, 'access_denied', `${field}: ${problem}`);
