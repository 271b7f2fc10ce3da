import type { Role } from '../store/schema.ts';

/** Whose key it is and what it may use: the part of a key's record that the core needs. */
export interface Caller {
  tokenId: number;
  userId: number;
  /** The key whose allowance of requests and sockets it has; left out: its own. */
  allowanceId?: number;
  tokenName: string;
  /** That of the user. */
  role: Role;
  group: string;
  /** Model patterns of the key itself; null when the group alone decides. */
  modelLimits: readonly string[] | null;
}
