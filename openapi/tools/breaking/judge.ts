import type { Json } from '../document.ts';
import { type ErrorEntry, statusesOf } from '../errors.ts';
import { asHttp, schemaRules } from './as-http.ts';
import type { Contract } from './contract.ts';
import { type Difference, differences } from './differences.ts';

/** A change that can break a client of the previous contract. */
export interface BreakingChange {
  document: 'openapi' | 'asyncapi' | 'errors';
  /** A rule of `redocly diff`, or of this module. */
  rule: string;
  severity: 'major';
  /** Pointer into the bundle. For an error, its code. */
  at: string;
  /** Description of the change. */
  change: string;
}

/** Number of all differences, and the breaking changes. */
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
  const ofSchemas = ({ rule }: BreakingChange) => schemaRules.has(rule) || ownSchemaRules.has(rule);
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
  const found = verdicts.flatMap(({ rule, impact, message }) =>
    impact === 'major' ? [{ rule, change: message }] : [],
  );
  const own = found.length === 0 ? ownVerdict(difference) : undefined;
  return [...found, ...(own === undefined ? [] : [own])].map((one) => ({
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

/** Classifies a difference that `redocly diff` does not classify. */
function ownVerdict(difference: Difference): Verdict | undefined {
  const { kind, property, at } = difference;
  const field = kind === 'removed' ? fieldOf.exec(at)?.[1] : undefined;
  if (field !== undefined)
    return { rule: 'field-not-accepted', change: `The field \`${field}\` is no longer accepted.` };
  if (property === 'default' && !inResponse.test(at)) return changedDefault(difference);
  return property === undefined ? undefined : judges[property]?.(difference);
}

/** Rules of `ownVerdict` about schemas. */
const ownSchemaRules: ReadonlySet<string> = new Set(['default-changed', 'field-not-accepted']);

/** Matches a field of a schema outside conditionals. */
const fieldOf = /^(?!.*\/(?:if|then|else|not)\/).*\/properties\/([^/]+)$/;

/** Matches a place in a response, where clients do not depend on defaults. */
const inResponse = /^#\/(paths\/.*\/responses\/|components\/(responses|headers)\/)/;

function changedDefault({ before, after }: Difference): Verdict | undefined {
  // A new default documents the previous behavior, or another rule applies.
  if (before === undefined) return undefined;
  const now = after === undefined ? 'was removed' : `is now ${shown(after)}`;
  return { rule: 'default-changed', change: `The default was ${shown(before)} and ${now}.` };
}

/** Checks of extension fields of an operation. */
const judges: Readonly<Record<string, (difference: Difference) => Verdict | undefined>> = {
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
};

function lowered({ property, before, after }: Difference): Verdict | undefined {
  if (typeof after !== 'number') return undefined;
  if (typeof before === 'number' && before <= after) return undefined;
  return {
    rule: 'body-limit-lowered',
    change: `${property} was ${shown(before)} and is now ${after}, so larger bodies are rejected.`,
  };
}

const shown = (value: Json | undefined) => (value === undefined ? 'none' : JSON.stringify(value));

/** Removed error codes, and codes with fewer statuses or families. */
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
    if (now === undefined) return [broken('error-code-removed', `The error code ${code} was removed.`)];
    const lost = (had: Set<unknown>, has: Set<unknown>) => [...had.difference(has)].join(', ');
    const [status, family] = [lost(statuses, now.statuses), lost(families, now.families)];
    return [
      ...(status === '' ? [] : [broken('error-status-removed', `${code} no longer has status ${status}.`)]),
      ...(family === ''
        ? []
        : [broken('error-family-removed', `${code} no longer occurs in family ${family}.`)]),
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
