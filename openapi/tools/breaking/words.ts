import { type Json, text } from '../document.ts';
import type { Change } from './change.ts';
import type { Difference } from './differences.ts';
import { isSunsetDate, keysOf } from './places.ts';

/** Fields that only document. */
const documentation =
  /\/(description|summary|title|examples?|x-decision|x-form|x-tagGroups|tags|externalDocs|contact|license|termsOfService|\$comment)(\/|$)/;

type Words = Pick<Change, 'rule' | 'severity' | 'change'>;

/** Describes a difference that breaks no client. Undefined for one that clients cannot notice. */
export function wordsOf({ at, kind, property, before, after }: Difference, place: string): Words | undefined {
  const keys = keysOf(place);
  // A new component is described where it is used.
  if (keys[0] === 'components' && keys.length === 3 && kind !== 'modified') return undefined;
  if (at.startsWith('#/info/version')) return undefined;
  const field = property === undefined || at.endsWith(`/${property}`) ? '' : `/${property}`;
  const name = nameOf(keys);
  if (documentation.test(`${inSchemas(at)}${field}`))
    return {
      rule: 'documentation',
      severity: 'patch',
      change: `The documentation of ${ownerOf(keys)} changed.`,
    };
  if (kind !== 'modified') return { rule: kind, severity: 'minor', change: `${capital(name)} was ${kind}.` };
  if (property === 'required' && !Array.isArray(before ?? after))
    return {
      rule: 'modified',
      severity: 'minor',
      change: `${capital(nameOf(keys.at(-1) === 'required' ? keys.slice(0, -1) : keys))} became ${after === true ? 'required' : 'optional'}.`,
    };
  if (property === 'deprecated' && after === true)
    return {
      rule: 'deprecated',
      severity: 'minor',
      change: `${capital(nameOf(keys.at(-1) === 'deprecated' ? keys.slice(0, -1) : keys))} is deprecated.`,
    };
  if (isSunsetDate(at))
    return {
      rule: 'sunset-moved-later',
      severity: 'minor',
      change: `The sunset date of ${nameOf(keys.slice(0, -2))} is now ${text(after)}, was ${text(before)}.`,
    };
  const owner = nameOf(keys.at(-1) === property ? keys.slice(0, -1) : keys);
  const to = after === undefined ? 'was removed' : `is now ${short(after)}`;
  const from = before === undefined ? '' : `, was ${short(before)}`;
  return { rule: 'modified', severity: 'minor', change: `\`${property}\` of ${owner} ${to}${from}.` };
}

/** A pointer without the names of fields, which can be `title` or `description`. */
const inSchemas = (at: string) => at.replaceAll(/\/properties\/[^/]+/g, '');

/** The schema, operation or other named part that contains a place. */
function ownerOf(keys: readonly string[]): string {
  const [area = '', second = '', third = ''] = keys;
  if (area === 'paths') return methods.has(third) ? `\`${third.toUpperCase()} ${second}\`` : `\`${second}\``;
  if (area === 'components') return `\`${third}\``;
  return second === '' || area === 'info' ? 'the document' : `\`${second}\``;
}

const methods = new Set(['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace']);

const nouns: Readonly<Record<string, string>> = {
  properties: 'field',
  parameters: 'parameter',
  responses: 'response',
  content: 'media type',
  headers: 'header',
  messages: 'event',
  channels: 'channel',
  operations: 'event operation',
  callbacks: 'callback',
  schemas: 'schema',
  paths: 'path',
};

/** A place in words: field `size` of `CreateVideo`. */
function nameOf(keys: readonly string[]): string {
  const [last = '', parent = ''] = keys.toReversed();
  const owner = ownerOf(keys);
  if (keys[0] === 'paths' && keys.length === 3 && methods.has(last)) return `operation ${owner}`;
  const noun = nouns[parent];
  const name = noun === undefined ? `\`${last}\`` : `${noun} \`${last.replace(/^\w+:/, '')}\``;
  return keys.length <= (keys[0] === 'components' ? 3 : 2) ? name : `${name} of ${owner}`;
}

const capital = (text: string) => text.charAt(0).toUpperCase() + text.slice(1);

function short(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 57)}…` : text;
}
