import type { Allowance } from '../store/queries/tokens.ts';
import type { Caller } from './caller.ts';

/** What every key may do that has no figures of its own; 0: no limit. */
export interface KeyLimits {
  requestsPerMinute: number;
  socketsPerKey: number;
}

/** Something that a key may have so much of, together with whoever else draws on it. */
export interface Limit {
  /** The key whose allowance it is. */
  tokenId: number;
  max: number;
}

type Drawer = Pick<Caller, 'tokenId' | 'allowances'>;

/** The allowances that a caller draws on, its own first. */
export function allowancesOf({ tokenId, allowances }: Drawer): readonly Allowance[] {
  return allowances ?? [{ tokenId, requestsPerMinute: null, sockets: null }];
}

const configured = { requestsPerMinute: 'requestsPerMinute', sockets: 'socketsPerKey' } as const;

/** All the limits of a kind that a caller has to keep. */
export function limitsOf(caller: Drawer, kind: keyof typeof configured, limits: KeyLimits): Limit[] {
  const allowances = allowancesOf(caller);
  return allowances.flatMap((allowance, index) => {
    // What is configured is for the outermost one, which the others lie within.
    const otherwise = index === allowances.length - 1 ? limits[configured[kind]] : 0;
    const max = allowance[kind] ?? otherwise;
    return max === 0 ? [] : [{ tokenId: allowance.tokenId, max }];
  });
}
