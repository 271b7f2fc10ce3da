import { readdirSync, readFileSync } from 'node:fs';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { type ErrorFacts, errors } from '../../generated/errors.ts';
import {
  deref,
  isObject,
  type Json,
  type JsonObject,
  objects,
  operationsOf,
  refName,
  text,
} from '../../openapi/tools/document.ts';

const here = (path: string) => new URL(path, import.meta.url);
const bundle = JSON.parse(readFileSync(here('../../generated/asyncapi.json'), 'utf8')) as JsonObject;
const openapi = JSON.parse(readFileSync(here('../../generated/openapi.json'), 'utf8')) as JsonObject;
const components = bundle.components as Record<string, JsonObject>;

const inPlace = ['allOf', 'anyOf', 'oneOf'];
const valueMaps = ['properties', 'patternProperties'];
const values = ['items', 'additionalProperties'];

/** Copies a schema and closes all objects, so that a misspelled field is an error. */
function closed(schema: Json): Json {
  if (!isObject(schema)) return schema;
  const shut = (value: Json) =>
    isObject(value) ? { ...(closed(value) as JsonObject), unevaluatedProperties: false } : value;
  const copy = { ...schema };
  for (const key of inPlace) if (Array.isArray(copy[key])) copy[key] = copy[key].map(closed);
  for (const key of values) if (isObject(copy[key])) copy[key] = shut(copy[key]);
  for (const key of valueMaps) {
    if (isObject(copy[key])) {
      copy[key] = Object.fromEntries(objects(copy[key]).map(([name, value]) => [name, shut(value)]));
    }
  }
  return copy;
}

const ajv = new Ajv2020({ strict: true, strictTypes: false, strictRequired: false, allErrors: true });
formats.default(ajv);
ajv.addVocabulary(['x-decision', 'x-extension', 'components']);
const addSchemas = (id: string, change: (schema: Json) => Json) => {
  const schemas = objects(components.schemas).map(([name, schema]) => [name, change(schema)]);
  ajv.addSchema({ $id: id, components: { schemas: Object.fromEntries(schemas) } });
};
addSchemas('open', (schema) => schema);
addSchemas('closed', closed);

const at = (id: string, node: Json | undefined) => `${id}${(node as { $ref: string }).$ref}`;
const openSchema = (node: Json | undefined) => ajv.compile({ $ref: at('open', node) });
const closedSchema = (node: Json | undefined) =>
  ajv.compile({ $ref: at('closed', node), unevaluatedProperties: false });
/** Error codes in the examples of a message. */
const codesOf = (message: string, code: (payload: JsonObject) => Json | undefined) => {
  const { examples } = new Map(objects(components.messages)).get(message) ?? {};
  return (examples as { payload: JsonObject }[]).map(({ payload }) => text(code(payload)));
};

test('socket error examples use codes of errors.yaml', () => {
  const known = (family: ErrorFacts['families'][number]) =>
    (errors as readonly ErrorFacts[])
      .filter(({ families }) => families.includes(family))
      .map(({ code }) => code);
  const realtime = codesOf('RealtimeError', ({ error }) => (error as JsonObject).code);
  expect(known('realtime')).toEqual(expect.arrayContaining(realtime));
  const inference = codesOf('TaskFailed', ({ header }) => (header as JsonObject).error_code);
  expect(known('inference')).toEqual(expect.arrayContaining(inference));
  expect([realtime.length, inference.length]).not.toContain(0);
});

const problems = (validate: ValidateFunction, data: unknown) =>
  validate(data)
    ? []
    : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);

interface Example {
  name: string;
  payload: Json;
  headers?: Json;
}
interface Message {
  name: string;
  binary: boolean;
  examples: Example[];
  headers: ValidateFunction | undefined;
  open: ValidateFunction;
  closed: ValidateFunction;
  payload: JsonObject;
}

const messages = new Map<string, Message>(
  objects(components.messages).map(([name, node]) => [
    name,
    {
      name,
      binary: node.contentType === 'application/octet-stream',
      examples: (node.examples ?? []) as unknown as Example[],
      headers: node.headers ? closedSchema(node.headers) : undefined,
      open: openSchema(node.payload),
      closed: closedSchema(node.payload),
      payload: deref(bundle, node.payload),
    },
  ]),
);
const messageAt = (node: Json): Message => {
  const message = messages.get(refName(String(deref(bundle, node).$at)));
  if (!message) throw new Error(`${JSON.stringify(node)} is no message of the components`);
  return message;
};

const operations = objects(bundle.operations).map(([id, node]) => ({
  id,
  channel: refName((node.channel as { $ref: string }).$ref),
  side: node.action === 'send' ? 'server' : 'client',
  // An operation without a list has all messages of its channel.
  messages: Object.values(node.messages ?? deref(bundle, node.channel).messages ?? {}).map(messageAt),
}));

/** Problems of an event of one direction. It must match exactly one message, with known fields only. */
function eventProblems(event: Json, candidates: Message[], headers?: Json): string[] {
  const matching = candidates.filter(({ binary, open }) => !binary && open(event));
  const [message, ...others] = matching;
  if (!message) return nearest(event, candidates);
  if (others.length > 0) return [`is at once ${matching.map(({ name }) => name).join(' and ')}`];
  const inHeaders = message.headers
    ? problems(message.headers, headers)
    : headers
      ? ['takes no headers']
      : [];
  return [...problems(message.closed, event), ...inHeaders];
}

