import { test } from 'vitest';
import type { Target } from './answer.ts';
import type { DocumentedOperation } from './documented.ts';
import { exchange } from './exchange.ts';
import { checked, expectRefusal } from './expectations.ts';

/** Tests that a good request is understood, and refused only because nothing carries it out yet. */
export function testNotImplemented(target: Target, operation: DocumentedOperation): void {
  const examples = operation.requests.flatMap(({ mediaType, examples: named }) =>
    named.map(({ name }) => ({ example: name, mediaType })),
  );
  for (const variation of examples.length === 0 ? [undefined] : examples) {
    const sent = variation === undefined ? '' : ` to ${variation.example} (${variation.mediaType})`;
    test(`501${sent}`, async () => {
      const answer = await exchange(target, operation, variation);
      expectRefusal(checked(answer, operation), 501, { code: 'not_implemented' });
    });
  }
}
