import { isDeepStrictEqual } from 'node:util';
import { isObject, type JsonObject, operationsOf, strings, text } from '../document.ts';
import { asHttp, isInSchema, messagePointer } from './as-http.ts';
import { callbackAt, callbackNames, callbacksAsPaths } from './callbacks.ts';
import type { Change } from './change.ts';
import type { Contract } from './contract.ts';
import { type Difference, differences } from './differences.ts';
import { errorChanges } from './error-changes.ts';
import { ownVerdict } from './own-rules.ts';
import { escaped, eventPlaces, httpPlaces, keysOf, namedPointer, type Places, streamsOf } from './places.ts';
import { type Sunset, sunsetOf } from './sunsets.ts';
import { withoutUnchanged } from './unchanged.ts';
import { wordsOf } from './words.ts';

/** Number of all differences, and each change once. */
export interface Judgement {
  differences: number;
  changes: Change[];
}

/** Two documents in a form that `redocly diff` compares. */
interface Part {
  document: 'openapi' | 'asyncapi';
  base: JsonObject;
  next: JsonObject;
  /** Places in the old and the new document. */
  places: readonly Places[];
  /** Converts a pointer of the compared documents to one of the bundle. */
  pointer: (at: string) => string;
  /** Excludes the places that another part compares. */
  includes: (at: string) => boolean;
}

/** Compares two contracts. `now` is epoch milliseconds: a deprecated place may be removed after its sunset date. */
export async function judge(base: Contract, next: Contract, now = Date.now()): Promise<Judgement> {
  const parts = [httpPart(base, next), ...eventParts(base, next)];
  const found = await Promise.all(
    parts.map(async (part) =>
      isDeepStrictEqual(part.base, part.next) ? [] : differences(...withoutUnchanged(part.base, part.next)),
    ),
  );
  const inFamilies = (families: ReadonlySet<string>) =>
    [base, next]
      .flatMap(({ openapi }) => operationsOf(openapi))
      .filter(({ node, aliasOf }) => aliasOf === undefined && families.has(text(node['x-error-family'])))
      .map(({ id }) => id);
  return {
    differences: (found[0]?.length ?? 0) + (found[1]?.length ?? 0),
    changes: once([
      ...parts.flatMap((part, index) => changesOf(part, found[index] ?? [], now)),
      ...errorChanges(base.errors, next.errors, (families) => distinct(inFamilies(families))),
    ]),
  };
}

