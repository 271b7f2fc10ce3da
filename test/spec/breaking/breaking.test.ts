import { beforeAll, expect, test } from 'vitest';
import type { Change } from '../../../openapi/tools/breaking/change.ts';
import type { Contract } from '../../../openapi/tools/breaking/contract.ts';
import { judge } from '../../../openapi/tools/breaking/judge.ts';
import type { JsonObject } from '../../../openapi/tools/document.ts';
import type { ErrorEntry } from '../../../openapi/tools/errors.ts';
import type { Edit } from './edits.ts';
import { type EventCase, type EventPlace, eventCase, eventEdits, notInCallback } from './event-edits.ts';
import { httpCase, httpEdits, oppositeInCallback } from './http-edits.ts';

/** Where each edit of an operation is made. A stream has its response in the events of a channel. */
const httpPlaces = ['operation', 'stream', 'callback'] as const;
type HttpPlace = (typeof httpPlaces)[number];
const eventPlaces = ['socket', 'stream', 'callback'] as const;

const httpName = (place: HttpPlace, index: number) => `${place}${index}http`;
const eventName = (place: EventPlace, index: number) => `${place}${index}event`;

/** Creates one case per edit in one document, so that one run covers all edits. */
function cases<Case>(edits: readonly Edit<Case>[], make: (index: number) => Case, edited: boolean): Case[] {
  return edits.map(([, , edit], index) => {
    const one = make(index);
    if (edited) edit(one);
    return one;
  });
}

const httpCases = (place: HttpPlace, edited: boolean) =>
  cases(
    httpEdits,
    (index) => httpCase(httpName(place, index), place === 'stream' ? 'events' : 'json'),
    edited,
  );

/** An operation with the item of a case as its callback. */
const withCallback = (name: string, item: JsonObject): JsonObject => ({
  post: {
    operationId: `${name}Start`,
    callbacks: { [name]: { '{$request.body#/url}': item } },
    responses: { 204: { description: 'Done.' } },
  },
});

function openapi(edited: boolean, paths: JsonObject): JsonObject {
  const all = httpPlaces.flatMap((place) =>
    httpCases(place, edited).map((one, index) => ({ ...one, place, name: httpName(place, index) })),
  );
  const schemas = all.flatMap(({ name, place, request, reply }): [string, JsonObject][] => [
    [`${name}Request`, request],
    ...(place === 'stream' ? [] : [[`${name}Reply`, reply] satisfies [string, JsonObject]]),
  ]);
  const auth = { type: 'http', scheme: 'bearer' };
  return {
    openapi: '3.1.0',
    info: { title: 'Edits', version: '1.0.0' },
    security: [{ bearerAuth: [] }],
    paths: {
      ...Object.fromEntries(
        all.map(({ name, place, item }) => [
          `/${name}`,
          place === 'callback' ? withCallback(name, item as JsonObject) : (item as JsonObject),
        ]),
      ),
      ...paths,
    },
    components: {
      securitySchemes: { bearerAuth: auth, otherAuth: auth },
      schemas: Object.fromEntries(schemas),
    },
  };
}

/** A channel whose events are the responses of a stream. */
const streamChannels = (edited: boolean) =>
  httpCases('stream', edited).map(({ reply }, index) => ({ name: httpName('stream', index), reply }));

function asyncapi(edited: boolean, channels: JsonObject): JsonObject {
  const all = eventPlaces.flatMap((place) =>
    cases(eventEdits, (index) => eventCase(eventName(place, index), place), edited).map((one, index) => ({
      ...one,
      name: eventName(place, index),
    })),
  );
  const streams = streamChannels(edited);
  const named = <Value>(values: (one: EventCase) => Record<string, Value>) =>
    Object.fromEntries(
      all.flatMap((one) =>
        Object.entries(values(one)).map(([name, value]) => [`${one.name}${name}`, value] as const),
      ),
    );
  return {
    asyncapi: '3.0.0',
    info: { title: 'Edits', version: '1.0.0' },
    channels: {
      ...(Object.assign({}, ...all.map((one) => one.channels)) as JsonObject),
      ...Object.fromEntries(
        streams.map(({ name }) => [
          name,
          { address: `/${name}`, messages: { [name]: { $ref: `#/components/messages/${name}` } } },
        ]),
      ),
      ...channels,
    },
    operations: {
      ...(Object.assign({}, ...all.map(({ operations }) => operations)) as JsonObject),
      ...Object.fromEntries(
        streams.map(({ name }) => [
          `${name}Send`,
          { action: 'send', channel: { $ref: `#/channels/${name}` } },
        ]),
      ),
    },
    components: {
      messages: {
        ...named(({ messages }) => messages),
        ...Object.fromEntries(
          streams.map(({ name }) => [name, { name, payload: { $ref: `#/components/schemas/${name}Reply` } }]),
        ),
      },
      schemas: {
        ...named(({ received, sent }) => ({ Request: received, Reply: sent })),
        ...Object.fromEntries(streams.map(({ name, reply }) => [`${name}Reply`, reply])),
      },
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

let changes: Change[];
let breaking: Change[];
beforeAll(async () => {
  ({ changes } = await judge(base, next));
  breaking = changes.filter(({ severity }) => severity === 'major');
}, 120_000);

const verdict = (found: readonly Change[]) => (found.length > 0 ? 'breaks' : 'passes');
const about = (name: string) =>
  breaking.filter(
    (one) =>
      one.document !== 'errors' &&
      new RegExp(`(?<![a-z])${name}`).test(`${one.at} ${one.operations.join(' ')}`),
  );

const opposite = { breaks: 'passes', passes: 'breaks' } as const;

test.each(
  httpPlaces.flatMap((place) =>
    httpEdits.map(([name, verdict], index) => {
      const reversed = place === 'callback' && oppositeInCallback.has(name);
      return [place, name, reversed ? opposite[verdict] : verdict, index] as const;
    }),
  ),
)('%s: %s: it %s', (place, _name, expected, index) => {
  const found = about(httpName(place, index));
  expect([verdict(found), found]).toEqual([expected, expected === 'passes' ? [] : found]);
});

test.each(
  eventPlaces.flatMap((place) =>
    eventEdits.flatMap(([name, expected], index) =>
      place === 'callback' && notInCallback.has(name) ? [] : [[place, name, expected, index] as const],
    ),
  ),
)('events of a %s: %s: it %s', (place, _name, expected, index) => {
  const found = about(eventName(place, index));
  expect([verdict(found), found]).toEqual([expected, expected === 'passes' ? [] : found]);
});

test('every name of an exception is an edit', () => {
  const names = new Set([...httpEdits, ...eventEdits].map(([name]) => name));
  expect([...oppositeInCallback, ...notInCallback].filter((name) => !names.has(name))).toEqual([]);
});

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
      change: expect.stringMatching(/^[A-Z`\w].*\."?$/),
      operations: expect.any(Array),
    });
});
