import type { OperationId } from '../../generated/operations.ts';
import type { OperationRequest } from '../http/handler.ts';
import type { NewChange } from '../store/commands/changes.ts';

/** What the caller is about to change. */
export function newChange(
  { gateway, caller }: OperationRequest<OperationId>,
  change: Pick<NewChange, 'action' | 'subject' | 'details'>,
): NewChange {
  return { userId: caller.userId, tokenId: caller.tokenId, now: gateway.clock(), ...change };
}
