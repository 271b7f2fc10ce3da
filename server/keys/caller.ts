import { accessDenied } from '../lib/failure.ts';
import type { Allowance } from '../store/queries/tokens.ts';
import type { Viewer } from '../store/queries/visibility.ts';
import type { MemberRole } from '../store/schema.ts';

/** The owner and the rights of the key that a request was sent with. */
export interface Caller {
  tokenId: number;
  userId: number;
  /** The customer whose sub-account the user is. Undefined: it is none. */
  parentId?: number | undefined;
  /** Allowances of requests and sockets, its own first. Default: its own, with the configured limits. */
  allowances?: readonly Allowance[];
  /** Keys that it was created with, directly or through others, the nearest first. Default: none. */
  ancestorIds?: readonly number[];
  /** Whether the key sees only itself, its descendants and their resources. Default: it sees everything of its user. */
  hasLimits?: boolean;
  tokenName: string;
  /** Whether its quota is unlimited, and neither a wallet nor a budget limits it. Undefined: not known. */
  unlimited?: boolean;
  /** Role of the member who has the key. Undefined: the user itself has it. */
  memberRole?: MemberRole | undefined;
  /** Whether it may call admin operations. */
  isAdmin: boolean;
  group: string;
  /** Model patterns of the key. Null: the group alone decides. */
  modelLimits: readonly string[] | null;
}

/** Returns the resources that a caller sees. */
export function viewerOf({ userId, tokenId, hasLimits }: Caller): Viewer {
  return hasLimits === true ? { userId, family: tokenId } : { userId };
}

/** Whether a caller sees and changes everything of its user: a key without limits of the user or of an owner. */
export function isOwner({
  hasLimits,
  memberRole = 'owner',
}: Pick<Caller, 'hasLimits' | 'memberRole'>): boolean {
  return hasLimits !== true && memberRole === 'owner';
}

/** Refuses keys of members who may not make calls. @throws Failure 403 */
export function requireCallRight({ memberRole }: Pick<Caller, 'memberRole'>): void {
  if (memberRole === 'billing')
    throw accessDenied(
      'The key belongs to a member with the role billing, which does not allow this operation.',
    );
}
