import { createHash } from 'node:crypto';
import { type OperationId, operationIds } from '../../../generated/operations.ts';
import { isObject, type Json } from '../../../openapi/tools/document.ts';

/** An event of a stream: the lines up to the data, and the data as JSON, or as text if it is not JSON. */
export type RecordedEvent = { head: string; data: Json } | { head: string; text: string };

/** A response without secrets. It has one of the bodies, or none if it is empty. */
export interface RecordedResponse {
  status: number;
  headers: Record<string, string>;
  json?: Json;
  text?: string;
  events?: RecordedEvent[];
  /** The content is in a file beside this one. No file: the content exceeded the limit. */
  media?: { type: string; bytes: number; file?: string };
}

/** A file of the examples folder: the responses to one request, in order. */
export interface RecordedExample {
  operation: OperationId;
  /** `events`: whether a header requests native events. */
  request: { method: string; path: string; query: string; bodySha256: string | null; events: boolean };
  answers: RecordedResponse[];
}

/** Returns a hash of method, URL, body and `events`. Keys and other headers are not part of it. */
export function fingerprint(request: RecordedExample['request']): string {
  const { method, path, query, bodySha256, events } = request;
  return createHash('sha256')
    .update(JSON.stringify([method, path, query, bodySha256, events]))
    .digest('hex')
    .slice(0, 16);
}

/** Returns the hash of a body, independent of the order of its fields. Null without a body. */
export function hashOf(body: Json | undefined): string | null {
  if (body === undefined) return null;
  return createHash('sha256')
    .update(JSON.stringify(sortKeys(body)))
    .digest('hex');
}

function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (!isObject(value)) return value;
  const keys = Object.keys(value).toSorted();
  return Object.fromEntries(keys.map((key) => [key, sortKeys(value[key] ?? null)]));
}

/** Parses a stream into events. */
export function eventsOf(stream: string): RecordedEvent[] {
  return stream
    .split(/(?<=\n\n)/)
    .filter((block) => block.trim() !== '')
    .map((block) => {
      const { head = '', data = '' } = /^(?<head>[^]*?^data: ?)(?<data>.*)\n\n$/m.exec(block)?.groups ?? {};
      try {
        if (head !== '') return { head, data: JSON.parse(data) as Json };
      } catch {
        // The data is not JSON.
      }
      return { head: '', text: block };
    });
}

export const streamOf = (event: RecordedEvent): string =>
  'data' in event ? `${event.head}${JSON.stringify(event.data)}\n\n` : event.head + event.text;

/** Parses an example. @throws Error with the problem */
export function readExample(text: string): RecordedExample {
  const value = JSON.parse(text) as Json;
  if (!isObject(value)) throw new Error('is not a JSON object');
  const { operation, request, answers } = value;
  if (!(operationIds as readonly unknown[]).includes(operation))
    throw new Error(`operation: the contract has no ${JSON.stringify(operation)}`);
  if (!isObject(request) || typeof request.path !== 'string') throw new Error('request: is missing');
  if (!Array.isArray(answers) || answers.length === 0) throw new Error('answers: is missing or empty');
  for (const [index, response] of answers.entries())
    if (!isObject(response) || typeof response.status !== 'number' || !isObject(response.headers))
      throw new Error(`answers.${index}: needs status and headers`);
  return value as unknown as RecordedExample;
}