/** Problems of an event against the most similar message. A wrong tag has the highest weight. */
function nearest(event: Json, candidates: Message[]): string[] {
  const reasons = candidates.map(({ name, open }) => [`is not ${name}`, ...problems(open, event)]);
  const weight = (found: string[]) =>
    found.length + 100 * found.filter((problem) => problem.endsWith('constant')).length;
  return reasons.sort((a, b) => weight(a) - weight(b))[0] ?? ['no message goes in this direction'];
}

const property = (schema: JsonObject, name: string) =>
  deref(bundle, (schema.properties as JsonObject)?.[name]);
const tagOf = ({ payload }: Message) => {
  const header = property(payload, 'header');
  return [property(payload, 'type'), property(header, 'action'), property(header, 'event')]
    .map((tag) => tag.const)
    .find((tag) => tag !== undefined);
};

describe('messages', () => {
  test.each([...messages.values()])('$name has named examples that pass its schemas', (message) => {
    const names = message.examples.map(({ name }) => name);
    expect(names.length).toBeGreaterThan(0);
    expect(new Set(names).size).toBe(names.length);
    for (const { payload, headers } of message.examples) {
      expect(problems(message.closed, payload)).toEqual([]);
      expect(message.headers ? problems(message.headers, headers) : []).toEqual([]);
    }
  });

  test.each([...messages.values()].filter(({ binary }) => !binary))(
    'a misspelt field in $name is noticed, and passes on the wire',
    (message) => {
      for (const { payload } of message.examples) {
        const misspelt = { ...(payload as JsonObject), evnt_id: 'x' };
        expect(problems(message.closed, misspelt)).not.toEqual([]);
        expect(problems(message.open, misspelt)).toEqual([]);
      }
    },
  );

  test('every message is used by an operation', () => {
    const used = operations.flatMap((operation) => operation.messages.map(({ name }) => name));
    expect(new Set(used)).toEqual(new Set(messages.keys()));
  });
});

describe('operations', () => {
  test.each(operations)('$id can tell its messages apart by their examples', (operation) => {
    for (const message of operation.messages.filter(({ binary }) => !binary)) {
      for (const { payload, headers } of message.examples) {
        expect(eventProblems(payload, operation.messages, headers)).toEqual([]);
      }
    }
  });

  const tagged = ['realtime', 'realtimeAlias', 'inference', 'messagesStream'];
  test.each(operations.filter(({ channel }) => tagged.includes(channel)))(
    '$id has a tag of its own for each message',
    (operation) => {
      const tags = operation.messages.filter(({ binary }) => !binary).map(tagOf);
      expect(tags).not.toContain(undefined);
      expect(new Set(tags).size).toBe(tags.length);
    },
  );

  test('every client event of the realtime socket requires an event_id', () => {
    const { messages: events = [] } = operations.find(({ id }) => id === 'receiveRealtimeEvents') ?? {};
    expect(events).toHaveLength(6);
    for (const { payload } of events) expect(payload.required).toContain('event_id');
  });
});

describe('event streams of the HTTP routes', () => {
  const streams = operationsOf(openapi).flatMap(({ id, path, node }) =>
    objects(node.responses).flatMap(([, response]) => {
      const { content } = deref(openapi, response);
      const stream = isObject(content) ? content['text/event-stream'] : undefined;
      return isObject(stream) ? [{ id, path, events: text(stream['x-events']) }] : [];
    }),
  );

  test('are the channels of the streams', () => {
    const named = streams.map(({ events }) => refName(events));
    const tagged = objects(bundle.channels).filter(([, { tags }]) =>
      JSON.stringify(tags).includes('streams'),
    );
    expect([...new Set(named)].sort()).toEqual(tagged.map(([name]) => name).sort());
  });

  test.each(streams)('$id carries the messages of a channel at its own path', ({ path, events }) => {
    const channel = deref(bundle, { $ref: events.replace('asyncapi.json', '') });
    const parts = text(channel.address).split(/\{[^}]+\}/);
    expect(path.startsWith(parts[0] ?? '') && path.endsWith(parts.at(-1) ?? '')).toBe(true);
    expect(Object.keys(channel.messages ?? {})).not.toEqual([]);
  });
});

interface Step {
  from: 'client' | 'server';
  event?: JsonObject;
  headers?: JsonObject;
  binary?: string;
}
interface Dialogue {
  summary: string;
  channel: string;
  steps: Step[];
}

describe('dialogues', () => {
  const folder = here('../../asyncapi/examples/');
  test.each(readdirSync(folder))('%s keeps to the contract, step by step', (file) => {
    const { channel, steps } = parse(readFileSync(new URL(file, folder), 'utf8')) as Dialogue;
    expect(steps.length).toBeGreaterThan(0);
    for (const [index, step] of steps.entries()) {
      const operation = operations.find(({ channel: of, side }) => of === channel && side === step.from);
      const found = step.event
        ? eventProblems(step.event, operation?.messages ?? [], step.headers)
        : binaryProblems(step, steps[index - 1], operation?.messages ?? []);
      expect(operation, `${step.from} of ${channel}`).toBeDefined();
      expect(found, `step ${index + 1}`).toEqual([]);
    }
  });
});

function binaryProblems({ binary = '' }: Step, before: Step | undefined, candidates: Message[]): string[] {
  if (!candidates.some((message) => message.binary)) return ['no binary frames in this direction'];
  const bytes = Buffer.from(binary, 'base64');
  if (bytes.length === 0 || bytes.toString('base64') !== binary) return ['binary is not Base64'];
  const { output } = (before?.event?.payload ?? {}) as { output?: { type?: string } };
  return output?.type === 'sentence-synthesis' ? [] : ['audio must follow a sentence-synthesis'];
}
