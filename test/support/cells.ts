import { expect, test } from 'vitest';
import type { Answer, Target } from './answer.ts';
import type { DocumentedOperation } from './documented.ts';
import { unseenCells } from './unseen-cells.ts';
import { mediaTypeOf } from './wire.ts';

/** What gateways have answered with so far, by operation: a status and a media type each. */
const seen = new Map<string, Set<string>>();

const cell = (status: number, mediaType: string) => `${status} ${mediaType}`.trim();

/** The documented requests that gateways have taken unchanged. */
const taken = new Set<string>();

/** Keeps in mind that a gateway was sent a documented request as it stands, and took it. */
export function noteExample(
  { isGateway }: Target,
  { id }: DocumentedOperation,
  name: string,
  answer: Answer,
): void {
  if (isGateway === true && answer.status < 300) taken.add(`${id} ${name}`);
}

export const wasTaken = ({ id }: DocumentedOperation, name: string): boolean => taken.has(`${id} ${name}`);

/** Keeps in mind how a gateway answered. What the mock says proves nothing of it. */
export function noteCell({ isGateway }: Target, { id }: DocumentedOperation, answer: Answer): void {
  if (isGateway !== true) return;
  const mediaType = answer.body.length === 0 ? '' : mediaTypeOf(answer);
  seen.getOrInsertComputed(id, () => new Set()).add(cell(answer.status, mediaType));
}

/** Tests, after all other tests of the operation, that the gateway has given every documented answer. */
export function testCells({ id, responses }: DocumentedOperation): void {
  test('every documented answer was seen', () => {
    const documented = responses.flatMap(({ status, content }) =>
      content.length === 0 ? [cell(status, '')] : content.map(({ mediaType }) => cell(status, mediaType)),
    );
    const missing = documented.filter((one) => !seen.get(id)?.has(one));
    expect(missing.sort()).toEqual(Object.keys(unseenCells[id] ?? {}).sort());
  });
}
