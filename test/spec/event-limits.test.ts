import { describe, expect, test } from 'vitest';
import {
  validateInferenceClientEvent,
  validateRealtimeClientEvent,
} from '../../generated/event-validators.js';
import { deref, type Json, type JsonObject, objects, refName } from '../../openapi/tools/document.ts';
import { limitCases } from '../support/limit-cases.ts';
import { eventBundle } from '../support/schemas.ts';

interface Case {
  title: string;
  field: string;
  at: JsonObject;
  beyond: JsonObject;
}

interface ClientEvent {
  name: string;
  channel: string;
  cases: Case[];
}

const byNode = new Set<JsonObject>();

/** What clients send over the sockets, with a value at each limit and one beyond. */
const clientEvents: readonly ClientEvent[] = objects(eventBundle.operations)
  .filter(([, { action }]) => action === 'receive')
  .flatMap(([, { channel, messages }]) =>
    (messages as Json[]).map((message) => {
      const { $at, payload, examples } = deref(eventBundle, message);
      const values = (examples as JsonObject[]).map((one) => one.payload ?? null);
      const pointer = (payload as { $ref: string }).$ref;
      const { cases, missing } = limitCases(eventBundle, pointer, values, byNode);
      if (missing.length > 0) throw new Error(`no example comes near ${missing.join(', ')}`);
      return {
        name: refName(String($at)),
        channel: refName((channel as { $ref: string }).$ref),
        cases: cases.map(({ field, keyword, limit, at, beyond }) => ({
          title: `${field} ${keyword} ${JSON.stringify(limit)}`,
          field,
          at: at as JsonObject,
          beyond: beyond as JsonObject,
        })),
      };
    }),
  )
  .filter(({ cases }) => cases.length > 0);

const validators: Readonly<Record<string, (event: unknown) => boolean>> = {
  realtime: validateRealtimeClientEvent,
  inference: validateInferenceClientEvent,
};

describe.each(clientEvents)('$name', ({ channel, cases }) => {
  const validate = validators[channel];
  test.each(cases)('$title: takes a value at it and refuses one beyond', ({ at, beyond }) => {
    expect([validate?.(at), validate?.(beyond)]).toEqual([true, false]);
  });
});
