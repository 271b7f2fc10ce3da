import { randomUUID } from 'node:crypto';
import { isObject, type Json, type JsonObject } from '../../openapi/tools/document.ts';
import { withModel } from './examples.ts';
import type { Change } from './task-kinds.ts';

/** Returns a random id in the format of an example. */
export function newId(example: string, now: number): string {
  const random = randomUUID().replaceAll('-', '');
  if (example.startsWith('asset-')) {
    const stamp = new Date(now).toISOString().replace(/\D/g, '').slice(0, 14);
    return `asset-${stamp}-${random.slice(0, 5)}`;
  }
  if (/^\d+$/.test(example)) return `${now}${Number.parseInt(random.slice(0, 6), 16) % 1000}`.padEnd(16, '0');
  const prefix = /^[a-z]+_/.exec(example)?.[0] ?? '';
  return prefix + random.slice(0, example.length - prefix.length);
}

/** Replaces fields of the example by fields of the request. */
export function withRequestFields(response: JsonObject, body: JsonObject): Json {
  const { seconds, size, ...rest } = response;
  const repeated = {
    ...rest,
    ...(seconds !== undefined && { seconds: typeof body.seconds === 'string' ? body.seconds : seconds }),
    ...(size !== undefined && { size: typeof body.size === 'string' ? body.size : size }),
  };
  return withModel(repeated, body.model);
}

/** Merges a change into an example recursively. An empty object replaces the whole object. */
export function mergeChange(response: JsonObject, change: Change): JsonObject {
  const result: JsonObject = { ...response };
  for (const [key, value] of Object.entries(change)) {
    const now = result[key];
    if (value === undefined) delete result[key];
    else if (isChange(value) && isObject(now) && Object.keys(value).length > 0)
      result[key] = mergeChange(now, value);
    else result[key] = value as Json;
  }
  return result;
}

const isChange = (value: unknown): value is Change => isObject(value);

interface TaskTimes {
  created: number;
  started: number;
  ended: number;
}

const day = 24 * 60 * 60 * 1000;
const timeFields: Readonly<Record<string, (times: TaskTimes) => number>> = Object.fromEntries([
  ...['created_at', 'submit_time', 'submitTime', 'CreateTime'].map((key) => [
    key,
    ({ created }: TaskTimes) => created,
  ]),
  ...['start_time', 'startTime', 'scheduled_time'].map((key) => [key, ({ started }: TaskTimes) => started]),
  ...['updated_at', 'completed_at', 'finish_time', 'finishTime', 'end_time', 'UpdateTime'].map((key) => [
    key,
    ({ ended }: TaskTimes) => ended,
  ]),
  ['expires_at', ({ ended }: TaskTimes) => ended + day],
]);

/** Returns a time in the format of the example. 0 and null stay. */
export function timeOf(key: string, value: Json, times: TaskTimes): Json {
  const at = timeFields[key]?.(times);
  if (at === undefined || value === 0 || value === null) return value;
  if (typeof value === 'number') return value > 1e11 ? Math.round(at) : Math.floor(at / 1000);
  if (typeof value !== 'string') return value;
  const iso = new Date(at).toISOString();
  if (value.includes(' ')) return iso.replace('T', ' ').replace('Z', '');
  return value.endsWith('Z') ? `${iso.slice(0, 19)}Z` : `${iso.slice(0, 19)}+00:00`;
}
