import { describe, expect, inject, test } from 'vitest';
import { isObject, type Json, text } from '../../openapi/tools/document.ts';
import {
  bundle,
  type DocumentedOperation,
  documentedOperations,
  type Located,
} from '../conformance/contract/documented.ts';
import { schemaProblems } from '../conformance/contract/schemas.ts';
import { streamProblems } from '../conformance/wire/event-stream.ts';
import { jsonOf } from '../conformance/wire/http-response.ts';
import { violations } from '../conformance/wire/wire.ts';
import { exchange } from '../support/exchange.ts';

/** Keys with values instead of schemas below them. */
const data = new Set(['example', 'examples', 'value', 'default', 'const', 'enum']);

/** All nodes with a default, or with a list of `examples`, as in schemas. */
function* exemplified(node: Json | undefined, pointer: string): Generator<Located> {
  if (Array.isArray(node))
    for (const [index, one] of node.entries()) yield* exemplified(one, `${pointer}/${index}`);
  if (!isObject(node)) return;
  if (Array.isArray(node.examples) || node.default !== undefined) yield { pointer, schema: node };
  for (const [name, value] of Object.entries(node)) {
    if (data.has(name)) continue;
    yield* exemplified(
      value,
      `${pointer}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`,
    );
  }
}

test('every example and default of a schema is valid', () => {
  const located = [...exemplified(bundle, '#')];
  const problems = located.flatMap((one) => {
    const { examples, default: normal } = one.schema;
    const values = [...(Array.isArray(examples) ? examples : []), ...(normal === undefined ? [] : [normal])];
    return values.flatMap((value) =>
      schemaProblems(one, value).map((problem) => `${one.pointer} ${problem}`),
    );
  });
  expect(located.length).toBeGreaterThan(100);
  expect(problems).toEqual([]);
});

describe.each([...documentedOperations.values()])('$id', (operation) => {
  test('its examples are valid', () => {
    expect(misfits(operation)).toEqual([]);
  });

  test('the mock serves each response example unchanged', async () => {
    const target = inject('mock');
    let served = 0;
    for (const { status, content } of operation.responses) {
      for (const { mediaType, examples } of content) {
        for (const { name, value } of examples) {
          const headers = { prefer: `code=${status}, example=${name}`, accept: mediaType };
          const response = await exchange(target, operation, { headers });
          const at = `${status} ${mediaType} ${name}`;
          expect([response.status, violations(operation, response)], at).toEqual([status, []]);
          const body = /^application\/jsonl?$/.test(mediaType)
            ? jsonOf(response)
            : response.body.toString('utf8');
          expect(body, at).toEqual(value);
          served += 1;
        }
      }
    }
    expect(served).toBeGreaterThan(0);
  });
});

/** Problems in the examples of an operation's parameters, requests and responses. */
function misfits({ path, parameters, requests, responses }: DocumentedOperation): string[] {
  const inRequest = parameters.flatMap((parameter) =>
    parameter.examples.flatMap((value) =>
      schemaProblems(parameter, value).map((one) => `${parameter.name} ${one}`),
    ),
  );
  const media = [
    ...requests.map((one) => ({ ...one, of: 'request' })),
    ...responses.flatMap(({ status, content }) => content.map((one) => ({ ...one, of: String(status) }))),
  ];
  const inBodies = media.flatMap(({ of, mediaType, examples, ...located }) =>
    examples.flatMap(({ name, value }) =>
      [
        ...schemaProblems(located, value),
        ...(mediaType === 'text/event-stream' ? streamProblems(path, text(value)) : []),
      ].map((one) => `${of} ${mediaType} ${name}: ${one}`),
    ),
  );
  return [...inRequest, ...inBodies];
}
