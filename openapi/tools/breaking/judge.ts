import type { Json } from '../document.ts';
import { type ErrorEntry, statusesOf } from '../errors.ts';
import { asHttp, schemaRules } from './as-http.ts';
import type { Contract } from './contract.ts';
import { type Difference, differences } from './differences.ts';

/** A change that a client of the contract before it may fail over. */
export interface BreakingChange {
  document: 'openapi' | 'asyncapi' | 'errors';
  /** The rule that says so: one of `redocly diff`, or of those below. */
  rule: string;
  severity: 'major';
  /** Pointer into the bundle; of an error, its code. */
  at: string;
  /** What has changed, in words. */
  change: string;
}

/** How much differs, breaking or not, and what of it breaks. */
export interface Judgement {
  differences: number;
  breaking: BreakingChange[];
}

export async function judge(base: Contract, next: Contract): Promise<Judgement> {
  const [http, events, payloads] = await Promise.all([
    differences(base.openapi, next.openapi),
    differences(base.asyncapi, next.asyncapi),
    differences(asHttp(base.asyncapi), asHttp(next.asyncapi)),
  ]);
  const ofSchemas = ({ rule }: BreakingChange) => schemaRules.has(rule) || ourSchemaRules.has(rule);
  const breaking = [
    ...http.flatMap((one) => breakingIn('openapi', one)),
    ...events.flatMap((one) => breakingIn('asyncapi', one)).filter((one) => !ofSchemas(one)),
    ...payloads.flatMap((one) => breakingIn('asyncapi', one)).filter(ofSchemas),
    ...brokenErrors(base.errors, next.errors),
  ];
  return { differences: http.length + events.length, breaking };
}

function breakingIn(document: 'openapi' | 'asyncapi', difference: Difference): BreakingChange[] {
  const { at, verdicts } = difference;
  const found = verdicts.flatMap(({ rule, impact, words }) =>
    impact === 'major' ? [{ rule, change: words }] : [],
  );
  const ours = found.length === 0 ? ourVerdict(difference) : undefined;
  return [...found, ...(ours === undefined ? [] : [ours])].map((one) => ({
    document,
    severity: 'major',
    at,
    ...one,
  }));
}

interface Verdict {
  rule: string;
  change: string;
}

/** What `redocly diff` finds and does not judge. */
function ourVerdict(difference: Difference): Verdict | undefined {
  const { kind, property, at } = difference;
  const field = kind === 'removed' ? fieldOf.exec(at)?.[1] : undefined;
  if (field !== undefined)
    return { rule: 'field-not-taken', change: `The field \`${field}\` is not taken any more.` };
  if (property === 'default' && !ofAnswers.test(at)) return changedDefault(difference);
  return property === undefined ? undefined : judges[property]?.(difference);
}

/** What `ourVerdict` says of schemas. */
const ourSchemaRules: ReadonlySet<string> = new Set(['default-changed', 'field-not-taken']);

/** A field of a schema, unless the schema is a condition. */
const fieldOf = /^(?!.*\/(?:if|then|else|not)\/).*\/properties\/([^/]+)$/;

/** A default of an answer says nothing that a client depends on. */
const ofAnswers = /^#\/(paths\/.*\/responses\/|components\/(responses|headers)\/)/;

function changedDefault({ before, after }: Difference): Verdict | undefined {
  // What is said for the first time was so before, or is a rule of its own.
  if (before === undefined) return undefined;
  const now = after === undefined ? 'has none any more' : `is ${shown(after)} now`;
  return { rule: 'default-changed', change: `The default was ${shown(before)} and ${now}.` };
}

/** Our own fields of an operation, by their names. */
const judges: Readonly<Record<string, (difference: Difference) => Verdict | undefined>> = {
  'x-role': ({ after }) =>
    after === undefined
      ? undefined
      : { rule: 'role-required', change: `It is for keys of the role ${shown(after)} alone now.` },
  'x-error-family': ({ before, after }) => ({
    rule: 'error-family-changed',
    change: `Its errors had the shape of family ${shown(before)} and have that of ${shown(after)} now.`,
  }),
  'x-body-limit-mb': lowered,
  'x-text-limit-mb': lowered,
};

function lowered({ property, before, after }: Difference): Verdict | undefined {
  if (typeof after !== 'number') return undefined;
  if (typeof before === 'number' && before <= after) return undefined;
  return {
    rule: 'body-limit-lowered',
    change: `${property} was ${shown(before)} and is ${after} now: longer bodies are refused.`,
  };
}

const shown = (value: Json | undefined) => (value === undefined ? 'none' : JSON.stringify(value));

/** Clients look at codes: one that is told no more, or with another status or in another family. */
function brokenErrors(
  base: readonly ErrorEntry[] | undefined,
  next: readonly ErrorEntry[] | undefined,
): BreakingChange[] {
  if (base === undefined || next === undefined) return [];
  const before = byCode(base);
  const after = byCode(next);
  return [...before].flatMap(([code, { statuses, families }]) => {
    const now = after.get(code);
    const broken = (rule: string, change: string): BreakingChange => {
      return { document: 'errors', severity: 'major', at: code, rule, change };
    };
    if (now === undefined) return [broken('error-code-removed', `The error code ${code} is told no more.`)];
    const lost = (had: Set<unknown>, has: Set<unknown>) => [...had.difference(has)].join(', ');
    const [status, family] = [lost(statuses, now.statuses), lost(families, now.families)];
    return [
      ...(status === '' ? [] : [broken('error-status-removed', `${code} has no status ${status} any more.`)]),
      ...(family === ''
        ? []
        : [broken('error-family-removed', `${code} is not told in the family ${family} any more.`)]),
    ];
  });
}

function byCode(entries: readonly ErrorEntry[]) {
  const codes = new Map<string, { statuses: Set<number>; families: Set<string> }>();
  for (const entry of entries) {
    const known = codes.getOrInsertComputed(entry.code, () => ({ statuses: new Set(), families: new Set() }));
    for (const status of statusesOf(entry)) known.statuses.add(status);
    for (const family of entry.families) known.families.add(family);
  }
  return codes;
}
