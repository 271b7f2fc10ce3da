import { expect, test } from 'vitest';
import type { DocumentedOperation, Example } from '../conformance/contract/documented.ts';
import { jsonOf, type Target } from '../conformance/wire/http-response.ts';
import { excerpt } from '../conformance/wire/wire.ts';
import { exchange } from './exchange.ts';
import { assertConforms } from './expectations.ts';

/**
 * Tests that the mock accepts every documented request and returns every documented success. Prism alone serves JSON
 * responses, and our mock the others.
 */
export function testMockResponses(
  { mock, prism }: { mock: Target; prism: Target },
  operation: DocumentedOperation,
): void {
  const successes = operation.responses.filter(({ status }) => status >= 200 && status < 400);
  for (const { status, content } of successes) {
    if (content.length === 0) testEmpty(prism, operation, status);
    for (const { mediaType, examples } of content) {
      const named: (Example | undefined)[] = examples.length === 0 ? [undefined] : examples;
      const target = mediaType === 'application/json' ? prism : mock;
      for (const example of named) testExample(target, operation, status, mediaType, example);
    }
  }
  for (const { mediaType, examples } of operation.requests) {
    for (const { name } of examples) {
      test(`200 the documented request ${name} (${mediaType})`, async () => {
        const response = await exchange(mock, operation, { example: name, mediaType });
        expect(assertConforms(response, operation).status, excerpt(response)).toBe(200);
      });
    }
  }
  if (successes.length === 0) {
    test('426 without an upgrade', async () => {
      expect(assertConforms(await exchange(mock, operation), operation).status).toBe(426);
    });
  }
}

function testEmpty(target: Target, operation: DocumentedOperation, status: number): void {
  test(`${status}`, async () => {
    const response = await exchange(target, operation, { headers: { prefer: `code=${status}` } });
    expect(assertConforms(response, operation).status).toBe(status);
  });
}

/** Without an example, the mock generates a body. Only its media type is checked. */
function testExample(
  target: Target,
  operation: DocumentedOperation,
  status: number,
  mediaType: string,
  example: Example | undefined,
): void {
  test(`${status} ${example?.name ?? mediaType}`, async () => {
    const prefer = example === undefined ? `code=${status}` : `code=${status}, example=${example.name}`;
    const response = await exchange(target, operation, { headers: { prefer, accept: mediaType } });
    expect(assertConforms(response, operation).status).toBe(status);
    if (example === undefined) expect(response.headers.get('content-type')).toBe(mediaType);
    else if (/^application\/jsonl?$/.test(mediaType)) expect(jsonOf(response)).toEqual(example.value);
    else expect(response.body.toString('utf8')).toBe(example.value);
  });
}
