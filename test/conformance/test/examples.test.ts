import { describe, expect, test } from 'vitest';
import { isObject, type Json, type JsonObject, text } from '../../../openapi/tools/document.ts';
import { documentedOperations } from '../contract/documented.ts';
import { invariantProblems } from '../invariants/index.ts';
import { sessionProblems } from '../invariants/sockets.ts';
import { dialoguesOf } from '../sockets/dialogues.ts';
import type { Frame } from '../sockets/socket-client.ts';

const operations = [...documentedOperations.values()].filter(({ aliasOf }) => aliasOf === undefined);
/** All objects in a value. */
function* objectsIn(value: Json): Generator<JsonObject> {
  if (Array.isArray(value)) for (const one of value) yield* objectsIn(one);
  if (!isObject(value)) return;
  yield value;
  for (const one of Object.values(value)) if (one !== undefined) yield* objectsIn(one);
}

/** Times of examples. A value outside of this range has the wrong unit. */
const [from, to] = [Date.UTC(2026, 0, 1), Date.UTC(2032, 0, 1)];

/** The times in an example, in epoch milliseconds. The latest first. */
function timesIn(value: Json): number[] {
  return [...objectsIn(value)]
    .flatMap((one) => Object.values(one))
    .flatMap((one) => {
      if (typeof one === 'number') return [one, one * 1000];
      return typeof one === 'string' && /^\d{4}-\d\d-\d\d[T ]\d\d:/.test(one) ? [Date.parse(one)] : [];
    })
    .filter((ms) => ms >= from && ms <= to)
    .toSorted((left, right) => right - left);
}

describe('documented examples follow the rules of the kit', () => {
  const responses = operations.flatMap((operation) =>
    operation.responses.flatMap(({ status, content }) =>
      content
        .filter(({ mediaType }) => status === 200 && mediaType === 'application/json')
        .flatMap((media) => media.examples.map((example) => ({ id: operation.id, operation, ...example }))),
    ),
  );

  // Rules about the current time hold at one of the times in the example.
  test.each(responses)('$id $name', ({ operation, value }) => {
    const response = {
      status: 200,
      headers: new Headers({
        'content-type': 'application/json',
        ...(isObject(value) && { 'x-request-id': text(value.request_id) }),
      }),
      body: Buffer.from(JSON.stringify(value)),
    };
    const request = { path: operation.path.replaceAll(/\{\w+\}/g, ''), body: undefined };
    const problems = [...timesIn(value), Date.UTC(2026, 10, 25)].map((now) =>
      invariantProblems(operation, request, response, now),
    );
    expect(problems.find(({ length }) => length === 0) ?? problems[0]).toEqual([]);
  });

  test.each(['realtime', 'inference'].flatMap(dialoguesOf))('dialogue $name', ({ channel, steps }) => {
    const of = (side: string): Frame[] =>
      steps.flatMap(({ from: sender, event }) => (sender === side && event !== undefined ? [event] : []));
    expect(sessionProblems(channel, { events: of('server'), sent: of('client'), audioBytes: 1 })).toEqual([]);
  });
});
