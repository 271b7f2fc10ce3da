import type { DocumentedOperation } from '../../client/conformance/contract/documented.ts';
import type { Answer, Target } from '../../client/conformance/wire/answer.ts';
import { requestOf, send, type Variation } from '../../client/conformance/wire/exchange.ts';
import { noteCell } from './cells.ts';

/** A request as the contract documents it, varied, and the answer to it, which is kept in mind. */
export async function exchange(
  target: Target,
  operation: DocumentedOperation,
  variation: Variation = {},
): Promise<Answer> {
  const request = requestOf(target, operation, variation);
  const answer = await send(request);
  noteCell(target, operation, request, answer);
  return answer;
}
