import type { Allowance } from '../store/queries/tokens.ts';
import type { Viewer } from '../store/queries/visibility.ts';

/** Whose key it is and what it may use: the part of a key's record that the core needs. */
export interface Caller {
  tokenId: number;
  userId: number;
  /** The allowances of requests and sockets that it draws on, its own first; left out: its own, as configured. */
  allowances?: readonly Allowance[];
  /** The keys that it was created with, directly or through others, the nearest first; left out: none. */
  ancestorIds?: readonly number[];
  /** Whether the key sees only itself, its descendants and what those created; left out: it sees all of its user. */
  hasLimits?: boolean;
  tokenName: string;
  /** Whether it has no limit of quota; left out: that is not known. */
  unlimited?: boolean;
  /** May call the operations of the operator. */
  isAdmin: boolean;
  group: string;
  /** Model patterns of the key itself; null when the group alone decides. */
  modelLimits: readonly string[] | null;
}

/** What a caller sees. */
export function viewerOf({ userId, tokenId, hasLimits }: Caller): Viewer {
  return hasLimits === true ? { userId, family: tokenId } : { userId };
}
