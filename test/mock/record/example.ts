import { createHash } from 'node:crypto';
import { type OperationId, operationIds } from '../../../generated/operations.ts';
import { isObject, type Json } from '../../../openapi/tools/document.ts';

/** One event of a stream: its lines up to the data, and the data, as JSON or, when it is none, as text. */
export type RecordedEvent = { head: string; data: Json } | { head: string; text: string };

/** What an answer was, without secrets. One of the bodies is there, or none for an empty one. */
export interface RecordedAnswer {
  status: number;
  headers: Record<string, string>;
  json?: Json;
  text?: string;
  events?: RecordedEvent[];
  /** Bytes stand in a file beside this one; without one they were over the limit. */
  media?: { type: string; bytes: number; file?: string };
}

/** A file of the folder of examples: what one request was answered with, in turn. */
export interface RecordedExample {
  operation: OperationId;
  /** `events`: whether a header asks for native events. */
  request: { method: string; path: string; query: string; bodySha256: string | null; events: boolean };
  answers: RecordedAnswer[];
}

/** What makes two requests the same: the method, the address and the body. Keys and other headers do not,
 * but the one that asks for events. */
export function fingerprint(request: RecordedExample['request']): string {
  const { method, path, query, bodySha256, events } = request;
  return createHash('sha256')
    .update(JSON.stringify([method, path, query, bodySha256, events]))
    .digest('hex')
    .slice(0, 16);
}

/** The hash of a body, whatever the order of its fields; null without one. */
export function hashOf(body: Json | undefined): string | null {
  if (body === undefined) return null;
  return createHash('sha256')
    .update(JSON.stringify(sorted(body)))
    .digest('hex');
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sorted(value[key] ?? null)]));
}

/** A stream's events, in the layout that they came in. */
export function eventsOf(stream: string): RecordedEvent[] {
  return stream
    .split(/(?<=\n\n)/)
    .filter((block) => block.trim() !== '')
    .map((block) => {
      const { head = '', data = '' } = /^(?<head>[^]*?^data: ?)(?<data>.*)\n\n$/m.exec(block)?.groups ?? {};
      try {
        if (head !== '') return { head, data: JSON.parse(data) as Json };
      } catch {
        // An event may hold other things than JSON.
      }
      return { head: '', text: block };
    });
}

export const streamOf = (event: RecordedEvent): string =>
  'data' in event ? `${event.head}${JSON.stringify(event.data)}\n\n` : event.head + event.text;

/** @throws Error that says what is wrong with a file's content */
export function readExample(text: string): RecordedExample {
  const value = JSON.parse(text) as Json;
  if (!isObject(value)) throw new Error('is no JSON object');
  const { operation, request, answers } = value;
  if (!(operationIds as readonly unknown[]).includes(operation))
    throw new Error(`operation: the contract has no ${JSON.stringify(operation)}`);
  if (!isObject(request) || typeof request.path !== 'string') throw new Error('request: is missing');
  if (!Array.isArray(answers) || answers.length === 0) throw new Error('answers: is missing or empty');
  for (const [index, answer] of answers.entries())
    if (!isObject(answer) || typeof answer.status !== 'number' || !isObject(answer.headers))
      throw new Error(`answers.${index}: needs status and headers`);
  return value as unknown as RecordedExample;
}
