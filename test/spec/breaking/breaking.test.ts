import { beforeAll, expect, test } from 'vitest';
import type { Contract } from '../../../openapi/tools/breaking/contract.ts';
import { type BreakingChange, judge } from '../../../openapi/tools/breaking/judge.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { ErrorEntry } from '../../../openapi/tools/errors.ts';
import type { Edit } from './edits.ts';
import { type EventCase, eventCase, eventEdits } from './event-edits.ts';
import { type HttpCase, httpCase, httpEdits } from './http-edits.ts';

const httpName = (index: number) => `http${index}x`;
const eventName = (index: number) => `event${index}x`;

/** Creates one case per edit in one document, so that one run covers all edits. */
function cases<Case>(edits: readonly Edit<Case>[], make: (index: number) => Case, edited: boolean): Case[] {
  return edits.map(([, , edit], index) => {
    const one = make(index);
    if (edited) edit(one);
    return one;
  });
}

function openapi(edited: boolean, paths: JsonObject): JsonObject {
  const all = cases(httpEdits, (index) => httpCase(httpName(index)), edited);
  const schemas = all.flatMap(({ request, reply }, index): [string, JsonObject][] => [
    [`${httpName(index)}Request`, request],
    [`${httpName(index)}Reply`, reply],
  ]);
  const auth = { type: 'http', scheme: 'bearer' };
  return {
    openapi: '3.1.0',
    info: { title: 'Edits', version: '1.0.0' },
    security: [{ bearerAuth: [] }],
    paths: {
      ...Object.fromEntries(
        all.map(({ item }: HttpCase, index) => [`/${httpName(index)}`, item as JsonObject]),
      ),
      ...paths,
    },
    components: {
      securitySchemes: { bearerAuth: auth, otherAuth: auth },
      schemas: Object.fromEntries(schemas),
    },
  };
}

function asyncapi(edited: boolean, channels: JsonObject): JsonObject {
  const all = cases(eventEdits, (index) => eventCase(eventName(index)), edited);
  const named = <Value>(values: (one: EventCase) => Record<string, Value>) =>
    Object.fromEntries(
      all.flatMap((one, index) =>
        Object.entries(values(one)).map(([name, value]) => [`${eventName(index)}${name}`, value] as const),
      ),
    );
  return {
    asyncapi: '3.0.0',
    info: { title: 'Edits', version: '1.0.0' },
    channels: {
      ...Object.fromEntries(all.map(({ channel }, index) => [eventName(index), channel])),
      ...channels,
    },
    operations: Object.assign({}, ...all.map(({ operations }) => operations)) as JsonObject,
    components: {
      messages: named(({ messages }) => messages),
      schemas: named(({ received, sent }) => ({ Request: received, Reply: sent })),
    },
  };
}

const error = (code: string, change: Partial<ErrorEntry> = {}): ErrorEntry => {
  const texts = { when: 'It happens.', remedy: 'Correct it.', retry: 'never' as const };
  return { code, status: 400, families: ['generic'], ...texts, ...change };
};

const path = { get: { operationId: 'gone', responses: { 204: { description: 'Done.' } } } };
const base: Contract = {
  openapi: openapi(false, { '/gone': path }),
  asyncapi: asyncapi(false, { gone: { address: '/gone' } }),
  errors: [
    error('gone'),
    error('other', { status: [400, 404], families: ['generic', 'native'] }),
    error('same'),
  ],
};
const next: Contract = {
  openapi: openapi(true, { '/added': path }),
  asyncapi: asyncapi(true, { added: { address: '/added' } }),
  errors: [error('other'), error('same', { status: [400, 413] }), error('added')],
};

let breaking: BreakingChange[];
beforeAll(async () => {
  ({ breaking } = await judge(base, next));
}, 60_000);

const verdict = (found: readonly BreakingChange[]) => (found.length > 0 ? 'breaks' : 'passes');
const about = (name: string) => breaking.filter(({ at }) => at.includes(name));

test.each(httpEdits.map(([name, expected], index) => [name, expected, index] as const))(
  'HTTP: %s: it %s',
  (_name, expected, index) => {
    const found = about(httpName(index));
    expect([verdict(found), found]).toEqual([expected, expected === 'passes' ? [] : found]);
  },
);

test.each(eventEdits.map(([name, expected], index) => [name, expected, index] as const))(
  'events: %s: it %s',
  (_name, expected, index) => {
    const found = about(eventName(index));
    expect([verdict(found), found]).toEqual([expected, expected === 'passes' ? [] : found]);
  },
);

test('reports removed paths and channels, but not added ones', () => {
  const found = (name: string) => breaking.filter(({ at }) => at.endsWith(name)).map(({ change }) => change);
  expect(found('~1gone')).toEqual(['Path `/gone` was removed.']);
  expect(found('channels/gone')).toEqual([expect.stringContaining('gone')]);
  expect([...found('~1added'), ...found('channels/added')]).toEqual([]);
});

test('reports removed error codes, statuses and families', () => {
  const errors = breaking.filter(({ document }) => document === 'errors');
  expect(errors.map(({ at, change }) => [at, change])).toEqual([
    ['gone', 'The error code gone was removed.'],
    ['other', 'other no longer has status 404.'],
    ['other', 'other no longer occurs in family native.'],
  ]);
});

test('each change has a message and a rule', () => {
  for (const one of breaking)
    expect(one).toEqual({
      document: expect.stringMatching(/^(openapi|asyncapi|errors)$/),
      severity: 'major',
      rule: expect.stringMatching(/^[a-z-]+$/),
      at: expect.stringMatching(/\S/),
      change: expect.stringMatching(/^[A-Z`\w].*\.$/),
    });
});
