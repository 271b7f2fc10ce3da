import type { OperationId } from '../../generated/operations.ts';
import type { Caller } from '../accounts/caller.ts';
import type { Gateway } from '../gateway.ts';
import type { Intent } from '../store/commands/changes.ts';

/** Who changes something, with which operation and when. */
export function intent(gateway: Gateway, { userId, tokenId }: Caller, action: OperationId): Intent {
  return { userId, tokenId, action, now: gateway.clock() };
}
