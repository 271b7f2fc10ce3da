import { test } from 'vitest';
import type { Target } from './answer.ts';
import { type DocumentedOperation, documentedOperations } from './documented.ts';
import { exchange } from './exchange.ts';
import { checked, expectRefusal } from './expectations.ts';

/** Tests that a good request is understood on each path, and refused only because nothing carries it out yet. */
export function testNotImplemented(target: Target, operation: DocumentedOperation): void {
  const aliases = [...documentedOperations.values()].filter(({ aliasOf }) => aliasOf === operation.id);
  const examples = operation.requests.flatMap(({ mediaType, examples: named }) =>
    named.map(({ name }) => ({ example: name, mediaType })),
  );
  for (const path of [operation, ...aliases]) {
    const at = aliases.length > 0 ? ` at ${path.path}` : '';
    for (const variation of examples.length === 0 ? [undefined] : examples) {
      const sent = variation === undefined ? '' : ` to ${variation.example} (${variation.mediaType})`;
      test(`501${sent}${at}`, async () => {
        const answer = await exchange(target, path, variation);
        expectRefusal(checked(answer, path), 501, { code: 'not_implemented' });
      });
    }
  }
}
