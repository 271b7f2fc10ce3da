import type { Allowance } from '../store/queries/tokens.ts';

/** Whose key it is and what it may use: the part of a key's record that the core needs. */
export interface Caller {
  tokenId: number;
  userId: number;
  /** The allowances of requests and sockets that it draws on, its own first; left out: its own, as configured. */
  allowances?: readonly Allowance[];
  /** The keys that it was created with, directly or through others, the nearest first; left out: none. */
  ancestorIds?: readonly number[];
  tokenName: string;
  /** Whether it has no limit of quota; left out: that is not known. */
  unlimited?: boolean;
  /** May call the operations of the operator. */
  isAdmin: boolean;
  group: string;
  /** Model patterns of the key itself; null when the group alone decides. */
  modelLimits: readonly string[] | null;
}
