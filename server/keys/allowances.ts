import type { Allowance } from '../store/queries/tokens.ts';
import type { SubjectLimit } from './bucket.ts';
import type { Caller } from './caller.ts';

/** Limits of keys that have none of their own; 0: no limit. */
export interface KeyLimits {
  requestsPerMinute: number;
  socketsPerKey: number;
}

type LimitedCaller = Pick<Caller, 'tokenId' | 'allowances'>;

/** Returns the allowances that a caller draws on, its own first. */
export function allowancesOf({ tokenId, allowances }: LimitedCaller): readonly Allowance[] {
  return allowances ?? [{ tokenId, requestsPerMinute: null, sockets: null }];
}

/** Returns the subject of the limits of a key. */
export function subjectOf(tokenId: number): string {
  return `key ${tokenId}`;
}

const configured = { requestsPerMinute: 'requestsPerMinute', sockets: 'socketsPerKey' } as const;

/** Returns all limits of a kind that apply to a caller. */
export function limitsOf(
  caller: LimitedCaller,
  kind: keyof typeof configured,
  limits: KeyLimits,
): SubjectLimit[] {
  const allowances = allowancesOf(caller);
  return allowances.flatMap((allowance, index) => {
    // The configured default applies to the outermost allowance only, which contains the others.
    const byDefault = index === allowances.length - 1 ? limits[configured[kind]] : 0;
    const max = allowance[kind] ?? byDefault;
    return max === 0 ? [] : [{ subject: subjectOf(allowance.tokenId), max }];
  });
}
