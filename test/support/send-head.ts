import type { DocumentedOperation } from '../../client/conformance/contract/documented.ts';
import type { Answer, Target } from '../../client/conformance/wire/answer.ts';
import { pathOf, type Variation } from '../../client/conformance/wire/exchange.ts';
import * as heads from '../../client/conformance/wire/send-head.ts';
import { noteCell } from './cells.ts';

/** Asks for a WebSocket; the answer is kept in mind. */
export async function shakeHands(
  target: Target,
  operation: DocumentedOperation,
  variation: Variation = {},
): Promise<Answer> {
  const answer = await heads.shakeHands(target, operation, variation);
  noteCell(target, operation, { method: operation.method, path: pathOf(operation, variation) }, answer);
  return answer;
}