function httpPart(base: Contract, next: Contract): Part {
  const documents = [base.openapi, next.openapi];
  const [before = {}, after = {}] = documents.map(callbacksAsPaths);
  const originals = new Map(documents.flatMap((document) => [...originalPaths(document)]));
  const nameOf = callbackNames(documents);
  return {
    document: 'openapi',
    base: before,
    next: after,
    places: [httpPlaces(before), httpPlaces(after)],
    pointer(at) {
      const callback = callbackAt(at);
      if (callback !== undefined)
        return `#/callbacks/${nameOf(callback.operation, callback.name)}${callback.place}`;
      const [area, path = '', ...rest] = keysOf(at);
      const original = area === 'paths' ? originals.get(path) : undefined;
      // A copy is added or removed on its own if its original is in both documents.
      const isOwn =
        original !== undefined &&
        rest.length < 2 &&
        documents.every(({ paths }) => isObject(paths) && original in paths);
      if (original === undefined || isOwn) return at;
      return at.replace(/^#\/paths\/[^/]+/, `#/paths/${escaped(original)}`);
    },
    includes: () => true,
  };
}

/** Copied paths, with the path of the original. */
function originalPaths(openapi: JsonObject): [string, string][] {
  const operations = operationsOf(openapi);
  const pathOf = new Map(operations.map(({ id, path }) => [id, path]));
  return operations.flatMap(({ path, aliasOf }) => {
    const original = pathOf.get(aliasOf ?? '');
    return original === undefined ? [] : [[path, original]];
  });
}

function eventParts(base: Contract, next: Contract): Part[] {
  const documents = [base, next] as const;
  const places = documents.map((contract) => eventPlaces(contract.asyncapi, streamsOf(contract.openapi)));
  const of = { document: 'asyncapi', places } as const;
  return [
    {
      ...of,
      base: base.asyncapi,
      next: next.asyncapi,
      pointer: (at) => at,
      includes: (at) => !isInSchema(at),
    },
    {
      ...of,
      base: asHttp(base.asyncapi),
      next: asHttp(next.asyncapi),
      pointer: messagePointer,
      includes: (at) => isInSchema(messagePointer(at)),
    },
  ];
}

function changesOf(part: Part, found: readonly Difference[], now: number): Change[] {
  const { document, places, pointer } = part;
  const removed = new Set(found.filter(({ kind }) => kind === 'removed').map(({ at }) => at));
  const required = new Set(found.flatMap(newlyRequired));
  return found.flatMap((difference): Change[] => {
    const { at, kind } = difference;
    if (!part.includes(at)) return [];
    const place = document === 'openapi' ? at : pointer(at);
    const where = pointer(namedPointer(kind === 'removed' ? part.base : part.next, at));
    const operations = distinct(places.flatMap((one) => one.operations(place)));
    const isSent = places.some((one) => one.isSent(place)) || /\/requestBody\//.test(at);
    const breaking = breakingWords(difference, removed, isSent);
    const sunset = kind === 'removed' ? sunsetOf(part.base, at, now) : undefined;
    const isJudged = breaking.length > 0 || difference.verdicts.some(({ impact }) => impact === 'major');
    const other = isJudged || required.has(at) ? undefined : wordsOf(difference, where);
    return [
      ...breaking.map(({ rule, change }) => ({
        rule,
        change: `${wordsIn(where, change)}${earlyRemoval(sunset)}`,
        severity: 'major' as const,
        ...(sunset !== undefined && { sunset }),
      })),
      ...(other === undefined ? [] : [other]),
    ].map((one) => ({ document, at: where, operations, ...one }));
  });
}

const earlyRemoval = (sunset: Sunset | undefined) =>
  sunset === undefined || sunset.isOver ? '' : ` It may be removed after its sunset date ${sunset.date}.`;

type Verdict = Pick<Change, 'rule' | 'change'>;

function breakingWords(difference: Difference, removed: ReadonlySet<string>, isSent: boolean): Verdict[] {
  const major = difference.verdicts.filter(({ impact }) => impact === 'major');
  if (major.length === 0) {
    const own = ownVerdict(difference, isSent);
    return own === undefined ? [] : [own];
  }
  return major.flatMap(({ rule, message }): Verdict[] => {
    if (rule !== 'required-properties-removed') return [{ rule, change: message }];
    // A removed field is reported itself.
    const parent = difference.at.replace(/\/required$/, '');
    const lost = minus(difference.before, difference.after);
    const kept = lost.filter((name) => !removed.has(`${parent}/properties/${escaped(name)}`));
    if (kept.length === lost.length) return [{ rule, change: message }];
    const names = kept.map((name) => `\`${name}\``).join(', ');
    return kept.length === 0 ? [] : [{ rule, change: message.replace(/: .*$/, `: ${names}.`) }];
  });
}

/** Places of fields that became required. Their addition is not reported separately. */
function newlyRequired({ at, verdicts, before, after }: Difference): string[] {
  if (verdicts.every(({ rule }) => rule !== 'required-properties-added')) return [];
  const parent = at.replace(/\/required$/, '');
  return minus(after, before).map((name) => `${parent}/properties/${escaped(name)}`);
}

const minus = (one: Difference['before'], other: Difference['before']) =>
  strings(one).filter((name) => !strings(other).includes(name));

/** Adds the name of a removed alternative. Messages about a callback name a response, because it was compared as one. */
function wordsIn(where: string, message: string): string {
  const [area, name, ...rest] = keysOf(where);
  const [alternative, combinator] = rest.toReversed();
  const change = message.replace(
    `\`${combinator}\` subschema of`,
    `\`${combinator}\` subschema \`${alternative}\` of`,
  );
  if (area !== 'callbacks') return change;
  return change
    .replace(/^(Path|Operation) `.*` was removed\.$/, `The callback \`${name}\` was removed.`)
    .replace('Response header', 'Header')
    .replace('of response `200`', `of the callback \`${name}\``);
}

/** Merges the descriptions of one change: at copies of a path, in both documents, and in both directions. */
function once(changes: readonly Change[]): Change[] {
  const merged = new Map<string, Change>();
  const broken = new Set(changes.filter(({ severity }) => severity === 'major').map(({ at }) => at));
  for (const change of changes) {
    if (change.severity !== 'major' && broken.has(change.at)) continue;
    const documented = change.rule === 'documentation';
    const key = `${change.rule} ${documented ? change.change : change.at}`;
    const known = merged.get(key);
    const operations = distinct([...(known?.operations ?? []), ...change.operations]);
    merged.set(key, { ...(known ?? change), operations });
  }
  return [...merged.values()];
}

const distinct = (names: readonly string[]) => [...new Set(names)].sort();
