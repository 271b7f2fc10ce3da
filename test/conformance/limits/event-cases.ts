import { deref, type Json, type JsonObject, objects, refName } from '../../../openapi/tools/document.ts';
import { eventBundle } from '../contract/schemas.ts';
import { limitCases } from './limit-cases.ts';

/** An event with a value at a limit, and the same event with a value beyond it. */
export interface EventCase {
  title: string;
  field: string;
  at: JsonObject;
  beyond: JsonObject;
}

export interface ClientEvent {
  name: string;
  channel: string;
  cases: EventCase[];
}

const checkedSchemas = new Set<JsonObject>();

/** Returns the client events of the sockets with a value at each limit and one beyond it. */
export function clientEvents(): readonly ClientEvent[] {
  events ??= eventsWithLimits();
  return events;
}

let events: ClientEvent[] | undefined;

const eventsWithLimits = (): ClientEvent[] =>
  objects(eventBundle.operations)
    .filter(([, { action }]) => action === 'receive')
    .flatMap(([, { channel, messages }]) =>
      (messages as Json[]).map((message) => {
        const { $at, payload, examples } = deref(eventBundle, message);
        const values = (examples as JsonObject[]).map((one) => one.payload ?? null);
        const pointer = (payload as { $ref: string }).$ref;
        const { cases, missing } = limitCases(eventBundle, pointer, values, checkedSchemas);
        if (missing.length > 0) throw new Error(`no example reaches the limits ${missing.join(', ')}`);
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
