import { isObject, type Json, strings, text } from '../document.ts';
import type { Difference } from './differences.ts';
import { isSunsetDate, keysOf } from './places.ts';

export interface Verdict {
  rule: string;
  change: string;
}

/**
 * Classifies a difference that `redocly diff` does not classify. Returns undefined if it breaks no client.
 *
 * @param isSent whether clients send what is described at the place
 */
export function ownVerdict(difference: Difference, isSent: boolean): Verdict | undefined {
  const { kind, property, at } = difference;
  const field = kind === 'removed' && isSent ? fieldOf.exec(at)?.[1] : undefined;
  if (field !== undefined)
    return { rule: 'field-not-accepted', change: `The field \`${field}\` is no longer accepted.` };
  if (kind === 'added' && callbackMediaType.test(at))
    return {
      rule: 'callback-media-type-added',
      change: `The gateway can send the media type \`${keysOf(at).at(-1)}\`.`,
    };
  if (property === 'default') return isSent ? changedDefault(difference) : undefined;
  return property === undefined ? undefined : judges[property]?.(difference, isSent);
}

/** Matches a field of a schema outside conditionals. */
const fieldOf = /^(?!.*\/(?:if|then|else|not)\/).*\/properties\/([^/]+)$/;

const callbackMediaType = /^#\/paths\/~1callbacks~1.*\/responses\/200\/content\/[^/]+$/;

function changedDefault({ before, after }: Difference): Verdict | undefined {
  // A new default documents the previous behavior, or another rule applies.
  if (before === undefined) return undefined;
  const now = after === undefined ? 'was removed' : `is now ${shown(after)}`;
  return { rule: 'default-changed', change: `The default was ${shown(before)} and ${now}.` };
}

type Judge = (difference: Difference, isSent: boolean) => Verdict | undefined;

/** Checks by the name of the changed field. */
const judges: Readonly<Record<string, Judge>> = {
  'x-role': ({ after }) =>
    after === undefined
      ? undefined
      : { rule: 'role-required', change: `The operation now requires the role ${shown(after)}.` },
  'x-error-family': ({ before, after }) => ({
    rule: 'error-family-changed',
    change: `The error family was ${shown(before)} and is now ${shown(after)}.`,
  }),
  'x-body-limit-mb': lowered,
  'x-text-limit-mb': lowered,
  'x-limit': (difference, isSent) => (isSent ? changedLimits(difference) : undefined),
  required: optionalHeader,
  key: renamedPathParameters,
  date: earlierSunset,
  name: ({ at, before, after }) =>
    at.startsWith('#/components/messages/')
      ? { rule: 'event-renamed', change: `The event was named ${shown(before)} and is now ${shown(after)}.` }
      : undefined,
  'x-callback-address': ({ before, after }) => ({
    rule: 'callback-address-changed',
    change: `The address of the callback was ${shown(before)} and is now ${shown(after)}.`,
  }),
  'x-callback-body': ({ after }) =>
    after === true
      ? undefined
      : { rule: 'callback-body-optional', change: 'The body of the callback became optional.' },
  'x-callback-statuses': ({ before, after }) => {
    const lost = strings(before).filter((status) => !strings(after).includes(status));
    return lost.length === 0
      ? undefined
      : {
          rule: 'callback-status-removed',
          change: `The gateway no longer expects status ${lost.join(', ')} from the callback.`,
        };
  },
};

function lowered({ property, before, after }: Difference): Verdict | undefined {
  if (typeof after !== 'number') return undefined;
  if (typeof before === 'number' && before <= after) return undefined;
  return {
    rule: 'body-limit-lowered',
    change: `${property} was ${shown(before)} and is now ${after}, so larger bodies are rejected.`,
  };
}

/** An earlier end of a deprecated place. A later one gives clients more time. */
function earlierSunset({ at, before, after }: Difference): Verdict | undefined {
  if (!isSunsetDate(at) || text(before) <= text(after)) return undefined;
  return {
    rule: 'sunset-moved-earlier',
    change: `The sunset date was ${text(before)} and is now ${text(after)}, so clients have less time to change.`,
  };
}

function optionalHeader({ at, before, after }: Difference): Verdict | undefined {
  const [, name] = /\/headers\/([^/]+)(?:\/required)?$/.exec(at) ?? [];
  if (name === undefined || before !== true || after === true) return undefined;
  return {
    rule: 'response-header-became-optional',
    change: `Response header \`${name}\` became optional.`,
  };
}

/** A path with other parameter names. The HTTP requests stay the same, but arguments of generated clients change. */
function renamedPathParameters({ at, before, after }: Difference): Verdict | undefined {
  const parameters = (path: Json | undefined) =>
    [...text(path).matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
  const now = parameters(typeof after === 'string' ? after : keysOf(at)[1]);
  const renamed = parameters(before)
    .map((name, index) => [name, now[index] ?? ''] as const)
    .filter(([name, next]) => name !== next);
  if (renamed.length === 0) return undefined;
  const names = renamed.map(([name, next]) => `\`${name}\` is now \`${next}\``).join(', ');
  return { rule: 'path-parameter-renamed', change: `Path parameter ${names}.` };
}

interface Limit {
  models: string;
  limit: string;
}

const limitsOf = (value: Json | undefined): Limit[] =>
  listOf(value).flatMap((entry) =>
    isObject(entry) ? [{ models: text(entry.models), limit: text(entry.limit) }] : [],
  );

/** A limit in words that was added or lowered. */
function changedLimits({ before, after }: Difference): Verdict | undefined {
  const same = (one: Limit) => (other: Limit) => one.models === other.models && one.limit === other.limit;
  const [old, now] = [limitsOf(before), limitsOf(after)];
  const lost = old.filter((one) => !now.some(same(one)));
  for (const limit of now.filter((one) => !old.some(same(one)))) {
    const previous = lost.find(({ models }) => models === limit.models);
    if (previous === undefined)
      return { rule: 'limit-added', change: `A limit was added${scope(limit)}: ${limit.limit}` };
    lost.splice(lost.indexOf(previous), 1);
    if (!isWider(previous.limit, limit.limit))
      return {
        rule: 'limit-changed',
        change: `The limit${scope(limit)} was "${previous.limit}" and is now "${limit.limit}"`,
      };
  }
  return undefined;
}

const scope = ({ models }: Limit) => (models === '' ? '' : ` for models \`${models}\``);

/** True if both sentences differ in numbers only, and each maximum was raised and each minimum lowered. */
function isWider(before: string, after: string): boolean {
  const numbers = /\d+(?:\.\d+)?/g;
  if (before.replace(numbers, '#') !== after.replace(numbers, '#')) return false;
  const now = after.match(numbers) ?? [];
  return [...before.matchAll(numbers)].every(({ 0: old, index }, position) => {
    const next = now[position] ?? '';
    if (old === next) return true;
    const [words = ''] = before.slice(0, index).match(/at (?:most|least)(?!.*at (?:most|least))/i) ?? [];
    if (words === '') return false;
    return words.toLowerCase() === 'at most' ? Number(next) > Number(old) : Number(next) < Number(old);
  });
}

const listOf = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

const shown = (value: Json | undefined) => (value === undefined ? 'none' : JSON.stringify(value));
