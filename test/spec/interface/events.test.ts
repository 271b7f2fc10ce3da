import { describe, expect, test } from 'vitest';
import { deref, type JsonObject, objects, text } from '../../../openapi/tools/document.ts';
import { fieldAt } from '../../conformance/contract/schema-fields.ts';
import { eventBundle } from '../../conformance/contract/schemas.ts';
import { inferenceAddress, realtimeAddresses, realtimeEvents, sessionFields, usageFields } from './events.ts';
import { fieldProblems } from './field-problems.ts';
import type { Fields } from './fields.ts';

describe('events', () => {
  const components = eventBundle.components as JsonObject;
  const channels = new Map(objects(eventBundle.channels).map(([name, node]) => [text(node.address), name]));
  const operations = objects(eventBundle.operations).map(([, node]) => node);

  test.each([...realtimeAddresses, inferenceAddress])('%s is a channel', (address) => {
    expect(channels.has(address)).toBe(true);
  });

  describe.each(realtimeAddresses)('%s', (address) => {
    test.each(realtimeEvents)('$direction $type', ({ direction, type, fields }) => {
      const channel = `#/channels/${channels.get(address)}`;
      const action = direction === 'client' ? 'receive' : 'send';
      const payloads = operations
        .filter((node) => node.action === action && (node.channel as JsonObject).$ref === channel)
        .flatMap((node) => node.messages as JsonObject[])
        .map((message) => deref(eventBundle, message).payload);
      const payload = payloads.find((one) =>
        fieldAt(eventBundle, [one], 'type').schemas.some((schema) => schema.const === type),
      );
      const base: Fields = { 'event_id!': 'string', 'type!': 'string' };
      const required = Object.entries(fields).map(([name, kind]) => [`${name}!`, kind]);
      const problems = fieldProblems(
        [payload as JsonObject],
        { ...base, ...Object.fromEntries(required) },
        eventBundle,
      );
      expect(problems).toEqual([]);
    });
  });

  const schema = (name: string) => (components.schemas as JsonObject)[name] as JsonObject;
  test('session.update accepts the session fields', () => {
    const fields = Object.entries(sessionFields).map(([name, type]) => [`session.${name}`, type]);
    expect(fieldProblems([schema('SessionUpdate')], Object.fromEntries(fields), eventBundle)).toEqual([]);
  });
  test('response.done reports the usage of both generations', () => {
    const fields = Object.entries(usageFields).map(([name, type]) => [`response.${name}`, type]);
    expect(fieldProblems([schema('ResponseDone')], Object.fromEntries(fields), eventBundle)).toEqual([]);
  });
});
